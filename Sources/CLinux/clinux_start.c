#define _GNU_SOURCE
#include "clinux_start.h"

#include "clinux_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char **clinux_environment(void) { return environ; }

int clinux_open_process(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_signal_process(int process, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0);
}

// Only what signal-safety(7) allows runs between fork and execve: the caller may have threads.

static void write_own_pid(char *entry) {
  char digits[20];
  int count = 0;
  long pid = (long)getpid();
  do {
    digits[count++] = (char)('0' + pid % 10);
    pid /= 10;
  } while (pid > 0);
  char *at = entry + strlen("LISTEN_PID=");
  while (count > 0) *at++ = digits[--count];
  *at = '\0';
}

static void reset_signals(void) {
  // The kernel's own call: libc's refuses the two signals of its threads, which a caller may have ignored, too. All zero
  // is SIG_DFL, whatever order the fields of this machine's struct have. SIGKILL and SIGSTOP refuse; that is right.
  const unsigned long usual[8] = {0};
  for (int number = 1; number < 65; number++) syscall(SYS_rt_sigaction, number, usual, NULL, 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

enum { LISTENER = 3, REPORT = 4 };

static int become(const char *path, char *const *arguments, char *const *environment, int listener, int *report) {
  // Before a descriptor is needed.
  clinux_raise_limits();
  clinux_take_usual_place();
  // Both are moved out of the way first: either may stand where the other has to go.
  int kept_report = fcntl(*report, F_DUPFD_CLOEXEC, 16);
  if (kept_report < 0) return -1;
  *report = kept_report;
  int kept_listener = fcntl(listener, F_DUPFD_CLOEXEC, 16);
  if (kept_listener < 0) return -1;
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return -1;
  for (int stream = 0; stream < 3; stream++) {
    // dup2 of a descriptor onto itself would leave it to be closed by execve.
    if (null == stream ? fcntl(null, F_SETFD, 0) < 0 : dup2(null, stream) < 0) return -1;
  }
  if (dup2(kept_listener, LISTENER) < 0) return -1;
  if (dup3(kept_report, REPORT, O_CLOEXEC) < 0) return -1;
  *report = REPORT;
  if (close_range(REPORT + 1, ~0U, 0) < 0) return -1;
  if (chdir("/") < 0) return -1;
  umask(077);
  reset_signals();
  write_own_pid(environment[0]);
  execve(path, arguments, environment);
  return -1;
}

int clinux_start_agent(const char *path, char *const *arguments, char *const *environment, int listener) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return -1;
  pid_t between = fork();
  if (between < 0) {
    int error = errno;
    close(pipes[0]);
    close(pipes[1]);
    errno = error;
    return -1;
  }
  if (between == 0) {
    int report = pipes[1];
    // The second fork leaves the agent without a controlling terminal for ever, and to init.
    pid_t agent = setsid() < 0 ? -1 : fork();
    if (agent == 0) become(path, arguments, environment, listener, &report);
    if (agent <= 0) {
      int error = errno;
      if (write(report, &error, sizeof error) < 0) _exit(1);
    }
    _exit(0);
  }
  close(pipes[1]);
  while (waitpid(between, NULL, 0) < 0 && errno == EINTR) continue;
  // execve closes the other end; an error arrives whole, being shorter than PIPE_BUF.
  int error = 0;
  ssize_t count;
  while ((count = read(pipes[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
  close(pipes[0]);
  if (count == 0) return 0;
  errno = count == (ssize_t)sizeof error ? error : EIO;
  return -1;
}

int clinux_start_helper(const char *path, int input, int output, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  posix_spawnattr_init(&attributes);
  sigset_t every, none;
  sigfillset(&every);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &every);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // Before the open, which then finds a descriptor however few there may be.
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO);
  if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_RDWR, 0);
  if (error == 0) error = posix_spawn_file_actions_addchdir_np(&actions, "/");
  char *arguments[] = {(char *)path, NULL}, *environment[] = {NULL};
  if (error == 0) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}
