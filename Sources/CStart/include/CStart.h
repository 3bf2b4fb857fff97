// What Swift's runtime and the C library do before main, cut to what a program needs that is started for every token:
// linked into a program, this module stands in for parts of them. It has nothing to call.
#ifndef CSTART_H
#define CSTART_H
#endif
