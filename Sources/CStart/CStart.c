#include "CStart.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

// Only where the runtime is part of the program: the release build of a static one, whose linker is told of the names
// below that begin with __wrap_ (Package.swift).
#ifdef CSTART_STATIC

// The runtime finds the arguments through /proc/self/maps. glibc hands them to every constructor.
static char **arguments;
static int argument_count;

__attribute__((constructor)) static void keep_arguments(int count, char **list) {
  argument_count = count;
  arguments = list;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  *count = argument_count;
  return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **list, int count) {
  argument_count = count;
  arguments = list;
}

// The runtime looks in eight places for a program that prints the memory of this one when it crashes. There is none, and
// there is not to be one: that memory holds a token.
char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name) {
  (void)name;
  return NULL;
}

// Nor may the environment name one. The runtime reads this variable in a constructor, and this one is called before it.
__attribute__((constructor(101))) static void print_no_memory(void) {
  unsetenv("SWIFT_BACKTRACE");
}

// libdispatch, which is linked and not used, asks twice how many processors there are, and glibc reads a file each time.
long __real_sysconf(int name);
long __wrap_sysconf(int name) {
  return name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN ? 1 : __real_sysconf(name);
}

#endif
