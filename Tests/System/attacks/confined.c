// Tries what something that had broken into a helper would try, one line for each: what, a tab, "allowed" or errno.
// confined free|confined|local|bare|answers FOLDER NEIGHBOUR: `free` restricts nothing; the others call what oauthd-fetch
// calls, `local` for a name below .local, `bare` on a kernel that says it has no Landlock; `answers` calls what
// oauthd-redirect calls.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clinux_confine.h"

static char *folder;

static char *in_folder(const char *name) {
  char *path;
  return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static void tell(const char *what, long result) {
  printf("%s\t%s\n", what, result >= 0 ? "allowed" : strerrorname_np(errno));
}

static long unix_connect(const char *name, int abstract) {
  int number = socket(AF_UNIX, SOCK_STREAM, 0);
  if (number < 0) return -1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + abstract, name, sizeof address.sun_path - 2);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name));
  return connect(number, (struct sockaddr *)&address, length);
}

static long stream_pair_elsewhere(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, in_folder("socket"), sizeof address.sun_path - 1);
  return connect(pair[0], (struct sockaddr *)&address, sizeof address);
}

static long datagram_pair(void) {
  int pair[2];
  return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
}

static long a_fork(void) {
  // As old libcs do: without glibc's handlers.
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child;
}

static void *nothing(void *unused) { return unused; }

static long a_thread(void) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  return errno ? -1 : pthread_join(thread, NULL);
}

static long a_name(void) {
  struct addrinfo *found = NULL;
  int result = getaddrinfo("localhost", "443", NULL, &found);
  errno = ENOENT;
  return result == 0 && found ? 0 : -1;
}

static long listen_on(int family) {
  int number = socket(family, SOCK_STREAM, 0);
  return number < 0 ? -1 : listen(number, 1);
}

// A listening socket at which somebody waits.
static int waited_at(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), caller = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0) return -1;
  if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return -1;
  return connect(caller, (struct sockaddr *)&address, length) == 0 ? listener : -1;
}

static long peek(pid_t neighbour) {
  char mine[8];
  struct iovec to = {mine, sizeof mine}, from = {(void *)&folder, sizeof mine};
  return process_vm_readv(neighbour, &to, 1, &from, 1, 0);
}

static long code(int later) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | (later ? 0 : PROT_EXEC), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return -1;
  return later ? mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) : 0;
}

static long attach(pid_t neighbour) {
  long result = ptrace(PTRACE_SEIZE, neighbour, 0, 0);
  int error = errno;
  if (result == 0) ptrace(PTRACE_DETACH, neighbour, 0, 0);
  errno = error;
  return result;
}

static long own_signals(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  return fcntl(pair[0], F_SETOWN, getppid());
}

static int hide_landlock(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **arguments) {
  if (count < 4) return 64;
  const char *mode = arguments[1];
  folder = arguments[2];
  pid_t neighbour = (pid_t)atoi(arguments[3]);
  const char *more[] = {in_folder("ca.pem")};
  if (strcmp(mode, "bare") == 0 && hide_landlock() != 0) return 1;
  int version = -2;
  const int listener = waited_at();
  if (listener < 0) return 1;
  if (strcmp(mode, "answers") == 0) version = clinux_confine_to_answers();
  else if (strcmp(mode, "free") != 0) version = clinux_confine(more, 1, strcmp(mode, "local") == 0);
  if (version == -1) return 1;
  printf("version\t%d\n", version);
  char *secret = in_folder("secret"), *draft = in_folder("draft");

  tell("IPv4", socket(AF_INET, SOCK_STREAM, 0));
  tell("IPv6", socket(AF_INET6, SOCK_STREAM, 0));
  tell("own addresses", socket(AF_NETLINK, SOCK_RAW, 0));
  tell("the named authority", open(more[0], O_RDONLY));
  tell("the system's authorities", open("/etc/ssl/certs", O_RDONLY | O_DIRECTORY));
  tell("name servers", open("/etc/resolv.conf", O_RDONLY));
  tell("a thread", a_thread());
  tell("a name", a_name());

  tell("read a file", open(secret, O_RDONLY));
  tell("list a folder", open(folder, O_RDONLY | O_DIRECTORY) < 0 ? -1 : 0);
  tell("read the users", open("/etc/passwd", O_RDONLY));
  tell("write to a file", open(secret, O_WRONLY));
  tell("append to a file", open(secret, O_RDWR | O_APPEND));
  tell("make a file", open(draft, O_RDONLY | O_CREAT, 0600));
  tell("make a file without a name", open(folder, O_TMPFILE | O_RDWR, 0600));
  tell("link a file", link(secret, in_folder("link")));
  tell("rename a file", rename(draft, in_folder("renamed")));
  tell("remove a file", unlink(in_folder("spare")));
  tell("make a folder", mkdir(in_folder("new"), 0700));
  tell("change a mode", chmod(secret, 0600));
  tell("make memory with a name", memfd_create("x", 0));
  tell("a Unix socket", unix_connect(in_folder("socket"), 0));
  tell("an abstract socket", unix_connect(strrchr(folder, '/') + 1, 1));
  tell("a pair of datagrams", datagram_pair());
  tell("audit messages", socket(AF_NETLINK, SOCK_RAW, 15));
  tell("raw packets", socket(AF_PACKET, SOCK_RAW, 0));
  tell("kernel ciphers", socket(AF_ALG, SOCK_SEQPACKET, 0));
  tell("listen", listen_on(AF_INET));
  tell("take a connection", accept4(listener, NULL, NULL, SOCK_CLOEXEC));
  tell("fork", a_fork());
  tell("trace", attach(neighbour));
  tell("read memory", peek(neighbour));
  tell("signal", kill(neighbour, 0));
  tell("signal a thread", (long)syscall(SYS_tgkill, neighbour, neighbour, 0));
  tell("signal by a descriptor", own_signals());
  tell("writable code", code(0));
  tell("code made later", code(1));
  tell("keys of the kernel", syscall(SYS_keyctl, 0, -2, 0));
  tell("be dumpable", prctl(PR_SET_DUMPABLE, 1));
  tell("a namespace", unshare(CLONE_NEWUSER));
  tell("a stream pair to elsewhere", stream_pair_elsewhere());
  // Last: without the filter there is another program then.
  fflush(stdout);
  execl("/bin/echo", "echo", "-e", "another program\\tallowed", NULL);
  tell("another program", -1);
  fflush(stdout);
#ifdef __x86_64__
  // getpid as a 32-bit program would ask for it.
  long result = 20;
  __asm__ volatile("int $0x80" : "+a"(result)::"memory");
#endif
  return 0;
}
