#define _GNU_SOURCE
#include "clinux_limits.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned long long MiB = 1 << 20;

// Enough to start, to log in and to refresh; what a large vault needs beyond that is an error where it is missing.
static const struct {
  int resource;
  struct clinux_limit limit;
} limits[] = {
    {RLIMIT_CPU, {"-t", "seconds of processor time", 30, 0}},
    {RLIMIT_FSIZE, {"-f", "bytes in a file", 16 * MiB, 0}},
    {RLIMIT_AS, {"-v", "bytes of address space", 1024 * MiB, 0}},
    {RLIMIT_DATA, {"-d", "bytes of memory", 512 * MiB, 0}},
    {RLIMIT_STACK, {"-s", "bytes of stack", 1 * MiB, 0}},
    {RLIMIT_NOFILE, {"-n", "open files", 128, 0}},
};

struct clinux_limit clinux_low_limit(int *number) {
  while (*number < (int)(sizeof limits / sizeof *limits)) {
    struct clinux_limit found = limits[*number].limit;
    struct rlimit now;
    const int looked = getrlimit(limits[*number].resource, &now);
    *number += 1;
    if (looked != 0 || now.rlim_max >= found.least) continue;
    found.hard = now.rlim_max;
    return found;
  }
  return (struct clinux_limit){NULL, NULL, 0, 0};
}

// What `resource` is to be, of at most `hard`.
static rlim_t wanted(int resource, const struct rlimit *now) {
  const rlim_t hard = now->rlim_max;
  switch (resource) {
    case RLIMIT_CORE: return now->rlim_cur;
    // An agent that was started in order raises it further; most programs do not expect more.
    case RLIMIT_NOFILE: return now->rlim_cur > 1024 ? now->rlim_cur : hard < 1024 ? hard : 1024;
    // Without end it would change where the kernel puts everything else.
    case RLIMIT_STACK: return hard < 8 * MiB ? hard : 8 * MiB;
    case RLIMIT_CPU: return hard == RLIM_INFINITY ? hard : hard > 20 ? hard - 10 : (hard + 1) / 2;
    default: return hard;
  }
}

void clinux_raise_limits(void) {
  for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = wanted(resource, &limit);
    setrlimit(resource, &limit);
  }
}

void clinux_take_usual_place(void) {
  const struct sched_param usual = {.sched_priority = 0};
  sched_setscheduler(0, SCHED_OTHER, &usual);
  setpriority(PRIO_PROCESS, 0, 0);
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
  // IOPRIO_WHO_PROCESS, of no class: as the niceness says.
  syscall(SYS_ioprio_set, 1, 0, 0);
}

static void end_in_order(int number) {
  (void)number;
  const int error = errno;
  kill(getpid(), SIGTERM);
  errno = error;
}

void clinux_survive_limits(void) {
  signal(SIGXFSZ, SIG_IGN);
  struct sigaction ending = {.sa_handler = end_in_order, .sa_flags = SA_RESTART};
  sigaction(SIGXCPU, &ending, NULL);
}
