// A heap that wipes: linked into a program, this module replaces free(3) and realloc(3) for all of it, libraries
// included, so that no freed block keeps what was in it, and gives all threads one heap. It has nothing to call.
//
// M_PERTURB does not do this: glibc puts blocks of up to 1,032 bytes aside before it would overwrite them.
#ifndef CHEAP_H
#define CHEAP_H
#endif
