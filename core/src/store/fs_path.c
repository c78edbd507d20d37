/* SPDX-License-Identifier: MIT */
/*
 * Paths of the directory store. Every path is resolved beneath the root's descriptor. Where the
 * kernel has openat2, RESOLVE_BENEATH lets symbolic links work as long as they stay inside;
 * elsewhere the path is walked part by part and every link is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "util/clock.h"
#include "zarrbridge/error.h"

/* ---- Resolving paths beneath the root ---- */

static int openat_kernel(int root, const char *path, int flags, uint64_t resolve) {
    struct open_how how = {.flags = (uint64_t)(unsigned)flags, .resolve = resolve};
    /* EAGAIN: a rename elsewhere raced with a ".." of a link; a few tries settle it. */
    for (int tries = 0;; tries++) {
        int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0 || tries == 16 || (errno != EAGAIN && errno != EINTR))
            return fd;
    }
}

/* Opens one part of a path without following it. A link in the place of a directory fails with
   ELOOP: with the ENOTDIR that the kernel gives, an object behind it would pass for missing. */
static int open_part(int at, const char *part, int flags) {
    int fd = ZB__UNINTERRUPTED(openat(at, part, flags | O_NOFOLLOW));
    struct stat st;
    if (fd < 0 && errno == ENOTDIR) {
        bool is_link = fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        errno = is_link ? ELOOP : ENOTDIR;
    }
    return fd;
}

/* The walk for kernels without openat2. Returns a descriptor or -1 with errno. */
static int openat_beneath_walk(int root, const char *path, int flags) {
    int at = root;
    for (;;) {
        size_t length = strcspn(path, "/");
        bool last = path[length] == '\0';
        char part[NAME_MAX + 1];
        int fd = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(part, path, length);
            part[length] = '\0';
            fd = open_part(at, part, last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        int saved = errno;
        if (at != root)
            close(at);
        errno = saved;
        if (fd < 0 || last)
            return fd;
        at = fd;
        path += length + 1;
    }
}

static int open_beneath(int root, const char *path, int flags) {
    static atomic_bool no_openat2;
    if (!atomic_load_explicit(&no_openat2, memory_order_relaxed)) {
        int fd = openat_kernel(root, path, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return fd;
        if (errno == ENOSYS)
            atomic_store(&no_openat2, true);
    }
    return openat_beneath_walk(root, path, flags);
}

bool zb__fs_made_room(void) {
    const int failed = errno;
    const bool made = (failed == EMFILE || failed == ENFILE) && zb__fs_kept_clear();
    errno = failed;
    return made;
}

int zb__fs_openat(int root, const char *path, int flags) {
    int fd = open_beneath(root, path, flags);
    return fd < 0 && zb__fs_made_room() ? open_beneath(root, path, flags) : fd;
}

/* ---- Links that lead out ---- */

/* The directories into which links may lead: real paths, each with a slash at its end. NULL: there
   are none. Both are set once, and kept. */
static char **allowed;
static size_t allowed_count;

/* What is no directory is no permission. */
static void allow(const char *directory) {
    char *real = *directory == '/' ? realpath(directory, NULL) : NULL;
    char **more = real ? realloc(allowed, (allowed_count + 1) * sizeof *more) : NULL;
    allowed = more ? more : allowed;
    if (more && asprintf(&allowed[allowed_count], "%s/", real[1] ? real : "") >= 0)
        allowed_count++;
    free(real);
}

static void load_allowed(void) {
    const char *text = getenv("ZARRBRIDGE_LINKS_TO");
    char *copy = text ? strdup(text) : NULL, *rest = copy;
    while (rest)
        allow(strsep(&rest, ":"));
    free(copy);
}

static bool is_allowed(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 2);
    if (length < 0)
        return false;
    memcpy(path + length, "/", 2);
    for (size_t i = 0; i < allowed_count; i++)
        if (strncmp(path, allowed[i], strlen(allowed[i])) == 0)
            return true;
    return false;
}

/* What the path leads to is told before it is opened: for O_PATH nothing happens to it. */
static int open_outside(int root, const char *path, int flags) {
    char link[64];
    const int place = openat_kernel(root, path, O_PATH | O_CLOEXEC, RESOLVE_NO_MAGICLINKS);
    if (place < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    int fd = -1;
    errno = EXDEV;
    if (is_allowed(place))
        fd = ZB__UNINTERRUPTED(open(link, flags));
    const int failed = errno;
    close(place);
    errno = failed;
    return fd;
}

int zb__fs_open_read(int root, const char *path, int flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int fd = zb__fs_openat(root, path, flags);
    if (fd >= 0 || errno != EXDEV)
        return fd;
    pthread_once(&once, load_allowed);
    errno = EXDEV;
    return allowed_count ? open_outside(root, path, flags) : -1;
}

int zb__fs_open_name(int at, const char *name, int flags, mode_t mode) {
    int fd = ZB__UNINTERRUPTED(openat(at, name, flags, mode));
    if (fd < 0 && zb__fs_made_room())
        fd = ZB__UNINTERRUPTED(openat(at, name, flags, mode));
    return fd;
}

/* True if this part of a path, up to `length`, leads nowhere because it is a link to nothing. */
static bool part_dangles(int root, const char *path, size_t length) {
    char prefix[PATH_MAX];
    struct stat st;
    memcpy(prefix, path, length);
    prefix[length] = '\0';
    if (fstatat(root, prefix, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode))
        return false;
    int fd = zb__fs_open_read(root, prefix, O_PATH | O_CLOEXEC);
    bool dangles = fd < 0 && errno == ENOENT;
    if (fd >= 0)
        close(fd);
    return dangles;
}

DIR *zb__fs_open_dir(int at, const char *name) {
    int fd = zb__fs_open_name(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir) {
        int saved = errno;
        close(fd);
        errno = saved;
    }
    return dir;
}

bool zb__fs_dangles(int root, const char *path) {
    /* One call tells where there are no links at all. */
    int fd = openat_kernel(root, path, O_PATH | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    bool no_links = fd >= 0 || errno == ENOENT || errno == ENOTDIR;
    if (fd >= 0)
        close(fd);
    if (no_links || strlen(path) >= PATH_MAX)
        return false;
    for (size_t end = strcspn(path, "/");; end += 1 + strcspn(path + end + 1, "/")) {
        if (part_dangles(root, path, end))
            return true;
        if (path[end] == '\0')
            return false;
    }
}

/* What is there is told by the first call, which is cheaper. It follows links above the last part,
   so that it alone does not tell an absent path of several parts from one behind a link to
   nothing. */
bool zb__fs_is_absent(int root, const char *path) {
    struct stat st;
    if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
        return false;
    if (!strchr(path, '/'))
        return true;
    int fd = openat_kernel(root, path, O_PATH | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    bool absent = fd < 0 && errno == ENOENT;
    if (fd >= 0)
        close(fd);
    return absent;
}

enum zb_code zb__fs_fail(zb_error *err, int sys_errno, const char *what, const char *key) {
    if (sys_errno == EXDEV || sys_errno == ELOOP)
        return zb_fail(
            err, ZB_EINVAL,
            "'%s' is behind a symbolic link that leads out of the store or cannot be followed "
            "(ZARRBRIDGE_LINKS_TO can name directories into which links may lead for reading)",
            key);
    if (sys_errno == ESTALE) {
        zb_fail(err, ZB_ECONFLICT, "cannot %s '%s': its directory was erased or moved meanwhile",
                what, key);
        if (err)
            err->sys_errno = ESTALE;
        return ZB_ECONFLICT;
    }
    return zb_fail_errno(err, sys_errno, "cannot %s '%s'", what, key);
}

enum zb_code zb__fs_fail_write(zb_error *err, int sys_errno, const char *what, const char *key) {
    enum zb_code code = zb__fs_fail(err, sys_errno, what, key);
    if (code != ZB_ENOTFOUND)
        return code;
    if (err)
        err->code = ZB_EIO;
    return ZB_EIO;
}

/* ---- Names of ours ---- */

static uint64_t hash_text(const char *text) { /* FNV-1a */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static bool ends_with(const char *name, const char *tail) {
    size_t length = strlen(name), tail_length = strlen(tail);
    return length > tail_length && strcmp(name + length - tail_length, tail) == 0;
}

bool zb__fs_is_lock(const char *name) {
    return name[0] == '.' && ends_with(name, ZB__FS_LOCK);
}

bool zb__fs_is_ours(const char *name) {
    return name[0] == '.' && (ends_with(name, ZB__FS_TEMP) || ends_with(name, ZB__FS_LOCK));
}

bool zb__fs_is_staging(const char *name) {
    return name[0] == '.' && ends_with(name, ZB__FS_ASIDE);
}

/* Names up to this long appear in names of ours as they are, longer ones by their hash. */
#define NAME_KEPT 200

static void begin_name(const char *name, char out[NAME_MAX + 1]) {
    const size_t length = strlen(name);
    out[0] = '.';
    if (length <= NAME_KEPT)
        memcpy(out + 1, name, length + 1);
    else
        snprintf(out, NAME_MAX + 1, ".%016llx", (unsigned long long)hash_text(name));
}

static uint64_t kernel_id;

static void read_kernel_id(void) {
    char text[64] = "";
    int fd = ZB__UNINTERRUPTED(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (fd >= 0) {
        ssize_t got = read(fd, text, sizeof text - 1);
        kernel_id = got > 0 ? hash_text(text) : 0;
        close(fd);
    }
}

/* Tells running kernels apart: two processes with the same number see each other's locks, whatever
   the file system does with locks of other machines. 0 when it cannot be had. */
static uint64_t get_kernel_id(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_kernel_id);
    return kernel_id;
}

/* A number that is unlikely to come twice; the caller that creates a file by it uses O_EXCL all the
   same. */
static uint64_t next_unique(void) {
    static atomic_uint_fast64_t counter;
    uint64_t z = (uint64_t)zb__now();
    z ^= (uint64_t)getpid() << 40;
    z += atomic_fetch_add(&counter, 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return z ^ z >> 31;
}

/* .NAME.KERNEL.UNIQUE.zb-tmp, the two numbers with 16 hexadecimal digits. */
#define NUMBER_LENGTH 17
#define TEMP_TAIL_LENGTH (2 * NUMBER_LENGTH + sizeof ZB__FS_TEMP - 1)

/* A dot and the digits: each object that is put has such a name, and printf takes long. */
static void put_number(char *out, uint64_t number) {
    out[0] = '.';
    for (int i = NUMBER_LENGTH - 1; i > 0; i--, number >>= 4)
        out[i] = "0123456789abcdef"[number & 15];
}

void zb__fs_temp_name(const char *name, char out[NAME_MAX + 1]) {
    begin_name(name, out);
    char *tail = out + strlen(out);
    put_number(tail, get_kernel_id());
    put_number(tail + NUMBER_LENGTH, next_unique());
    memcpy(tail + 2 * NUMBER_LENGTH, ZB__FS_TEMP, sizeof ZB__FS_TEMP);
}

void zb__fs_lock_name(const char *name, char out[NAME_MAX + 1]) {
    begin_name(name, out);
    strcat(out, ZB__FS_LOCK);
}

bool zb__fs_is_local_temp(const char *name) {
    char expected[NUMBER_LENGTH];
    size_t length = strlen(name);
    put_number(expected, get_kernel_id());
    return get_kernel_id() != 0 && length > TEMP_TAIL_LENGTH &&
           memcmp(name + length - TEMP_TAIL_LENGTH, expected, sizeof expected) == 0;
}

const char *zb__fs_name_of(const char *key) {
    const char *slash = strrchr(key, '/');
    return slash ? slash + 1 : key;
}
