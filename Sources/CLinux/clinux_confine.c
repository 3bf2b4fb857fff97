#define _GNU_SOURCE
#include "clinux_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Landlock, by the kernel's own numbers: the headers of Debian 12 do not know all of them, its libc none.

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION_FLAG = 1, RULE_PATH_BENEATH = 1 };
enum { EXECUTE = 1 << 0, READ_FILE = 1 << 2, READ_DIR = 1 << 3 };
// What a file itself can be had for: run, written, read, truncated, a device's settings.
enum { RIGHTS_OF_FILES = EXECUTE | 1 << 1 | READ_FILE | 1 << 14 | 1 << 15 };

struct ruleset {
  uint64_t files, network, scopes;
};

struct path_rule {
  uint64_t allowed;
  int32_t folder;
} __attribute__((packed));

int clinux_landlock_version(void) {
  long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
  return version > 0 ? (int)version : 0;
}

// What a program that only answers reads after its start: the descriptor it keeps in reserve, the number of processors.
static const char *const readable_for_answers[] = {"/dev/null", "/sys/devices/system/cpu"};

// What libcurl, OpenSSL and getaddrinfo(3) read, on the distributions that we know of. A link counts as what it leads to.
static const char *const readable_for_requests[] = {
    // Programs' own code: modules of the name service and of OpenSSL are loaded when they are needed.
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/nix/store", "/gnu/store",
    "/etc/ld.so.cache", "/etc/ld.so.preload",
    // Authorities, and what TLS may be made of.
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/gnutls", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/usr/share/pki", "/usr/share/crypto-policies", "/usr/local/etc/ssl",
    "/usr/local/ssl", "/var/lib/ca-certificates", "/etc/static/ssl",
    // Names.
    "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/networks", "/etc/hostname", "/etc/mdns.allow", "/etc/resolvconf", "/run/systemd/resolve",
    "/run/resolvconf", "/run/NetworkManager", "/run/connman", "/run/netconfig", "/mnt/wsl",
    // Time zone, randomness, number of processors.
    "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random", "/dev/null", "/proc/sys/crypto",
    "/proc/sys/kernel/random", "/sys/devices/system/cpu",
};

/// All rights to files that a version knows: thirteen in the first, then one with some.
static uint64_t file_rights(int version) {
  uint64_t rights = (1 << 13) - 1;
  if (version >= 2) rights |= 1 << 13;
  if (version >= 3) rights |= 1 << 14;
  if (version >= 5) rights |= 1 << 15;
  return rights;
}

/// Of `rights` those that a folder and all below it have, or a file.
static int allow(int ruleset, const char *path, uint64_t rights) {
  int number = open(path, O_PATH | O_CLOEXEC);
  // What is not there needs no rule, nor what this process may not reach.
  if (number < 0) return 0;
  struct stat status;
  int result = fstat(number, &status);
  struct path_rule rule = {rights, number};
  if (result == 0 && !S_ISDIR(status.st_mode)) rule.allowed &= RIGHTS_OF_FILES;
  if (result == 0) result = (int)syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
  int error = errno;
  close(number);
  errno = error;
  return result;
}

struct paths {
  const char *const *first;
  size_t count;
};

/// Forbids what is `wanted`, but for files and folders of the lists, which have `rights` of it. 0 or -1.
static int fence_files(
    int version, struct ruleset wanted, uint64_t rights, const struct paths *lists, size_t count) {
  const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(CREATE_RULESET, &wanted, size, 0);
  if (ruleset < 0) return -1;
  int result = 0;
  for (size_t list = 0; list < count; list++) {
    for (size_t i = 0; result == 0 && i < lists[list].count; i++) {
      result = allow(ruleset, lists[list].first[i], rights);
    }
  }
  if (result == 0) result = (int)syscall(RESTRICT_SELF, ruleset, 0);
  int error = errno;
  close(ruleset);
  errno = error;
  return result;
}

// The filter of system calls (seccomp(2)). Each group ends in a verdict or jumps behind itself; a call that no group knows
// is answered as one that the kernel does not have, so that a newer libc falls back to an older call.

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the system calls are known of of x86_64 and aarch64"
#endif

// Both are little endian: the low half of an argument stands first.
#define LOW(number) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (number)))
#define HIGH(number) (LOW(number) + 4)
#define LOAD(place) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place)
#define MASK(bits) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define ANY(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), yes, no)
#define LESS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(value), no, yes)
#define VERDICT(what) BPF_STMT(BPF_RET | BPF_K, what)
#define PASS VERDICT(SECCOMP_RET_ALLOW)
#define REFUSE(error) VERDICT(SECCOMP_RET_ERRNO | (error))
#define MAY(name) EQUAL(__NR_##name, 0, 1), PASS
#define MAY_NOT(name) EQUAL(__NR_##name, 0, 1), REFUSE(EPERM)
// O_TMPFILE without O_DIRECTORY.
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | 020000000)
#define TO_READ(name, flags) EQUAL(__NR_##name, 0, 4), LOAD(LOW(flags)), ANY(WRITING, 0, 1), REFUSE(EPERM), PASS
// Memory is written to or run, never both.
#define NO_NEW_CODE(name) \
  EQUAL(__NR_##name, 0, 5), LOAD(LOW(2)), MASK(PROT_WRITE | PROT_EXEC), EQUAL(PROT_WRITE | PROT_EXEC, 0, 1), \
      REFUSE(EPERM), PASS
#define SET_VMA 0x53564d41

// The groups that both filters have.

#define OWN_CALLS_ONLY \
  LOAD((uint32_t)offsetof(struct seccomp_data, arch)), EQUAL(OWN_ARCHITECTURE, 1, 0), \
      VERDICT(SECCOMP_RET_KILL_PROCESS), LOAD((uint32_t)offsetof(struct seccomp_data, nr)), \
      /* The x32 calls of x86_64, which have numbers of their own. */ \
      LESS(0x40000000, 1, 0), VERDICT(SECCOMP_RET_KILL_PROCESS)

// Sockets and pipes that are there.
#define TRANSFER \
  MAY(read), MAY(write), MAY(close), MAY(recvfrom), MAY(sendto), MAY(ppoll), MAY(futex), MAY(readv), MAY(writev), \
      MAY(recvmsg), MAY(sendmsg), MAY(shutdown), MAY(getsockopt), MAY(setsockopt), MAY(getsockname), \
      MAY(getpeername), MAY(epoll_create1), MAY(epoll_ctl), MAY(epoll_pwait), MAY(eventfd2), \
      EQUAL(__NR_ioctl, 0, 5), LOAD(LOW(1)), EQUAL(FIONREAD, 2, 0), EQUAL(FIONBIO, 1, 0), REFUSE(ENOTTY), PASS, \
      /* Not to have a signal sent by what a descriptor does. */ \
      EQUAL(__NR_fcntl, 0, 6), LOAD(LOW(1)), EQUAL(F_SETOWN, 3, 0), EQUAL(F_SETOWN_EX, 2, 0), EQUAL(F_SETSIG, 1, 0), \
      PASS, REFUSE(EPERM)

#define FILES_TO_READ \
  TO_READ(openat, 2), MAY(newfstatat), MAY(fstat), MAY(statx), MAY(lseek), MAY(pread64), MAY(getdents64), \
      MAY(faccessat), MAY(faccessat2), MAY(readlinkat), MAY(statfs), MAY(fstatfs), MAY(fadvise64), MAY(getcwd)

#define MEMORY_AND_SIGNALS \
  NO_NEW_CODE(mmap), NO_NEW_CODE(mprotect), MAY(munmap), MAY(mremap), MAY(madvise), MAY(brk), MAY(rseq), \
      MAY(set_robust_list), MAY(sched_yield), MAY(sched_getaffinity), MAY(membarrier), MAY(sigaltstack), \
      MAY(rt_sigaction), MAY(rt_sigprocmask), MAY(rt_sigreturn), MAY(restart_syscall), MAY(exit), MAY(exit_group), \
      /* To abort. */ \
      EQUAL(__NR_tgkill, 0, 4), LOAD(LOW(0)), EQUAL(getpid(), 1, 0), REFUSE(EPERM), PASS, \
      EQUAL(__NR_prctl, 0, 6), LOAD(LOW(0)), EQUAL(PR_SET_NAME, 3, 0), EQUAL(PR_GET_NAME, 2, 0), \
      EQUAL(SET_VMA, 1, 0), REFUSE(EPERM), PASS, \
      /* To look at a limit. */ \
      EQUAL(__NR_prlimit64, 0, 6), LOAD(LOW(2)), EQUAL(0, 0, 2), LOAD(HIGH(2)), EQUAL(0, 1, 0), REFUSE(EPERM), PASS

#define TIME_AND_SELF \
  MAY(clock_gettime), MAY(clock_getres), MAY(clock_nanosleep), MAY(nanosleep), MAY(gettimeofday), MAY(getrandom), \
      MAY(getpid), MAY(gettid), MAY(getppid), MAY(getuid), MAY(geteuid), MAY(getgid), MAY(getegid), MAY(uname), \
      MAY(sysinfo), MAY(getrusage), MAY(times), MAY(getcpu)

#ifdef __x86_64__
#define OLD_CALLS \
  TO_READ(open, 1), MAY(poll), MAY(select), MAY(epoll_create), MAY(epoll_wait), MAY(stat), MAY(lstat), MAY(access), \
      MAY(readlink), MAY(time), MAY(dup2), MAY(getdents), MAY(getrlimit), MAY_NOT(fork), MAY_NOT(vfork), MAY_NOT(creat),
#else
#define OLD_CALLS
#endif

// Those that something broken in would want, told apart from what the kernel does not have; last, the answer to all else.
#define THE_REST \
  MAY_NOT(execve), MAY_NOT(execveat), MAY_NOT(ptrace), MAY_NOT(process_vm_readv), MAY_NOT(process_vm_writev), \
      MAY_NOT(kill), MAY_NOT(tkill), MAY_NOT(mount), MAY_NOT(umount2), MAY_NOT(unshare), MAY_NOT(setns), \
      MAY_NOT(chroot), MAY_NOT(bpf), MAY_NOT(perf_event_open), MAY_NOT(keyctl), MAY_NOT(add_key), \
      MAY_NOT(request_key), MAY_NOT(unlinkat), MAY_NOT(renameat2), MAY_NOT(linkat), MAY_NOT(symlinkat), \
      MAY_NOT(mkdirat), MAY_NOT(mknodat), MAY_NOT(fchmodat), MAY_NOT(fchownat), MAY_NOT(truncate), \
      MAY_NOT(ftruncate), MAY_NOT(listen), MAY_NOT(setuid), MAY_NOT(setgid), MAY_NOT(capset), MAY_NOT(personality), \
      MAY_NOT(memfd_create), REFUSE(ENOSYS)

static int set_filter(const struct sock_filter *filter, size_t count) {
  const struct sock_fprog program = {(unsigned short)count, (struct sock_filter *)filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int filter_for_requests(int with_unix_sockets) {
  const uint32_t other_family = with_unix_sockets ? AF_UNIX : AF_INET;
  const struct sock_filter filter[] = {
      OWN_CALLS_ONLY,
      // Most frequent first.
      TRANSFER,
      MAY(sendmmsg), MAY(recvmmsg), MAY(connect), MAY(bind), MAY(pselect6), MAY(pipe2), MAY(dup), MAY(dup3),
      // IPv4, IPv6; routing netlink, by which getaddrinfo learns which addresses this machine has.
      EQUAL(__NR_socket, 0, 9), LOAD(LOW(0)), EQUAL(AF_INET, 6, 0), EQUAL(AF_INET6, 5, 0), EQUAL(other_family, 4, 0),
      EQUAL(AF_NETLINK, 0, 2), LOAD(LOW(2)), EQUAL(NETLINK_ROUTE, 1, 0), REFUSE(EAFNOSUPPORT), PASS,
      // A pair of streams, by which libcurl's threads wake each other. Datagrams could be sent to any Unix socket.
      EQUAL(__NR_socketpair, 0, 7), LOAD(LOW(0)), EQUAL(AF_UNIX, 0, 3), LOAD(LOW(1)), MASK(0xf),
      EQUAL(SOCK_STREAM, 1, 0), REFUSE(EAFNOSUPPORT), PASS,
      FILES_TO_READ,
      MEMORY_AND_SIGNALS,
      // Threads, of which getaddrinfo's are some.
      EQUAL(__NR_clone, 0, 4), LOAD(LOW(0)), ANY(CLONE_THREAD, 1, 0), REFUSE(EPERM), PASS,
      // Its flags lie in memory, where no filter sees them; without it, libc takes clone.
      EQUAL(__NR_clone3, 0, 1), REFUSE(ENOSYS),
      TIME_AND_SELF,
      OLD_CALLS
      THE_REST,
  };
  return set_filter(filter, sizeof filter / sizeof *filter);
}

static int filter_for_answers(void) {
  const struct sock_filter filter[] = {
      OWN_CALLS_ONLY,
      TRANSFER,
      MAY(accept4), MAY(timerfd_create), MAY(timerfd_settime),
      // SwiftNIO says it once more of the socket that listens already; another cannot be had.
      MAY(listen), MAY_NOT(socket), MAY_NOT(socketpair), MAY_NOT(connect), MAY_NOT(bind), MAY_NOT(clone),
      MAY_NOT(sendmmsg), MAY_NOT(recvmmsg),
      FILES_TO_READ,
      MEMORY_AND_SIGNALS,
      TIME_AND_SELF,
      OLD_CALLS
      THE_REST,
  };
  return set_filter(filter, sizeof filter / sizeof *filter);
}

/// No new privileges, and by Landlock nothing but to read files of the lists: the version in effect, 0 or -1.
static int fence(const struct paths *lists, size_t count) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  int version = clinux_landlock_version();
  if (version == 0) return 0;
  struct ruleset wanted = {file_rights(version), 0, 0};
  // To listen on a TCP port.
  if (version >= 4) wanted.network = 1;
  // Abstract Unix sockets, and signals, to processes outside.
  if (version >= 6) wanted.scopes = 1 | 2;
  if (fence_files(version, wanted, READ_FILE | READ_DIR, lists, count) != 0) version = -1;
  // A sandbox around this one may not let it make a fence; the filter is what it must have.
  if (version < 0 && errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
  return version < 0 ? 0 : version;
}

int clinux_confine(const char *const *more, size_t count, int with_unix_sockets) {
  const struct paths lists[] = {
      {readable_for_requests, sizeof readable_for_requests / sizeof *readable_for_requests}, {more, count}};
  const int version = fence(lists, 2);
  return version < 0 || filter_for_requests(with_unix_sockets) != 0 ? -1 : version;
}

int clinux_confine_to_answers(void) {
  const struct paths list = {readable_for_answers, sizeof readable_for_answers / sizeof *readable_for_answers};
  const int version = fence(&list, 1);
  return version < 0 || filter_for_answers() != 0 ? -1 : version;
}

int clinux_fence_writes(const char *const *folders, size_t count) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  const int version = clinux_landlock_version();
  if (version == 0) return 0;
  static const char *const null[] = {"/dev/null"};
  const struct paths lists[] = {{folders, count}, {null, 1}};
  const struct ruleset wanted = {file_rights(version) & ~(uint64_t)(EXECUTE | READ_FILE | READ_DIR), 0, 0};
  return fence_files(version, wanted, wanted.files, lists, 2) == 0 ? version : -1;
}
