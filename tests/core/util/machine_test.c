/* SPDX-License-Identifier: MIT */
/* The memory and processors that control groups grant, read from directories that are laid out like
   a machine's. */
#include "util/machine.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/check.h"

#define MIB ((uint64_t)1 << 20)

typedef struct file {
    const char *path, *text;
} file;

/* A root with these files; the last has no path. */
static char *new_root(const file *files) {
    char *root = check_new_directory();
    for (; files->path; files++)
        check_write_file(root, files->path, files->text, strlen(files->text));
    return root;
}

static void assert_memory(uint64_t expected, const file *files) {
    char *root = new_root(files);
    uint64_t found = zb__cgroup_memory(root);
    check_remove_directory(root);
    if (found != expected)
        fail_msg("%s, %s: %llu bytes, expected %llu", files[0].text, files[1].text,
                 (unsigned long long)found, (unsigned long long)expected);
}

static void assert_processors(size_t expected, const file *files) {
    char *root = new_root(files);
    size_t found = zb__cgroup_processors(root);
    check_remove_directory(root);
    if (found != expected)
        fail_msg("%s, %s: %zu processors, expected %zu", files[0].text, files[1].text, found,
                 expected);
}

#define ASSERT_MEMORY(expected, ...) assert_memory(expected, (const file[]){__VA_ARGS__, {0}})
#define ASSERT_PROCESSORS(expected, ...)                                                           \
    assert_processors(expected, (const file[]){__VA_ARGS__, {0}})

#define LIST "proc/self/cgroup"
#define TOP "sys/fs/cgroup/"

static void the_least_of_all_levels_counts(void **state) {
    (void)state;
    ASSERT_MEMORY(300 * MIB, {LIST, "0::/a/b\n"}, {TOP "a/b/memory.max", "314572800\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/a/b\n"}, {TOP "a/b/memory.max", "314572800\n"},
                  {TOP "a/memory.max", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/a/b\n"}, {TOP "a/b/memory.max", "314572800\n"},
                  {TOP "a/b/memory.high", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/a/b\n"}, {TOP "memory.max", "104857600"});
    ASSERT_MEMORY(UINT64_MAX, {LIST, "0::/a/b\n"}, {TOP "a/c/memory.max", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/\n"}, {TOP "memory.max", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/a"}, {TOP "unified/a/memory.max", "104857600\n"});
}

/* A container sees the mount of its own group, and may see its path from outside. */
static void paths_that_are_not_there_bound_nothing(void **state) {
    (void)state;
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/host/x/y\n"}, {TOP "memory.max", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/../../x\n"}, {TOP "memory.max", "104857600\n"});
    ASSERT_MEMORY(100 * MIB, {LIST, "0::/a/../../out\n"}, {TOP "memory.max", "104857600\n"},
                  {"sys/fs/out/memory.max", "1000\n"});
    ASSERT_MEMORY(100 * MIB, {"none", ""}, {TOP "memory.max", "104857600\n"});
}

static void version_1_is_read(void **state) {
    (void)state;
    ASSERT_MEMORY(100 * MIB, {LIST, "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n"},
                  {TOP "memory/a/memory.limit_in_bytes", "104857600\n"},
                  {TOP "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"});
    ASSERT_MEMORY(UINT64_MAX, {LIST, "4:memoryx,xmemory:/a\n"},
                  {TOP "memory/a/memory.limit_in_bytes", "104857600\n"});
    ASSERT_PROCESSORS(3, {LIST, "3:cpu,cpuacct:/a\n"}, {TOP "cpu/a/cpu.cfs_quota_us", "250000\n"},
                      {TOP "cpu/a/cpu.cfs_period_us", "100000\n"});
    ASSERT_PROCESSORS(SIZE_MAX, {LIST, "3:cpu:/a\n"}, {TOP "cpu/a/cpu.cfs_quota_us", "-1\n"},
                      {TOP "cpu/a/cpu.cfs_period_us", "100000\n"});
}

static void quotas_are_rounded_up(void **state) {
    (void)state;
    ASSERT_PROCESSORS(2, {LIST, "0::/a\n"}, {TOP "a/cpu.max", "150000 100000\n"});
    ASSERT_PROCESSORS(1, {LIST, "0::/a\n"}, {TOP "a/cpu.max", "1 100000\n"});
    ASSERT_PROCESSORS(4, {LIST, "0::/a/b\n"}, {TOP "a/b/cpu.max", "800000 100000\n"},
                      {TOP "a/cpu.max", "400000 100000\n"});
    static const char *const none[] = {"max 100000\n", "100000\n",   "100000 0\n", "0 100000\n",
                                       "100000 x\n",   "1000x 10\n", "",           "\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_PROCESSORS(SIZE_MAX, {LIST, "0::/a\n"}, {TOP "a/cpu.max", none[i]});
}

static void what_is_no_number_bounds_nothing(void **state) {
    (void)state;
    static const char *const none[] = {
        "max\n",    "",      "\n",        "0\n", "-1\n",
        " 1000\n",  "1k\n",  "1000 10\n", "1e6", "18446744073709551616\n",
        "0x1000\n", "1.5\n", "1000\r\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_MEMORY(UINT64_MAX, {LIST, "0::/a\n"}, {TOP "a/memory.max", none[i]});
    char digits[300];
    memset(digits, '0', sizeof digits);
    strcpy(digits + sizeof digits - 5, "1000");
    ASSERT_MEMORY(UINT64_MAX, {LIST, "0::/a\n"}, {TOP "a/memory.max", digits}); /* cut while read */
    static const char *const lists[] = {"\n",  "0\n",        "0:\n",   "::\n",
                                        "0::", "\n\n0::a\n", ":memory"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ASSERT_MEMORY(UINT64_MAX, {LIST, lists[i]}, {"x", ""});
}

static void long_lists_are_cut(void **state) {
    (void)state;
    size_t size = 100000;
    char *list = malloc(size + 1);
    memset(list, 'x', size);
    memcpy(list, "0::/", 4);
    list[size] = '\0';
    ASSERT_MEMORY(100 * MIB, {LIST, list}, {TOP "memory.max", "104857600\n"}); /* no such path */
    free(list);
}

/* ---- A machine of many processors ---- */

static size_t processors; /* of the machine; 0: of this one */

int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

/* As Linux does, which refuses a set without a bit for each. */
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    if (processors == 0)
        return __real_sched_getaffinity(pid, size, set);
    if (size * 8 < processors) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < processors; i++)
        CPU_SET_S(i, size, set);
    return 0;
}

static void all_processors_count(void **state) {
    (void)state;
    const size_t granted = zb__cgroup_processors("");
    static const size_t counts[] = {1, 1024, 1025, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        processors = counts[i];
        assert_int_equal(zb__machine_processors(), counts[i] < granted ? counts[i] : granted);
    }
    processors = SIZE_MAX; /* the system tells nothing */
    assert_int_equal(zb__machine_processors(), 1);
    processors = 0;
}

/* ---- The limit of this process ---- */

/* A real limit would keep the thread sanitizer from its memory. */
static rlim_t address_space = RLIM_INFINITY;

int __wrap_getrlimit(__rlimit_resource_t resource, struct rlimit *limit);

int __wrap_getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    assert_int_equal(resource, RLIMIT_AS);
    *limit = (struct rlimit){.rlim_cur = address_space, .rlim_max = RLIM_INFINITY};
    return 0;
}

static void the_machine_and_limits_count(void **state) {
    (void)state;
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(zb__machine_memory() > 0 && zb__machine_memory() <= physical);
    assert_true(zb__machine_processors() > 0);
    address_space = 64 * MIB;
    assert_true(zb__machine_memory() <= 64 * MIB);
    address_space = RLIM_INFINITY;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_all_levels_counts),
        cmocka_unit_test(paths_that_are_not_there_bound_nothing),
        cmocka_unit_test(version_1_is_read),
        cmocka_unit_test(quotas_are_rounded_up),
        cmocka_unit_test(what_is_no_number_bounds_nothing),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(all_processors_count),
        cmocka_unit_test(the_machine_and_limits_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
