// What Swift's Glibc module does not import from Linux, as small functions. Each returns what the call returns,
// -1 with errno set on failure, unless it says otherwise.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>
// Whole: epoll(7), eventfd(2) and timerfd_create(2) are needed as they are.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

#include "clinux_confine.h"
#include "clinux_limits.h"
#include "clinux_start.h"

/// SO_PEERCRED: uid, gid and pid of the process that connected to (or listens on) a Unix socket.
int clinux_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC: the next connection waiting at a listening socket.
int clinux_accept(int fd);

/// PR_SET_DUMPABLE 0 and RLIMIT_CORE 0: no core file, no ptrace or /proc/PID/mem by the same user.
int clinux_make_undumpable(void);

/// PR_SET_DUMPABLE 0, and a limit for cores that programs started from here keep: none of them leaves a core, neither as a
/// file nor with a program that collects them. They are dumpable themselves, as every program is after execve(2).
void clinux_forbid_cores(void);

/// PR_SET_PDEATHSIG: this process gets `signal` when the thread that started it ends.
int clinux_die_with_parent(int signal);

/// PR_SET_NAME: how the calling thread shows in top(1) and /proc, 15 bytes at most.
int clinux_name_thread(const char *name);

/// memfd_create with MFD_CLOEXEC when `close_on_exec` is not 0.
int clinux_memfd_create(const char *name, int close_on_exec);

/// From now on nobody changes what a file of memfd_create holds.
int clinux_seal(int fd);

/// O_TMPFILE: a new file of mode 0600 in `folder`, for writing, that has no name and is gone when it is closed without
/// being given one. -1 where the file system, or the system without /proc, cannot name it later.
int clinux_open_unnamed(const char *folder);

/// Renames `from` to `to` where nothing is called `to` yet. -1 with EEXIST where something is.
int clinux_rename_new(const char *from, const char *to);

/// Takes an exclusive open-file-description lock on the whole file without waiting. 0, or -1 with EAGAIN when held.
int clinux_try_lock_exclusive(int fd);

/// Whether somebody else holds a lock on a part of the file: 1, 0, or -1 with errno. Nothing is locked.
int clinux_is_locked(int fd);

/// Gives such a lock up, also for processes that inherited the description.
int clinux_unlock(int fd);

/// Closes every descriptor from `first` up.
int clinux_close_from(int first);

/// Writes where the file system that holds `path` is mounted into `found`, by what the mounts of `table` (/proc/self/mounts)
/// are called: no file system is asked, and no link followed. 0: it is the one at "/", or its name has `size` bytes or more.
/// What only mounts others when they are asked for (autofs) counts as what it is on. -1: the table cannot be read.
int clinux_mount_point(const char *table, const char *path, char *found, size_t size);

/// Opens a folder to reach what is in it, whether it may be listed or not (O_PATH). A descriptor, or -1 with errno.
int clinux_open_folder(const char *path);

/// statfs's f_type, or -1: tells network file systems.
long clinux_filesystem_type(const char *path);

/// Whether an access control list (acl(5)) stands behind the rights of what has this path: 1, or 0.
int clinux_has_access_list(const char *path);

/// Gives the file `to` the access control list of `from`, and none where that has none. 0, or -1 where it cannot be read or given. The
/// mode of `to` is to be set afterwards.
int clinux_copy_access_list(int from, int to);

/// Whether something keeps the wall clock right (adjtimex(2)): 1, 0, or -1 when the kernel does not tell.
int clinux_clock_is_synchronized(void);

/// Takes the heap's free pages out of this process, those of the calling thread's stack that are not in use, and those of the
/// program and its libraries that cannot be written to: these stay in the page cache, and what is used comes back by itself.
void clinux_give_back_idle_pages(void);

#endif
