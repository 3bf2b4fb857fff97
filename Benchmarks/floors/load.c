// Asks the socket argv[1] with the line argv[2] over argv[3] connections for argv[4] milliseconds, one request in flight
// on each; argv[5] is "keep" or "once" (a connection for every request). Prints requests a second, p50 and p99 in us.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char request[4096], input[1 << 16];
static size_t request_length;
static int queue;

static uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

struct connection {
  int fd;
  uint64_t began;
};

static void ask(struct connection *c) {
  if (write(c->fd, request, request_length) != (ssize_t)request_length) exit(1);
}

static void open_connection(struct connection *c) {
  c->began = now_us();
  c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) exit(7);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(queue, EPOLL_CTL_ADD, c->fd, &event);
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 6 || strlen(argv[2]) > sizeof request - 2) return 64;
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  request_length = (size_t)sprintf(request, "%s\n", argv[2]);
  int count = atoi(argv[3]), once = strcmp(argv[5], "once") == 0;
  uint64_t length = (uint64_t)atoll(argv[4]) * 1000, done = 0;
  uint32_t *times = malloc(sizeof *times * 4000000);
  struct connection *all = calloc((size_t)count, sizeof *all);
  struct epoll_event ready[512];
  queue = epoll_create1(EPOLL_CLOEXEC);
  uint64_t start = now_us();
  for (int i = 0; i < count; i++) {
    open_connection(&all[i]);
    ask(&all[i]);
  }
  while (now_us() - start < length) {
    int events = epoll_wait(queue, ready, 512, 1000);
    for (int i = 0; i < events; i++) {
      struct connection *c = ready[i].data.ptr;
      ssize_t got = read(c->fd, input, sizeof input);
      if (got <= 0) return 1;
      if (input[got - 1] != '\n') continue;
      uint64_t now = now_us();
      if (done < 4000000) times[done] = (uint32_t)(now - c->began);
      done++;
      if (once) {
        close(c->fd);
        open_connection(c);
      } else {
        c->began = now;
      }
      ask(c);
    }
  }
  uint64_t spent = now_us() - start;
  size_t kept = done < 4000000 ? done : 4000000;
  qsort(times, kept, sizeof *times, compare);
  printf("%.0f %u %u\n", (double)done * 1e6 / (double)spent, times[kept / 2], times[kept * 99 / 100]);
  return 0;
}
