// Starting the agent from its client, detached, with a listening socket handed over (sd_listen_fds(3)).
#ifndef CLINUX_START_H
#define CLINUX_START_H

#include <sys/types.h>

/// Starts `path` in a session of its own: working directory /, umask 077, standard streams on /dev/null, `listener` as
/// descriptor 3, every other descriptor closed, no signal blocked or ignored, limits raised and the usual place among
/// programs taken (clinux_limits.h).
///
/// `environment` is a NULL-terminated list; in its first entry, which must begin with "LISTEN_PID=" and have room for 24
/// bytes, the new process writes its own id. Returns 0 once the program runs, else -1 with errno of the step that failed.
/// The program is no child of the caller: nobody has to wait for it.
int clinux_start_agent(const char *path, char *const *arguments, char *const *environment, int listener);

/// Starts `path` as a child of the calling thread's process: no arguments, no environment, working directory /, `input` and
/// `output` as its standard streams, standard error on /dev/null, every other descriptor closed, no signal blocked or
/// ignored. Needs no descriptor of its own. 0 once the program runs, with its id in `pid`; else the errno.
int clinux_start_helper(const char *path, int input, int output, pid_t *pid);

/// pidfd_open: a process by a descriptor, closed on exec, that is readable once the process has ended.
int clinux_open_process(pid_t pid);

/// pidfd_send_signal.
int clinux_signal_process(int process, int signal);

/// The environment of this process.
char **clinux_environment(void);

#endif
