/* SPDX-License-Identifier: MIT */
/*
 * Each wrapper first finds out whether its call counts, and the fate of the call. A call counts
 * when it concerns a file below the root: the path tells, or the name that /proc has for the
 * descriptor.
 *
 * Write-side calls, those at which the kill test kills, are the ones that change the store or give
 * up a hold on it: creating, writing, syncing, renaming, unlinking, truncating, locking, and
 * closing files that were open for writing. When calls fail, opening and reading count as well.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim_conditions.h"

/* The kind of a call; it decides which modes concern the call. */
enum side {
    READS = 1,         /* changes nothing */
    WRITES = 2,        /* changes the store */
    NEEDS_ROOM = 4,    /* and may find the disk full */
    INTERRUPTIBLE = 8, /* may give EINTR */
    SYNCS = 16,        /* makes durable, and may find that it cannot */
};

static enum shim_mode mode;
static uint64_t target, limit;
static int failure;
static char root[PATH_MAX];
static atomic_uint_fast64_t calls, struck;

EXPORT void shim_begin(enum shim_mode m, uint64_t nth, int error, const char *below) {
    snprintf(root, sizeof root, "%s", below);
    target = limit = nth;
    failure = error;
    atomic_store(&calls, 0);
    atomic_store(&struck, 0);
    mode = m;
}

EXPORT uint64_t shim_end(void) {
    mode = SHIM_OFF;
    return atomic_load(&calls);
}

EXPORT uint64_t shim_struck(void) {
    return atomic_load(&struck);
}

/* ---- Calls that count --------------------------------------------------------------------- */

static bool counts_fd(int fd) {
    return mode != SHIM_OFF && shim_fd_is_below(root, fd);
}

static bool counts_at(int at, const char *path) {
    return mode != SHIM_OFF && shim_name_is_below(root, at, path);
}

/* ---- The fate of a call ------------------------------------------------------------------- */

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static bool mode_concerns(unsigned side) {
    switch (mode) {
    case SHIM_OFF:
        return false;
    case SHIM_COUNT:
    case SHIM_KILL_BEFORE:
    case SHIM_KILL_AFTER:
        return side & WRITES;
    case SHIM_FAIL:
    case SHIM_FAIL_FROM:
        return true;
    case SHIM_FULL:
        return side & NEEDS_ROOM;
    case SHIM_FAIL_SYNC:
        return side & SYNCS;
    case SHIM_INTERRUPT:
        return side & INTERRUPTIBLE;
    }
    return false;
}

/* Called before the call, when it concerns the store: true when it must fail with errno as it is
   now. *number is for after(). errno is kept otherwise. */
static bool before(unsigned side, uint64_t *number) {
    *number = 0;
    if (!mode_concerns(side))
        return false;
    uint64_t n = *number = atomic_fetch_add(&calls, 1) + 1;
    bool fails = false;
    if (mode == SHIM_KILL_BEFORE && n == target)
        die();
    if (mode == SHIM_FAIL || mode == SHIM_FAIL_SYNC)
        fails = n == target;
    else if (mode == SHIM_FAIL_FROM || mode == SHIM_FULL)
        fails = n >= target;
    else if (mode == SHIM_INTERRUPT)
        fails = n % 2 == 1;
    if (fails) {
        atomic_fetch_add(&struck, 1);
        errno = mode == SHIM_INTERRUPT ? EINTR : mode == SHIM_FULL ? ENOSPC : failure;
    }
    return fails;
}

static void after(uint64_t number) {
    if (mode == SHIM_KILL_AFTER && number == target && number > 0)
        die();
}

/* Makes the wrapped call unless it fails or the process dies. `name` is called with the arguments
   in parentheses; `counts` says whether it concerns the store. */
#define WRAP(result, name, types, arguments, counts, side)                                         \
    WRAP_AS(result, name, types, real arguments, counts, side)
#define WRAP_AS(result, name, types, call, counts, side)                                           \
    EXPORT result name types {                                                                     \
        static void *_Atomic found;                                                                \
        result(*real) types = (result(*) types)(uintptr_t)shim_next(#name, &found);                \
        uint64_t number = 0;                                                                       \
        if ((counts) && before(side, &number))                                                     \
            return -1;                                                                             \
        result done = call;                                                                        \
        after(number);                                                                             \
        return done;                                                                               \
    }

/* ---- Opening and closing ------------------------------------------------------------------ */

#define OPEN_SIDE(flags)                                                                           \
    ((flags) & (O_CREAT | O_TRUNC) ? WRITES | NEEDS_ROOM | INTERRUPTIBLE : READS | INTERRUPTIBLE)

#define WRAP_OPEN(name)                                                                            \
    EXPORT int name(const char *path, int flags, ...) {                                            \
        static void *_Atomic found;                                                                \
        int (*real)(const char *, int, ...) =                                                      \
            (int (*)(const char *, int, ...))(uintptr_t)shim_next(#name, &found);                  \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                              \
        uint64_t number = 0;                                                                       \
        if (counts_at(AT_FDCWD, path) && before(OPEN_SIDE(flags), &number))                        \
            return -1;                                                                             \
        int fd = shim_open_instead(path);                                                          \
        fd = fd >= 0 ? fd : real(path, flags, permissions);                                        \
        after(number);                                                                             \
        return fd;                                                                                 \
    }
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPENAT(name)                                                                          \
    EXPORT int name(int at, const char *path, int flags, ...) {                                    \
        static void *_Atomic found;                                                                \
        int (*real)(int, const char *, int, ...) =                                                 \
            (int (*)(int, const char *, int, ...))(uintptr_t)shim_next(#name, &found);             \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                              \
        uint64_t number = 0;                                                                       \
        if (counts_at(at, path) && before(OPEN_SIDE(flags), &number))                              \
            return -1;                                                                             \
        int fd = real(at, path, flags, permissions);                                               \
        after(number);                                                                             \
        return fd;                                                                                 \
    }
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

/* openat2, which has no name in the C library; the store only ever reads through it. */
EXPORT long syscall(long number_of_call, ...) {
    static void *_Atomic found;
    long (*real)(long, ...) = (long (*)(long, ...))(uintptr_t)shim_next("syscall", &found);
    long argument[6];
    va_list rest;
    va_start(rest, number_of_call);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    uint64_t number = 0;
    if (number_of_call == SYS_openat2 && counts_at((int)argument[0], (const char *)argument[1]) &&
        before(READS | INTERRUPTIBLE, &number))
        return -1;
    return real(number_of_call, argument[0], argument[1], argument[2], argument[3], argument[4],
                argument[5]);
}

/* Linux closes the descriptor even when it reports an error. */
EXPORT int close(int fd) {
    static void *_Atomic found;
    int (*real)(int) = (int (*)(int))(uintptr_t)shim_next("close", &found);
    uint64_t number = 0;
    bool fails = false;
    if (counts_fd(fd)) {
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
            fails = before(WRITES | INTERRUPTIBLE, &number);
    }
    int saved = errno, done = real(fd);
    after(number);
    if (fails)
        errno = saved;
    return fails ? -1 : done;
}

/* ---- Reading and writing ------------------------------------------------------------------ */

static size_t at_most(size_t size) {
    return mode == SHIM_INTERRUPT && size > limit ? (size_t)limit : size;
}

#define WRITE_SIDE (WRITES | NEEDS_ROOM | INTERRUPTIBLE)
WRAP(ssize_t, write, (int fd, const void *data, size_t size),
     (fd, data, number ? at_most(size) : size), counts_fd(fd), WRITE_SIDE)
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at),
     (fd, data, number ? at_most(size) : size, at), counts_fd(fd), WRITE_SIDE)
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at),
     (fd, data, number ? at_most(size) : size, at), counts_fd(fd), WRITE_SIDE)
#define READ_SIDE (READS | INTERRUPTIBLE)
WRAP(ssize_t, read, (int fd, void *data, size_t size), (fd, data, number ? at_most(size) : size),
     counts_fd(fd), READ_SIDE)
WRAP(ssize_t, pread, (int fd, void *data, size_t size, off_t at),
     (fd, data, number ? at_most(size) : size, at), counts_fd(fd), READ_SIDE)
WRAP(ssize_t, pread64, (int fd, void *data, size_t size, off64_t at),
     (fd, data, number ? at_most(size) : size, at), counts_fd(fd), READ_SIDE)

/* The start of the first part that is not empty, when writes are to be short. */
static struct iovec short_vector(const struct iovec *parts, int *count) {
    while (*count > 1 && parts->iov_len == 0) {
        parts++;
        --*count;
    }
    struct iovec first = *parts;
    first.iov_len = at_most(first.iov_len);
    *count = 1;
    return first;
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    static void *_Atomic found;
    ssize_t (*real)(int, const struct iovec *, int) =
        (ssize_t(*)(int, const struct iovec *, int))(uintptr_t)shim_next("writev", &found);
    uint64_t number = 0;
    if (counts_fd(fd) && before(WRITE_SIDE, &number))
        return -1;
    struct iovec first;
    if (number && mode == SHIM_INTERRUPT) {
        first = short_vector(parts, &count);
        parts = &first;
    }
    ssize_t done = real(fd, parts, count);
    after(number);
    return done;
}

WRAP(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at),
     (fd, parts, count, at), counts_fd(fd), WRITES | NEEDS_ROOM)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), counts_fd(fd), WRITES | NEEDS_ROOM)
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size), counts_fd(fd), WRITES | NEEDS_ROOM)
WRAP(int, fallocate, (int fd, int how, off_t at, off_t size), (fd, how, at, size), counts_fd(fd),
     WRITES | NEEDS_ROOM)

/* ---- Syncing ------------------------------------------------------------------------------ */

/* A sync counts and fails, but is not done: written data outlive their process without it, and a
   disk takes its own time. */
#define WRAP_SYNC(name, types, counts, side)                                                       \
    WRAP_AS(int, name, types, ((void)real, 0), counts, side)
WRAP_SYNC(fsync, (int fd), counts_fd(fd), WRITES | SYNCS | INTERRUPTIBLE)
WRAP_SYNC(fdatasync, (int fd), counts_fd(fd), WRITES | SYNCS | INTERRUPTIBLE)
WRAP_SYNC(syncfs, (int fd), counts_fd(fd), WRITES | SYNCS)
WRAP_AS(int, sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags),
        ((void)real, (void)at, (void)size, (void)flags, 0), counts_fd(fd), WRITES)

/* ---- Names -------------------------------------------------------------------------------- */

WRAP_AS(int, rename, (const char *from, const char *to), (shim_await(AT_FDCWD, to), real(from, to)),
        counts_at(AT_FDCWD, from), WRITES)
WRAP_AS(int, renameat, (int from_at, const char *from, int to_at, const char *to),
        (shim_await(to_at, to), real(from_at, from, to_at, to)), counts_at(from_at, from), WRITES)
WRAP_AS(int, renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags),
        (shim_await(to_at, to), real(from_at, from, to_at, to, flags)), counts_at(from_at, from),
        WRITES)
WRAP(int, link, (const char *from, const char *to), (from, to), counts_at(AT_FDCWD, from), WRITES)
WRAP(int, linkat, (int from_at, const char *from, int to_at, const char *to, int flags),
     (from_at, from, to_at, to, flags), counts_at(from_at, from), WRITES)
WRAP(int, unlink, (const char *path), (path), counts_at(AT_FDCWD, path), WRITES)
WRAP(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), counts_at(at, path),
     WRITES)
WRAP(int, rmdir, (const char *path), (path), counts_at(AT_FDCWD, path), WRITES)
WRAP(int, mkdir, (const char *path, mode_t permissions), (path, permissions),
     counts_at(AT_FDCWD, path), WRITES | NEEDS_ROOM)
WRAP(int, mkdirat, (int at, const char *path, mode_t permissions), (at, path, permissions),
     counts_at(at, path), WRITES | NEEDS_ROOM)

/* ---- Locks -------------------------------------------------------------------------------- */

static bool is_lock(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
           command == F_OFD_SETLKW;
}

#define WRAP_FCNTL(name)                                                                           \
    EXPORT int name(int fd, int command, ...) {                                                    \
        static void *_Atomic found;                                                                \
        int (*real)(int, int, ...) = (int (*)(int, int, ...))(uintptr_t)shim_next(#name, &found);  \
        va_list rest;                                                                              \
        va_start(rest, command);                                                                   \
        void *argument = va_arg(rest, void *); /* as the C library itself does */                  \
        va_end(rest);                                                                              \
        uint64_t number = 0;                                                                       \
        bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;                        \
        unsigned side = is_lock(command) ? WRITES | INTERRUPTIBLE : READS;                         \
        if ((is_lock(command) || duplicates) && counts_fd(fd) && before(side, &number))            \
            return -1;                                                                             \
        struct flock lock;                                                                         \
        if (is_lock(command)) {                                                                    \
            lock = *(const struct flock *)argument;                                                \
            int refused = shim_adjust_lock(fd, &lock);                                             \
            if (refused) {                                                                         \
                errno = refused;                                                                   \
                return -1;                                                                         \
            }                                                                                      \
            argument = &lock;                                                                      \
        }                                                                                          \
        int done = real(fd, command, argument);                                                    \
        after(number);                                                                             \
        return done;                                                                               \
    }
WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

/* ---- Preloaded ---------------------------------------------------------------------------- */

static const char *const mode_names[] = {"off",       "count", "kill-before", "kill-after", "fail",
                                         "fail-from", "full",  "fail-sync",   "interrupt"};

__attribute__((constructor)) static void begin_from_environment(void) {
    const char *text = getenv("ZB_SHIM");
    char name[16], path[PATH_MAX];
    unsigned long long nth;
    int error;
    if (!text)
        return;
    if (sscanf(text, "%15[^:]:%llu:%d:%4095s", name, &nth, &error, path) == 4) {
        for (size_t i = 0; i < sizeof mode_names / sizeof *mode_names; i++) {
            if (strcmp(name, mode_names[i]) == 0) {
                shim_begin((enum shim_mode)i, nth, error, path);
                return;
            }
        }
    }
    fprintf(stderr, "shim: ZB_SHIM is '%s', expected MODE:NTH:ERRNO:DIRECTORY\n", text);
    abort();
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("ZB_SHIM_REPORT");
    uint64_t counted = shim_end();
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%llu %llu\n", (unsigned long long)counted,
                (unsigned long long)shim_struck());
        fclose(file);
    }
}
