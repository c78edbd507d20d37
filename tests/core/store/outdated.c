/* SPDX-License-Identifier: MIT */
#include "store/outdated.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"

outdated outdated_now;

static void note(char letter) {
    const size_t length = strlen(outdated_now.log);
    if (length + 1 < sizeof outdated_now.log)
        outdated_now.log[length] = letter;
}

#define REAL(type, name, ...) type __real_##name(__VA_ARGS__)
REAL(int, fstatat, int at, const char *path, struct stat *out, int flags);
REAL(int, fstat, int fd, struct stat *out);
REAL(int, statx, int at, const char *path, int flags, unsigned mask, struct statx *out);
REAL(int, faccessat, int at, const char *path, int mode, int flags);
REAL(int, openat, int at, const char *path, int flags, ...);
REAL(long, syscall, long number, long a, long b, long c, long d);
REAL(int, fcntl, int fd, int command, ...);
REAL(int, renameat, int a, const char *from, int b, const char *to);
REAL(int, unlinkat, int at, const char *path, int flags);
REAL(int, nanosleep, const struct timespec *pause, struct timespec *left);
int __wrap_fstatat(int at, const char *path, struct stat *out, int flags);
int __wrap_fstat(int fd, struct stat *out);
int __wrap_statx(int at, const char *path, int flags, unsigned mask, struct statx *out);
int __wrap_faccessat(int at, const char *path, int mode, int flags);
int __wrap_openat(int at, const char *path, int flags, ...);
long __wrap_syscall(long number, long a, long b, long c, long d);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_renameat(int a, const char *from, int b, const char *to);
int __wrap_unlinkat(int at, const char *path, int flags);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

/* True if the path leads through the hidden name, or to it. */
static bool is_hidden(int at, const char *path) {
    char above[PATH_MAX];
    struct stat st;
    for (size_t i = 0, length; outdated_now.directory && path[i];
         i += length + (path[i + length] == '/')) {
        length = strcspn(path + i, "/");
        snprintf(above, sizeof above, "%.*s", i ? (int)i : 1, i ? path : ".");
        if (length == strlen(outdated_now.name) &&
            memcmp(path + i, outdated_now.name, length) == 0 &&
            __real_fstatat(at, above, &st, 0) == 0 && st.st_ino == outdated_now.directory) {
            errno = ENOENT;
            return true;
        }
    }
    return false;
}

static int recall(int result, struct stat *out) {
    if (result == 0 && outdated_now.file && out->st_ino == outdated_now.file)
        out->st_size = outdated_now.old_size;
    return result;
}

int __wrap_fstatat(int at, const char *path, struct stat *out, int flags) {
    return is_hidden(at, path) ? -1 : recall(__real_fstatat(at, path, out, flags), out);
}

int __wrap_fstat(int fd, struct stat *out) {
    return recall(__real_fstat(fd, out), out);
}

int __wrap_statx(int at, const char *path, int flags, unsigned mask, struct statx *out) {
    if (is_hidden(at, path))
        return -1;
    const int result = __real_statx(at, path, flags, mask, out);
    if (result != 0 || !(flags & AT_STATX_FORCE_SYNC))
        return result;
    outdated_now.forced++;
    if (S_ISDIR(out->stx_mode))
        note('F');
    outdated_now.directory = out->stx_ino == outdated_now.directory ? 0 : outdated_now.directory;
    outdated_now.file = out->stx_ino == outdated_now.file ? 0 : outdated_now.file;
    return result;
}

int __wrap_faccessat(int at, const char *path, int mode, int flags) {
    return is_hidden(at, path) ? -1 : __real_faccessat(at, path, mode, flags);
}

int __wrap_openat(int at, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return is_hidden(at, path) ? -1 : __real_openat(at, path, flags, mode);
}

long __wrap_syscall(long number, long a, long b, long c, long d) {
    const bool looks_up = number == SYS_openat2 && is_hidden((int)a, (const char *)(uintptr_t)b);
    return looks_up ? -1 : __real_syscall(number, a, b, c, d);
}

int __wrap_fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    assert_true(command != F_OFD_SETLKW && command != F_SETLKW);
    const bool locks = command == F_OFD_SETLK && ((struct flock *)argument)->l_type == F_WRLCK;
    if (locks && outdated_now.denials > 0) {
        outdated_now.denials--;
        errno = EAGAIN;
        return -1;
    }
    const int result = __real_fcntl(fd, command, argument);
    if (locks && result == 0)
        note('L');
    return result;
}

int __wrap_renameat(int a, const char *from, int b, const char *to) {
    if (outdated_now.rename_failures > 0) {
        outdated_now.rename_failures--;
        errno = outdated_now.rename_error;
        return -1;
    }
    note('R');
    return __real_renameat(a, from, b, to);
}

int __wrap_unlinkat(int at, const char *path, int flags) {
    note('U');
    return __real_unlinkat(at, path, flags);
}

/* Nobody waits here. */
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left) {
    (void)left;
    if (outdated_now.paused < sizeof outdated_now.pauses / sizeof *outdated_now.pauses)
        outdated_now.pauses[outdated_now.paused++] = pause->tv_nsec;
    return 0;
}
