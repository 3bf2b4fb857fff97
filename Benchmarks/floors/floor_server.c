// The least a token server can do: epoll on the socket argv[1], or on the listening descriptor 3 when that is "3", and the
// line in the file argv[2] for every line read.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  static char line[1 << 16], input[1 << 16];
  if (argc != 3 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
  int file = open(argv[2], O_RDONLY);
  ssize_t length = read(file, line, sizeof line);
  if (length <= 0) return 1;
  signal(SIGPIPE, SIG_IGN);
  strcpy(address.sun_path, argv[1]);
  int given = strcmp(argv[1], "3") == 0;
  int listener = given ? 3 : socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (given)
    fcntl(listener, F_SETFL, O_NONBLOCK);
  else if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0) return 1;
  int queue = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
  epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(queue, ready, 256, -1);
    for (int i = 0; i < count; i++) {
      int fd = ready[i].data.fd;
      if (fd == listener) {
        for (int accepted; (accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
          event.data.fd = accepted;
          epoll_ctl(queue, EPOLL_CTL_ADD, accepted, &event);
        }
        continue;
      }
      ssize_t got = read(fd, input, sizeof input);
      if (got <= 0) {
        close(fd);
        continue;
      }
      for (ssize_t at = 0; at < got; at++)
        if (input[at] == '\n' && write(fd, line, (size_t)length) < 0) break;
    }
  }
}
