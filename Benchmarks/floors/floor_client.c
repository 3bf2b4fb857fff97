// The least a token client can do: connect to argv[1], write the line argv[2], read one line, print it.
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char answer[65536];
  size_t filled = 0;
  if (argc != 3 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
  strcpy(address.sun_path, argv[1]);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return 7;
  size_t length = strlen(argv[2]);
  if (write(fd, argv[2], length) != (ssize_t)length || write(fd, "\n", 1) != 1) return 1;
  while (filled < sizeof answer) {
    ssize_t got = read(fd, answer + filled, sizeof answer - filled);
    if (got <= 0) return 1;
    filled += (size_t)got;
    if (answer[filled - 1] == '\n') break;
  }
  return write(STDOUT_FILENO, answer, filled) == (ssize_t)filled ? 0 : 1;
}
