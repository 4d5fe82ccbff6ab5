// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a server (stepped_clock.h), it sets the server's wall clock ahead of the machine's
// by the number of nanoseconds in a file, which may change at any time. Only root could step the
// clock itself, and for the whole machine.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t kSecond = 1000000000;
static const int64_t* ahead_ns = NULL;

__attribute__((constructor)) static void look_for_the_file(void) {
  const char* path = getenv("ALLOT_STEPPED_CLOCK");
  if (path == NULL) return;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* all = mmap(NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, fd, 0);
  if (all != MAP_FAILED) ahead_ns = all;
  close(fd);
}

static int64_t ahead(void) {
  return ahead_ns == NULL ? 0 : __atomic_load_n(ahead_ns, __ATOMIC_RELAXED);
}

static struct timespec shifted(struct timespec time, int64_t by) {
  const int64_t all = time.tv_sec * kSecond + time.tv_nsec + by;
  time.tv_sec = all / kSecond;
  time.tv_nsec = all % kSecond;
  return time;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *time = shifted(*time, ahead());
  return result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* seconds) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

// The kernel waits by its own clock. A CLOCK_MONOTONIC time is smaller than any wall-clock time of
// this century; a later one means never, and must not be shifted.
int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  typedef int (*Wait)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);
  static Wait wait = NULL;
  Wait original = __atomic_load_n(&wait, __ATOMIC_RELAXED);
  if (original == NULL) {
    original = (Wait)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    __atomic_store_n(&wait, original, __ATOMIC_RELAXED);
  }
  const int real = until->tv_sec >= kSecond && until->tv_sec < 9 * kSecond;
  const struct timespec moment = real ? shifted(*until, -ahead()) : *until;
  return original(condition, mutex, &moment);
}
