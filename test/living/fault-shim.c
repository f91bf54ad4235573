/*
 * Preloaded into a server (LD_PRELOAD): makes writes below a folder fail, or cuts them short. The folder is FAULT_DIR. The file
 * FAULT_PLAN names the fault, as "<kind> <n> <part of the path>": it hits the nth write to a path that contains the part. Kinds:
 *
 *   error  the write fails with EIO
 *   short  half of the bytes are written, and the next write to that file fails with ENOSPC
 *   sync   the nth flush fails with EIO
 *   torn   half of the bytes are written, and the process is killed
 *
 * A plan is renamed to "<plan>.done" when it hits. If FAULT_SYNCED is set, every flush also copies the file to that folder.
 * The folder then contains what a power failure would leave if no write reaches the disk without a flush.
 *
 * If FAULT_STATES is set, the folder is copied to FAULT_STATES/00001 and so on before every write, flush, truncation, rename and
 * removal, and in the middle of every write: what the process leaves if it is killed at that moment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum fault { NONE, ERROR, SHORT, FULL, TORN };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;
static char full_path[4096];
static char seen_plan[4096];

/* The path of a descriptor if it is below FAULT_DIR. */
static int path_of(int fd, char *path, size_t size) {
  const char *dir = getenv("FAULT_DIR");
  char link[64];
  if (dir == NULL || fd <= 2) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, dir, strlen(dir)) == 0 && strstr(path, "-shm") == NULL;
}

/* Returns the fault for this call. A plan that hits is marked as done. */
static enum fault next_fault(int fd, int is_flush) {
  char path[4096], text[4096], kind[16], part[1024], done[4200];
  const char *plan = getenv("FAULT_PLAN");
  enum fault fault = NONE;
  int saved = errno, n;
  if (plan == NULL || !path_of(fd, path, sizeof path)) return NONE;
  pthread_mutex_lock(&lock);
  if (!is_flush && full_path[0] != 0 && strcmp(full_path, path) == 0) {
    full_path[0] = 0;
    fault = FULL;
  } else {
    int file = REAL(open)(plan, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      ssize_t length = read(file, text, sizeof text - 1);
      close(file);
      text[length > 0 ? length : 0] = 0;
      if (strcmp(text, seen_plan) != 0) {
        strcpy(seen_plan, text);
        calls = 0;
      }
      if (sscanf(text, "%15s %d %1023s", kind, &n, part) == 3 && strstr(path, part) != NULL &&
          is_flush == (strcmp(kind, "sync") == 0) && ++calls == n) {
        fault = strcmp(kind, "short") == 0 ? SHORT : strcmp(kind, "torn") == 0 ? TORN : ERROR;
        if (fault == SHORT) strcpy(full_path, path);
        snprintf(done, sizeof done, "%s.done", plan);
        REAL(rename)(plan, done);
      }
    }
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return fault;
}

/* Copies the folder. Another process does it: closing a file in this one would drop SQLite's locks. */
static void save_state(void) {
  static int count;
  char copy[4200], *dir = getenv("FAULT_DIR"), *none[] = {NULL};
  char *arguments[] = {"cp", "-a", dir, copy, NULL};
  pid_t pid;
  int saved = errno, status;
  snprintf(copy, sizeof copy, "%s/%05d", getenv("FAULT_STATES"), ++count);
  if (posix_spawn(&pid, "/bin/cp", NULL, NULL, arguments, none) == 0) waitpid(pid, &status, 0);
  errno = saved;
}

static int saves_states(int fd) {
  char path[4096];
  return getenv("FAULT_STATES") != NULL && path_of(fd, path, sizeof path);
}

static int saves_states_at(const char *path) {
  const char *dir = getenv("FAULT_DIR");
  return getenv("FAULT_STATES") != NULL && dir != NULL && strncmp(path, dir, strlen(dir)) == 0;
}

/* Runs a call between two states. The lock keeps other threads from writing while the folder is copied. */
#define AFTER_STATE(type, call)                                                                    \
  do {                                                                                             \
    pthread_mutex_lock(&lock);                                                                     \
    save_state();                                                                                  \
    type result = call;                                                                            \
    pthread_mutex_unlock(&lock);                                                                   \
    return result;                                                                                 \
  } while (0)

/* The same for a write: the folder is copied again when half of the bytes are written. */
#define WRITE_AFTER_STATES(half, rest)                                                             \
  do {                                                                                             \
    pthread_mutex_lock(&lock);                                                                     \
    save_state();                                                                                  \
    ssize_t first = half;                                                                          \
    if (first >= 0) save_state();                                                                  \
    ssize_t second = first < 0 ? -1 : rest;                                                        \
    pthread_mutex_unlock(&lock);                                                                   \
    return second < 0 ? -1 : first + second;                                                       \
  } while (0)

static ssize_t fail(int code) {
  errno = code;
  return -1;
}

/* Writes `half` by the real call; kills the process after a torn write. */
#define FAULTY(fd, whole, half)                                                                     \
  switch (next_fault(fd, 0)) {                                                                     \
    case NONE: return whole;                                                                       \
    case ERROR: return fail(EIO);                                                                  \
    case FULL: return fail(ENOSPC);                                                                \
    case SHORT: return half;                                                                       \
    case TORN: (void)!half; kill(getpid(), SIGKILL); for (;;) pause();                             \
  }                                                                                                \
  return -1;

ssize_t write(int fd, const void *data, size_t size) {
  if (saves_states(fd))
    WRITE_AFTER_STATES(REAL(write)(fd, data, size / 2), REAL(write)(fd, (const char *)data + first, size - first));
  FAULTY(fd, REAL(write)(fd, data, size), REAL(write)(fd, data, size / 2))
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  if (saves_states(fd))
    WRITE_AFTER_STATES(REAL(pwrite)(fd, data, size / 2, at),
                       REAL(pwrite)(fd, (const char *)data + first, size - first, at + first));
  FAULTY(fd, REAL(pwrite)(fd, data, size, at), REAL(pwrite)(fd, data, size / 2, at))
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  if (saves_states(fd))
    WRITE_AFTER_STATES(REAL(pwrite64)(fd, data, size / 2, at),
                       REAL(pwrite64)(fd, (const char *)data + first, size - first, at + first));
  FAULTY(fd, REAL(pwrite64)(fd, data, size, at), REAL(pwrite64)(fd, data, size / 2, at))
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (saves_states(fd)) AFTER_STATE(ssize_t, REAL(writev)(fd, parts, count));
  FAULTY(fd, REAL(writev)(fd, parts, count), REAL(write)(fd, parts[0].iov_base, parts[0].iov_len / 2))
}

/* Copies a file to FAULT_SYNCED through its open descriptor, because closing a second descriptor would drop SQLite's locks. */
static void keep_synced(int fd) {
  char path[4096], copy[8300], part[8400], *slash;
  static char bytes[1 << 16];
  const char *synced = getenv("FAULT_SYNCED"), *dir = getenv("FAULT_DIR");
  struct stat facts;
  int saved = errno;
  if (synced == NULL || !path_of(fd, path, sizeof path) || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  snprintf(copy, sizeof copy, "%s%s", synced, path + strlen(dir));
  pthread_mutex_lock(&lock);
  for (slash = copy + strlen(synced) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    mkdir(copy, 0700);
    *slash = '/';
  }
  /* In two steps, because the process may be killed in between. */
  snprintf(part, sizeof part, "%s.copying", copy);
  int to = REAL(open)(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to >= 0) {
    ssize_t length;
    for (off_t at = 0; (length = pread(fd, bytes, sizeof bytes, at)) > 0; at += length)
      (void)!REAL(write)(to, bytes, length);
    close(to);
    REAL(rename)(part, copy);
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
}

int ftruncate(int fd, off_t size) {
  if (saves_states(fd)) AFTER_STATE(int, REAL(ftruncate)(fd, size));
  return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) {
  if (saves_states(fd)) AFTER_STATE(int, REAL(ftruncate64)(fd, size));
  return REAL(ftruncate64)(fd, size);
}

int fsync(int fd) {
  if (saves_states(fd)) AFTER_STATE(int, REAL(fsync)(fd));
  if (next_fault(fd, 1) != NONE) return fail(EIO);
  int result = REAL(fsync)(fd);
  if (result == 0) keep_synced(fd);
  return result;
}

int fdatasync(int fd) {
  if (saves_states(fd)) AFTER_STATE(int, REAL(fdatasync)(fd));
  if (next_fault(fd, 1) != NONE) return fail(EIO);
  int result = REAL(fdatasync)(fd);
  if (result == 0) keep_synced(fd);
  return result;
}

/* Renames and removals take effect immediately, because file systems write them in order. */
static int synced_path(const char *path, char *copy, size_t size) {
  const char *synced = getenv("FAULT_SYNCED"), *dir = getenv("FAULT_DIR");
  if (synced == NULL || dir == NULL || strncmp(path, dir, strlen(dir)) != 0) return 0;
  snprintf(copy, size, "%s%s", synced, path + strlen(dir));
  return 1;
}

int rename(const char *from, const char *to) {
  char old[8300], new[8300];
  if (saves_states_at(from)) AFTER_STATE(int, REAL(rename)(from, to));
  int result = REAL(rename)(from, to), saved = errno;
  if (result == 0 && synced_path(from, old, sizeof old) && synced_path(to, new, sizeof new)) REAL(rename)(old, new);
  errno = saved;
  return result;
}

int unlink(const char *path) {
  char copy[8300];
  if (saves_states_at(path)) AFTER_STATE(int, REAL(unlink)(path));
  int result = REAL(unlink)(path), saved = errno;
  if (result == 0 && synced_path(path, copy, sizeof copy)) REAL(unlink)(copy);
  errno = saved;
  return result;
}
