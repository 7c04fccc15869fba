/*
 * Preloaded into a process: adds one byte to the file that TURNKEEP_SYNCS names for each fsync, fdatasync and synchronous
 * msync, by whatever thread and library. The file's length is the count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void count(void) {
  static int counter = -2;
  if (counter == -2) {
    const char *path = getenv("TURNKEEP_SYNCS");
    counter = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  }
  if (counter >= 0 && write(counter, "s", 1) < 0) abort();
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  count();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  count();
  return real(fd);
}

int msync(void *start, size_t length, int flags) {
  static int (*real)(void *, size_t, int);
  if (!real) real = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync");
  if (flags & MS_SYNC) count();
  return real(start, length, flags);
}
