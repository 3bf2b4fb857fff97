// What an agent does with the limits, signals and scheduling of whoever started it (docs/reliability.md has the table).
#ifndef CLINUX_LIMITS_H
#define CLINUX_LIMITS_H

/// A limit of this process (getrlimit(2)) that an agent may run into.
struct clinux_limit {
  /// ulimit's option for it.
  const char *option;
  /// What it counts, for a sentence.
  const char *counts;
  /// With less no agent is started.
  unsigned long long least;
  /// What it cannot be raised beyond; all bits set: without end.
  unsigned long long hard;
};

/// The next limit from `*number` on that cannot be raised to what an agent needs; `option` is NULL when there is none.
/// `*number`, 0 at first, is put behind it.
struct clinux_limit clinux_low_limit(int *number);

/// Raises what this process may have to what it may raise it to, but for cores; stacks get the usual size. Where the
/// processor time is limited beyond that, SIGXCPU comes some seconds before the kernel's SIGKILL. Safe after fork(2).
void clinux_raise_limits(void);

/// Gives this process the processors, the niceness and the order among others that a program usually has, as far as it may.
/// Safe after fork(2).
void clinux_take_usual_place(void);

/// From now on a file that may not grow is an error of its write, and SIGXCPU ends this process as SIGTERM does.
void clinux_survive_limits(void);

#endif
