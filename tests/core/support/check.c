/* SPDX-License-Identifier: MIT */
#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Read by the sanitizers at start. Sizes that cannot be had are cases to test, not bugs; so are
   forks with threads around, which a child then never joins. A report ends the process: children
   end without exit handlers, so that it would not show in their exit status. */
ZB_API const char *__asan_default_options(void);
ZB_API const char *__tsan_default_options(void);

const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1 die_after_fork=0 report_thread_leaks=0 "
           "halt_on_error=1";
}

bool check_in_child(void (*fn)(void *context), void *context, const char *variable,
                    const char *value) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (variable)
            setenv(variable, value, 1);
        fn(context);
        fflush(NULL);
        _exit(0); /* no exit handlers: they are the parent's */
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    if (!WIFEXITED(status))
        print_error("the child was ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

check_length check_test_length(void) {
    const char *text = getenv("ZARRBRIDGE_TEST_LENGTH");
    if (!text || strcmp(text, "short") == 0)
        return CHECK_SHORT;
    assert_true(strcmp(text, "long") == 0 || strcmp(text, "full") == 0);
    return text[0] == 'l' ? CHECK_LONG : CHECK_FULL;
}

/* The thread's times of having slept, with the one that lasts; 0: it does not sleep, -1: it has
   ended. Allocates nothing, which might have it wait for us. */
static long count_sleeps(int thread) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    const char *sleeps = strstr(text, "\nvoluntary_ctxt_switches:");
    return sleeps && strstr(text, "\nState:\tS") ? 1 + strtol(strchr(sleeps, ':') + 1, NULL, 10)
                                                 : 0;
}

bool check_await_sleep(const atomic_int *thread) {
    const struct timespec pause = {.tv_nsec = 200000};
    for (long before = 0, now;; before = now) {
        const int id = atomic_load(thread);
        now = id ? count_sleeps(id) : 0;
        if (now < 0 || (now > 0 && now == before))
            return now > 0;
        nanosleep(&pause, NULL);
    }
}

check_random check_random_new(void) {
    const char *text = getenv("ZARRBRIDGE_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    print_message("ZARRBRIDGE_SEED=%llu\n", (unsigned long long)seed);
    return (check_random){.state = seed};
}

uint64_t check_random_next(check_random *random) { /* splitmix64 */
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t check_random_in(check_random *random, uint64_t low, uint64_t high) {
    return low + check_random_next(random) % (high - low + 1);
}

char *check_new_directory(void) {
    const char *parent = getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/zb-test-XXXXXX", parent ? parent : "/tmp") > 0);
    assert_non_null(mkdtemp(path));
    return path;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void check_remove_directory(char *path) {
    assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(path);
}

void check_write_file(const char *root, const char *key, const void *data, size_t size) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", root, key);
    assert_true(length > 0 && (size_t)length < sizeof path);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

int check_descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
