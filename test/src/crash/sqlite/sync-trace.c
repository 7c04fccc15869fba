/*
 * Preloaded into a writer: notes each write to a WAL and each sync of one in the file that TURNKEEP_TRACE names, in the order
 * they happen. The process appends its acknowledgements to the same file, so that the order of both can be read off.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int trace_fd = -2;

static void note(const char *what) {
  static ssize_t (*real_write)(int, const void *, size_t);
  if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
  if (trace_fd == -2) {
    const char *path = getenv("TURNKEEP_TRACE");
    trace_fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  }
  if (trace_fd >= 0) real_write(trace_fd, what, strlen(what));
}

static int is_wal(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 4) return 0;
  path[length] = 0;
  return strcmp(path + length - 4, "-wal") == 0 && !strstr(path, "-search-wal");
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
  if (is_wal(fd)) note("write\n");
  return real(fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return pwrite64(fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (is_wal(fd)) note("write\n");
  return real(fd, bytes, count);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  int traced = is_wal(fd);
  if (traced) note("sync begins\n");
  int result = real(fd);
  if (traced) note(result == 0 ? "sync returns\n" : "sync fails\n");
  return result;
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  int traced = is_wal(fd);
  if (traced) note("sync begins\n");
  int result = real(fd);
  if (traced) note(result == 0 ? "sync returns\n" : "sync fails\n");
  return result;
}
