// What the agent's programs take away from themselves before anything of a network reaches them.
#ifndef CLINUX_CONFINE_H
#define CLINUX_CONFINE_H

#include <stddef.h>

/// The version of Landlock that the kernel offers (landlock(7)); 0: none.
int clinux_landlock_version(void);

/// Takes from this process, for ever: to gain privileges, to start a process, to look into or signal another one, to write
/// files, and, where the kernel has Landlock, to read any but those that TLS and name resolution need and the `count` files
/// and folders in `more`. Sockets are IPv4, IPv6 and, for the machine's own addresses, netlink; `with_unix_sockets`
/// leaves those too. To be called while there is one thread.
///
/// Returns the version of Landlock that is in effect, 0 where there is none, or -1 with errno: then nothing may be done
/// with what a network sends.
int clinux_confine(const char *const *more, size_t count, int with_unix_sockets);

/// For a program that answers on a listening socket it was given: as clinux_confine, but no socket can be had beside those
/// accepted there, nothing can be connected to, no thread started, and no file read but /dev/null and the processors.
int clinux_confine_to_answers(void);

/// Takes from this process and all that it starts, for ever: to gain privileges, and, where the kernel has Landlock, to change
/// anything in the file system but what is in these `count` folders, and to look into processes. To be called while there
/// is one thread.
///
/// Returns the version of Landlock that is in effect, 0 where there is none, or -1 with errno.
int clinux_fence_writes(const char *const *folders, size_t count);

#endif
