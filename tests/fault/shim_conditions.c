/* SPDX-License-Identifier: MIT */
#include "shim_conditions.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own, which NFS lets through */
#endif

static shim_conditions now;
static char root[PATH_MAX];

void shim_set_conditions(const shim_conditions *conditions, const char *below) {
    now = *conditions;
    snprintf(root, sizeof root, "%s", below);
}

/* ---- Calls that count --------------------------------------------------------------------- */

bool shim_is_below(const char *below, const char *path) {
    size_t length = strlen(below);
    return length > 0 && strncmp(path, below, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || path[length] == ' ' /* " (deleted)" */);
}

bool shim_fd_is_below(const char *below, int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return shim_is_below(below, path);
}

bool shim_name_is_below(const char *below, int at, const char *path) {
    char base[PATH_MAX];
    if (path[0] == '/')
        return shim_is_below(below, path);
    if (at == AT_FDCWD)
        return getcwd(base, sizeof base) && shim_is_below(below, base);
    return shim_fd_is_below(below, at);
}

void *shim_next(const char *name, void *_Atomic *found) {
    void *function = atomic_load(found);
    if (!function) {
        function = dlsym(RTLD_NEXT, name);
        if (!function) {
            fprintf(stderr, "shim: there is no %s\n", name);
            abort();
        }
        atomic_store(found, function);
    }
    return function;
}

/* ---- Time stamps -------------------------------------------------------------------------- */

static void cut_time(struct timespec *t) {
    t->tv_sec -= t->tv_sec % (time_t)now.clock_seconds;
    t->tv_nsec = 0;
}

#define CUT_STAT(st) (cut_time(&(st)->st_atim), cut_time(&(st)->st_mtim), cut_time(&(st)->st_ctim))

/* `counts` says whether it concerns a file below the root. */
#define WRAP_STAT(name, type, types, arguments, counts)                                            \
    EXPORT int name types {                                                                        \
        static void *_Atomic found;                                                                \
        int(*real) types = (int(*) types)(uintptr_t)shim_next(#name, &found);                      \
        int done = real arguments;                                                                 \
        int saved = errno;                                                                         \
        if (done == 0 && now.clock_seconds > 0 && (counts))                                        \
            CUT_STAT(st);                                                                          \
        errno = saved;                                                                             \
        return done;                                                                               \
    }
#define WRAP_STATS(suffix)                                                                         \
    WRAP_STAT(stat##suffix, stat##suffix, (const char *path, struct stat##suffix *st), (path, st), \
              shim_name_is_below(root, AT_FDCWD, path))                                            \
    WRAP_STAT(lstat##suffix, stat##suffix, (const char *path, struct stat##suffix *st),            \
              (path, st), shim_name_is_below(root, AT_FDCWD, path))                                \
    WRAP_STAT(fstat##suffix, stat##suffix, (int fd, struct stat##suffix *st), (fd, st),            \
              shim_fd_is_below(root, fd))                                                          \
    WRAP_STAT(fstatat##suffix, stat##suffix,                                                       \
              (int at, const char *path, struct stat##suffix *st, int flags),                      \
              (at, path, st, flags), shim_name_is_below(root, at, path))
WRAP_STATS()
WRAP_STATS(64)

static void cut_statx_time(struct statx_timestamp *t) {
    t->tv_sec -= t->tv_sec % (int64_t)now.clock_seconds;
    t->tv_nsec = 0;
}

EXPORT int statx(int at, const char *path, int flags, unsigned mask, struct statx *stx) {
    static void *_Atomic found;
    int (*real)(int, const char *, int, unsigned, struct statx *) =
        (int (*)(int, const char *, int, unsigned, struct statx *))(uintptr_t)shim_next("statx",
                                                                                        &found);
    int done = real(at, path, flags, mask, stx);
    int saved = errno;
    if (done == 0 && now.clock_seconds > 0 && shim_name_is_below(root, at, path)) {
        cut_statx_time(&stx->stx_atime);
        cut_statx_time(&stx->stx_mtime);
        cut_statx_time(&stx->stx_ctime);
        cut_statx_time(&stx->stx_btime);
    }
    errno = saved;
    return done;
}

/* Time stamps that a program sets are cut when they are read; they are cut here for programs that
   are not under the shim. */
static const struct timespec *cut_times(const struct timespec times[2], struct timespec copy[2]) {
    for (int i = 0; times && i < 2; i++) {
        copy[i] = times[i];
        if (copy[i].tv_nsec != UTIME_NOW && copy[i].tv_nsec != UTIME_OMIT)
            cut_time(&copy[i]);
    }
    return times ? copy : NULL;
}

EXPORT int futimens(int fd, const struct timespec times[2]) {
    static void *_Atomic found;
    int (*real)(int, const struct timespec *) =
        (int (*)(int, const struct timespec *))(uintptr_t)shim_next("futimens", &found);
    struct timespec copy[2];
    bool counts = now.clock_seconds > 0 && shim_fd_is_below(root, fd);
    return real(fd, counts ? cut_times(times, copy) : times);
}

EXPORT int utimensat(int at, const char *path, const struct timespec times[2], int flags) {
    static void *_Atomic found;
    int (*real)(int, const char *, const struct timespec *, int) =
        (int (*)(int, const char *, const struct timespec *, int))(uintptr_t)shim_next("utimensat",
                                                                                       &found);
    struct timespec copy[2];
    bool counts = now.clock_seconds > 0 && path && shim_name_is_below(root, at, path);
    return real(at, path, counts ? cut_times(times, copy) : times, flags);
}

/* ---- Locks -------------------------------------------------------------------------------- */

int shim_adjust_lock(int fd, struct flock *lock) {
    if ((now.lock_error == 0 && now.lock_node == 0) || !shim_fd_is_below(root, fd))
        return 0;
    if (now.lock_error)
        return now.lock_error;
    /* Each node has a byte of its own, far behind every range that a program locks. */
    lock->l_whence = SEEK_SET;
    lock->l_start = (off_t)1 << 40 | now.lock_node;
    lock->l_len = 1;
    return 0;
}

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

int shim_open_instead(const char *path) {
    if (now.lock_node == 0 || strcmp(path, BOOT_ID) != 0)
        return -1;
    char text[64];
    int length = snprintf(text, sizeof text, "00000000-0000-4000-8000-%012u\n", now.lock_node);
    int fd = memfd_create("boot_id", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, text, (size_t)length) != length || lseek(fd, 0, SEEK_SET) != 0))
        abort();
    return fd;
}

/* ---- Renames ------------------------------------------------------------------------------ */

static bool is_root(int at, const char *path) {
    if (path[0] == '/')
        return strcmp(path, root) == 0;
    /* The root's directory and its name, as the directory `at` and a name have been seen. */
    size_t length = strlen(root), name = strlen(path);
    if (length <= name || strcmp(root + length - name, path) != 0 || root[length - name - 1] != '/')
        return false;
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)(length - name - 1), root);
    struct stat seen, wanted;
    return fstatat(at, "", &seen, AT_EMPTY_PATH) == 0 && stat(directory, &wanted) == 0 &&
           seen.st_dev == wanted.st_dev && seen.st_ino == wanted.st_ino;
}

void shim_await(int at, const char *path) {
    int saved = errno;
    if (now.until && is_root(at, path)) {
        while (access(now.until, F_OK) != 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    errno = saved;
}

/* ---- Preloaded ---------------------------------------------------------------------------- */

static void refuse(const char *name, const char *text) {
    fprintf(stderr, "shim: %s is '%s'\n", name, text);
    abort();
}

static unsigned read_number(const char *name, unsigned max) {
    const char *text = getenv(name);
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;
    if (text && (*text == '\0' || *end != '\0' || number > max))
        refuse(name, text);
    return (unsigned)number;
}

static void read_locks(shim_conditions *conditions) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"ENOLCK", ENOLCK}, {"ENOTSUPP", ENOTSUPP}, {"ENOSYS", ENOSYS}, {"EIO", EIO}};
    const char *text = getenv("ZB_SHIM_LOCKS");
    char more;
    if (!text || (sscanf(text, "node:%u%c", &conditions->lock_node, &more) == 1 &&
                  conditions->lock_node > 0))
        return;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (strcmp(errors[i].name, text) == 0)
            conditions->lock_error = errors[i].number;
    }
    if (conditions->lock_error == 0)
        refuse("ZB_SHIM_LOCKS", text);
}

__attribute__((constructor)) static void begin_from_environment(void) {
    const char *below = getenv("ZB_SHIM_ROOT"), *mode = getenv("ZB_SHIM");
    /* MODE:NTH:ERRNO:DIRECTORY */
    for (int colons = 0; !below && mode && colons < 3; colons++) {
        mode = strchr(mode, ':');
        mode = mode ? mode + 1 : NULL;
    }
    shim_conditions conditions = {.clock_seconds = read_number("ZB_SHIM_CLOCK", 3600),
                                  .until = getenv("ZB_SHIM_UNTIL")};
    read_locks(&conditions);
    if (below || mode)
        shim_set_conditions(&conditions, below ? below : mode);
    else if (conditions.clock_seconds || conditions.until || conditions.lock_error ||
             conditions.lock_node)
        refuse("ZB_SHIM_ROOT", "");
}
