#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <mntent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

// Descriptors 0 to 2 are there before anything else is opened, in every program: what is printed, and what a child takes
// for its standard output, must not land in a vault, a socket or an event counter because that was closed.
__attribute__((constructor)) static void open_standard_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    // The lowest free number is the missing one. For reading only: what is written must fail, not vanish.
    if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);
  }
}

int clinux_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  *uid = credentials.uid;
  *gid = credentials.gid;
  *pid = credentials.pid;
  return 0;
}

int clinux_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int clinux_make_undumpable(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void clinux_forbid_cores(void) {
  struct rlimit limit;
  // A limit of one byte is less than any core, and the only one that also keeps the kernel from handing the core to a
  // program (core(5)): 0 would not.
  const rlim_t bytes = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 ? 0 : 1;
  limit.rlim_cur = limit.rlim_max = bytes;
  setrlimit(RLIMIT_CORE, &limit);
  if (bytes == 0) {
    // No memory stands in such a core then. Whoever is started inherits that, and is dumpable again.
    int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (filter >= 0) {
      (void)!write(filter, "0", 1);
      close(filter);
    }
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int clinux_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }

int clinux_memfd_create(const char *name, int close_on_exec) {
  return memfd_create(name, MFD_ALLOW_SEALING | (close_on_exec ? MFD_CLOEXEC : 0));
}

int clinux_seal(int fd) {
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int clinux_open_unnamed(const char *folder) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  // The umask may have taken rights from its owner.
  if (fd >= 0) (void)fchmod(fd, 0600);
  return fd;
}

int clinux_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int clinux_try_lock_exclusive(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &whole);
}

int clinux_is_locked(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_GETLK, &whole) != 0) return -1;
  return whole.l_type != F_UNLCK;
}

int clinux_unlock(int fd) {
  struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &whole);
}

int clinux_close_from(int first) { return close_range((unsigned)first, ~0U, 0); }

int clinux_open_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int clinux_copy_access_list(int from, int to) {
  static const char name[] = "system.posix_acl_access";
  char list[16 << 10];
  ssize_t size = fgetxattr(from, name, list, sizeof list);
  if (size >= 0) return fsetxattr(to, name, list, (size_t)size, 0);
  if (errno != ENODATA && errno != EOPNOTSUPP) return -1;
  // One that came with the folder.
  return fremovexattr(to, name) == 0 || errno == ENODATA || errno == EOPNOTSUPP ? 0 : -1;
}

long clinux_filesystem_type(const char *path) {
  struct statfs status;
  if (statfs(path, &status) != 0) return -1;
  return (long)status.f_type;
}

int clinux_mount_point(const char *table, const char *path, char *found, size_t size) {
  FILE *mounts = setmntent(table, "re");
  if (mounts == NULL) return -1;
  struct mntent mount;
  // Options of overlay file systems name their layers. A longer line loses its end, which is nothing that is asked for.
  char line[8192];
  size_t longest = 0;
  while (getmntent_r(mounts, &mount, line, sizeof line) != NULL) {
    const size_t length = strlen(mount.mnt_dir);
    if (length <= 1 || length < longest || length >= size || strcmp(mount.mnt_type, "autofs") == 0) continue;
    if (strncmp(path, mount.mnt_dir, length) != 0 || (path[length] != '/' && path[length] != 0)) continue;
    longest = length;
    memcpy(found, mount.mnt_dir, length + 1);
  }
  endmntent(mounts);
  return longest > 0;
}

int clinux_has_access_list(const char *path) { return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0; }

int clinux_clock_is_synchronized(void) {
  struct timex state = {0};
  int result = adjtimex(&state);
  if (result < 0) return -1;
  return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

static int give_back(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    // What may be written to holds what was written.
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    const uintptr_t begin = (object->dlpi_addr + part->p_vaddr + page - 1) / page * page;
    const uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) / page * page;
    if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  return 0;
}

// What deeper calls have left below the stack's end: 90 KB of it once Swift's runtime has built the types that a request
// to a server needs, and it is not wiped as the heap is.
static void give_back_stack(void) {
  // The first thread's stack grows into addresses that may be another's until then.
  if (gettid() == getpid()) return;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void *lowest = NULL;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    // A page is left for this function's own calls, and the 128 bytes that code may use below the stack's end.
    const uintptr_t end = (uintptr_t)__builtin_frame_address(0) / page * page - page;
    if (end > (uintptr_t)lowest) madvise(lowest, end - (uintptr_t)lowest, MADV_DONTNEED);
  }
  pthread_attr_destroy(&attributes);
}

void clinux_give_back_idle_pages(void) {
  malloc_trim(0);
  give_back_stack();
  dl_iterate_phdr(give_back, NULL);
}
