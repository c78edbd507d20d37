/* SPDX-License-Identifier: MIT */
/*
 * The files of control groups are text of a few bytes: decimal numbers, or "max" for no bound. They
 * are read into buffers on the stack, and anything else in them counts as no bound.
 *
 * /proc/self/cgroup names this process's group in each hierarchy. A container may see the path of
 * its group from outside, where no such directory is: every level of the path is asked, up to the
 * hierarchy's root, and levels that are not there bound nothing.
 */
#include "util/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_BYTES 4096
/* Of /proc/self/cgroup; some dozen lines of a path each. The rest of the file is not looked at. */
#define LIST_BYTES 16384

/* ---- Files ---- */

/* Reads a text, cut at `size`. False when there is none. */
static bool read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t used = 0;
    for (ssize_t got; used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    close(fd);
    text[used] = '\0';
    return used > 0;
}

/* A decimal number that ends at a blank or the text's end. Returns the text behind it, or NULL. */
static const char *read_number(const char *text, uint64_t *out) {
    const char *at = text;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return NULL;
    }
    if (at == text || (*at != '\0' && *at != '\n' && *at != ' '))
        return NULL;
    *out = value;
    return *at == ' ' ? at + 1 : at;
}

/* Reads the file `name` of a group. */
static bool read_member(const char *directory, const char *name, char *text, size_t size) {
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && read_text(path, text, size);
}

/* The number above 0 in a file that holds nothing else; UINT64_MAX for any other content. */
static uint64_t read_bound(const char *directory, const char *name) {
    char text[64];
    uint64_t value;
    if (!read_member(directory, name, text, sizeof text))
        return UINT64_MAX;
    const char *rest = read_number(text, &value);
    return rest && (*rest == '\0' || *rest == '\n') && value > 0 ? value : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- The bounds of one group ---- */

typedef uint64_t (*bound_fn)(const char *directory);

static uint64_t memory_of(const char *directory) {
    return least(read_bound(directory, "memory.max"), read_bound(directory, "memory.high"));
}

static uint64_t memory_of_v1(const char *directory) {
    return read_bound(directory, "memory.limit_in_bytes");
}

/* Time of a processor in each period, as processors, rounded up. */
static uint64_t processors_in(uint64_t quota, uint64_t period) {
    if (quota == UINT64_MAX || quota == 0 || period == UINT64_MAX || period == 0)
        return UINT64_MAX;
    return quota / period + (quota % period != 0);
}

static uint64_t processors_of(const char *directory) {
    char text[64];
    uint64_t quota, period;
    if (!read_member(directory, "cpu.max", text, sizeof text))
        return UINT64_MAX;
    const char *rest = read_number(text, &quota);
    return rest && read_number(rest, &period) ? processors_in(quota, period) : UINT64_MAX;
}

static uint64_t processors_of_v1(const char *directory) {
    return processors_in(read_bound(directory, "cpu.cfs_quota_us"),
                         read_bound(directory, "cpu.cfs_period_us"));
}

/* ---- The groups of this process ---- */

/* The least bound of the group at `path` ("/a/b") below the mount point, and of those above it. */
static uint64_t bound_along(const char *root, const char *mount, const char *path, bound_fn bound) {
    char directory[PATH_BYTES];
    int start = snprintf(directory, sizeof directory, "%s%s", root, mount);
    if (start < 0 || (size_t)start >= sizeof directory)
        return UINT64_MAX;
    if (strlen(path) < sizeof directory - (size_t)start && !strstr(path, "/.."))
        strcpy(directory + start, path);
    uint64_t out = UINT64_MAX;
    for (;;) {
        out = least(out, bound(directory));
        char *slash = strrchr(directory + start, '/');
        if (!slash)
            return out;
        *slash = '\0';
    }
}

/* True if the controller is one of a list like "cpu,cpuacct". */
static bool is_listed(const char *list, const char *controller) {
    size_t length = strlen(controller);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, controller, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The controller's bound by one line of /proc/self/cgroup: "number:controllers:path". */
static uint64_t bound_by_line(const char *root, char *line, const char *controller, bound_fn v1,
                              bound_fn v2) {
    char mount[64], *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return UINT64_MAX;
    controllers++;
    *path++ = '\0';
    if (*controllers == '\0') /* version 2; beside version 1 it is often mounted below it */
        return least(bound_along(root, "/sys/fs/cgroup", path, v2),
                     bound_along(root, "/sys/fs/cgroup/unified", path, v2));
    if (!is_listed(controllers, controller))
        return UINT64_MAX;
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    return bound_along(root, mount, path, v1);
}

static uint64_t bound_by_groups(const char *root, const char *controller, bound_fn v1,
                                bound_fn v2) {
    char list[LIST_BYTES];
    if (!read_member(root, "proc/self/cgroup", list, sizeof list))
        return bound_along(root, "/sys/fs/cgroup", "", v2); /* without /proc, as far as we see */
    uint64_t out = UINT64_MAX;
    for (char *line = list, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        out = least(out, bound_by_line(root, line, controller, v1, v2));
    }
    return out;
}

size_t zb__cgroup_processors(const char *root) {
    return (size_t)least(bound_by_groups(root, "cpu", processors_of_v1, processors_of), SIZE_MAX);
}

uint64_t zb__cgroup_memory(const char *root) {
    return bound_by_groups(root, "memory", memory_of_v1, memory_of);
}

/* ---- The machine ---- */

/* The processors that this thread may run on; 0: not known. The system refuses a set that is too
   small for all processors of the machine. */
static size_t usable_processors(void) {
    enum { MOST = 1 << 20 };
    for (size_t places = CPU_SETSIZE; places <= MOST; places *= 2) {
        const size_t size = CPU_ALLOC_SIZE(places);
        cpu_set_t *set = CPU_ALLOC(places);
        if (!set)
            return 0;
        const bool fits = sched_getaffinity(0, size, set) == 0, grows = !fits && errno == EINVAL;
        const size_t count = fits ? (size_t)CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (!grows)
            return count;
    }
    return 0;
}

size_t zb__machine_processors(void) {
    size_t count = usable_processors();
    size_t granted = zb__cgroup_processors("");
    count = count < granted ? count : granted;
    return count ? count : 1;
}

uint64_t zb__machine_memory(void) {
    uint64_t out = zb__cgroup_memory("");
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        out = least(out, (uint64_t)pages * (uint64_t)page);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        out = least(out, limit.rlim_cur);
    return out;
}
