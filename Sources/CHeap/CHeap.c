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

void free(void *block) {
  if (block == NULL) return;
  // free(3) leaves errno alone, and so does explicit_bzero(3).
  explicit_bzero(block, malloc_usable_size(block));
  __libc_free(block);
}

// glibc's would free the old block by itself, unwiped.
void *realloc(void *block, size_t size) {
  if (block == NULL) return __libc_malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  size_t room = malloc_usable_size(block);
  if (size <= room && size >= room / 2) return block;
  void *moved = __libc_malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, block, size < room ? size : room);
  free(block);
  return moved;
}

#endif
