/* A file system such as FAT: no hard links, and no files without a name. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static int refuse(void) {
  errno = EPERM;
  return -1;
}

int link(const char *from, const char *to) {
  (void)from, (void)to;
  return refuse();
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  (void)from_folder, (void)from, (void)to_folder, (void)to, (void)flags;
  return refuse();
}
