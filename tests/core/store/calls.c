/* SPDX-License-Identifier: MIT */
#include "store/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

char calls_log[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static enum call failing;
static int countdown, failure; /* failure: errno, 0: a call of `interrupt` */
static void (*interrupt)(void);
static bool has_failed;
static unsigned long write_limit;
static bool interrupted;

void calls_clear(void) {
    calls_log[0] = '\0';
}

void calls_fail(enum call kind, int nth, int error) {
    failing = kind;
    countdown = nth;
    failure = error;
    has_failed = false;
}

void calls_interrupt(enum call kind, int nth, void (*fn)(void)) {
    interrupt = fn;
    calls_fail(kind, nth, 0);
}

static void stop(void) {
    kill(getpid(), SIGSTOP);
}

void calls_stop(enum call kind, int nth) {
    calls_interrupt(kind, nth, stop);
}

bool calls_failed(void) {
    return has_failed;
}

static int lock_refusal;

void calls_refuse_locks(int error) {
    lock_refusal = error;
}

void calls_write_at_most(unsigned long bytes) {
    write_limit = bytes;
}

static void take_lock(void) {
    pthread_mutex_lock(&lock);
}

static void release_lock(void) {
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void hold_lock_over_forks(void) {
    pthread_atfork(take_lock, release_lock, release_lock);
}

/* Logs the call; true when it is to fail, with errno set. */
static bool fails(enum call kind) {
    static const char letters[CALL_KINDS] = {
        [CALL_MKDIRAT] = 'm',  [CALL_WRITEV] = 'w', [CALL_FDATASYNC] = 's',
        [CALL_RENAMEAT] = 'r', [CALL_FSYNC] = 'd',  [CALL_SYNCFS] = 'a'};
    take_lock();
    size_t used = strlen(calls_log);
    if (letters[kind] && used + 1 < sizeof calls_log) {
        calls_log[used] = letters[kind];
        calls_log[used + 1] = '\0';
    }
    bool now = kind == failing && countdown > 0 && --countdown == 0;
    has_failed |= now;
    release_lock();
    if (now && failure == 0)
        interrupt();
    else if (now)
        errno = failure;
    return now && failure != 0;
}

#define DECLARE(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);
DECLARE(int, openat, int at, const char *path, int flags, ...)
DECLARE(int, mkdirat, int at, const char *path, mode_t mode)
DECLARE(int, fcntl, int fd, int command, ...)
DECLARE(ssize_t, writev, int fd, const struct iovec *vectors, int count)
DECLARE(int, fdatasync, int fd)
DECLARE(int, close, int fd)
DECLARE(int, renameat, int from_at, const char *from, int to_at, const char *to)
DECLARE(int, linkat, int from_at, const char *from, int to_at, const char *to, int flags)
DECLARE(int, unlinkat, int at, const char *path, int flags)
DECLARE(int, fsync, int fd)
DECLARE(int, syncfs, int fd)

int __wrap_openat(int at, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fails(CALL_OPENAT) ? -1 : __real_openat(at, path, flags, mode);
}

int __wrap_mkdirat(int at, const char *path, mode_t mode) {
    return fails(CALL_MKDIRAT) ? -1 : __real_mkdirat(at, path, mode);
}

int __wrap_fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *); /* as the C library itself does */
    va_end(args);
    if (lock_refusal && (command == F_OFD_SETLK || command == F_OFD_SETLKW)) {
        errno = lock_refusal;
        return -1;
    }
    return fails(CALL_FCNTL) ? -1 : __real_fcntl(fd, command, argument);
}

ssize_t __wrap_writev(int fd, const struct iovec *vectors, int count) {
    if (fails(CALL_WRITEV))
        return -1;
    if (write_limit == 0)
        return __real_writev(fd, vectors, count);
    interrupted = !interrupted;
    if (interrupted) {
        errno = EINTR;
        return -1;
    }
    while (count > 1 && vectors->iov_len == 0) {
        vectors++;
        count--;
    }
    struct iovec first = vectors[0];
    if (first.iov_len > write_limit)
        first.iov_len = write_limit;
    return __real_writev(fd, &first, 1);
}

int __wrap_fdatasync(int fd) {
    return fails(CALL_FDATASYNC) ? -1 : __real_fdatasync(fd);
}

int __wrap_close(int fd) {
    int result = __real_close(fd); /* Linux closes it even when it reports an error */
    return fails(CALL_CLOSE) ? -1 : result;
}

int __wrap_renameat(int from_at, const char *from, int to_at, const char *to) {
    return fails(CALL_RENAMEAT) ? -1 : __real_renameat(from_at, from, to_at, to);
}

int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    return fails(CALL_LINKAT) ? -1 : __real_linkat(from_at, from, to_at, to, flags);
}

int __wrap_unlinkat(int at, const char *path, int flags) {
    return fails(CALL_UNLINKAT) ? -1 : __real_unlinkat(at, path, flags);
}

int __wrap_fsync(int fd) {
    return fails(CALL_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_syncfs(int fd) {
    return fails(CALL_SYNCFS) ? -1 : __real_syncfs(fd);
}
