#define _GNU_SOURCE
#include "CHeap.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>

// A sanitizer brings a heap of its own.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

// glibc's own, under the names it keeps for those who replace the others.
void *__libc_malloc(size_t size);
void __libc_free(void *block);

// The threads hardly ever allocate at once, and each heap of its own would keep its pages. Before main, since a thread
// that has allocated keeps the heap it has.
__attribute__((constructor)) static void use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

// A program that is linked with the static glibc has glibc's own under these names, in one piece with malloc: there ours
// step back, and the linker sends every call to the second names (--wrap in Package.swift).
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
__attribute__((weak)) void free(void *block) { __wrap_free(block); }
__attribute__((weak)) void *realloc(void *block, size_t size) { return __wrap_realloc(block, size); }

void __wrap_free(void *block) {
  if (block == NULL) return;
  // free(3) leaves errno alone, and so does explicit_bzero(3).
  explicit_bzero(block, malloc_usable_size(block));
  __libc_free(block);
}

// glibc's would free the old block by itself, unwiped.
void *__wrap_realloc(void *block, size_t size) {
  if (block == NULL) return __libc_malloc(size);
  if (size == 0) {
    __wrap_free(block);
    return NULL;
  }
  size_t room = malloc_usable_size(block);
  if (size <= room && size >= room / 2) return block;
  void *moved = __libc_malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, block, size < room ? size : room);
  __wrap_free(block);
  return moved;
}

#endif
