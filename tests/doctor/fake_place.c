/* SPDX-License-Identifier: MIT */
/* Another file system, by preloading: FAKE_MAGIC is its number, FAKE_MOUNTS a file in place of
   /proc/self/mountinfo, FAKE_LOCKS=refuse or grant its answer to locks, FAKE_TIMES=coarse.
   FAKE_ANSWER=never: statfs returns when its parent has ended; never-in-kernel: and no signal ends
   it before; crash. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static const char *said(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static void answer_late(void) {
    const pid_t parent = getppid();
    const struct timespec moment = {.tv_nsec = 10000000};
    while (getppid() == parent)
        nanosleep(&moment, NULL);
    _exit(0);
}

int prctl(int option, ...) {
    (void)option;
    return 0; /* nothing ends it with its parent, as nothing ends what waits in the kernel */
}

int kill(pid_t process, int signal) {
    return strcmp(said("FAKE_ANSWER"), "never-in-kernel") == 0
               ? 0
               : (int)syscall(SYS_kill, process, signal);
}

int statfs(const char *path, struct statfs *info) {
    int (*real)(const char *, struct statfs *);
    if (strncmp(said("FAKE_ANSWER"), "never", 5) == 0)
        answer_late();
    if (strcmp(said("FAKE_ANSWER"), "crash") == 0)
        abort();
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "statfs");
    const int result = real(path, info);
    if (result == 0 && *said("FAKE_MAGIC"))
        info->f_type = (__fsword_t)strtoul(said("FAKE_MAGIC"), NULL, 16);
    return result;
}

FILE *fopen(const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *);
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "fopen");
    const bool is_mounts = strcmp(path, "/proc/self/mountinfo") == 0 && *said("FAKE_MOUNTS");
    return real(is_mounts ? said("FAKE_MOUNTS") : path, mode);
}

int fcntl(int file, int command, ...) {
    int (*real)(int, int, void *);
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "fcntl");
    if (command == F_OFD_SETLK && strcmp(said("FAKE_LOCKS"), "grant") == 0)
        return 0;
    if (command == F_OFD_SETLK && strcmp(said("FAKE_LOCKS"), "refuse") == 0) {
        errno = ENOLCK;
        return -1;
    }
    return real(file, command, argument);
}

int futimens(int file, const struct timespec times[2]) {
    int (*real)(int, const struct timespec *);
    const struct timespec seconds[2] = {{.tv_sec = times[0].tv_sec}, {.tv_sec = times[1].tv_sec}};
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "futimens");
    return real(file, strcmp(said("FAKE_TIMES"), "coarse") == 0 ? seconds : times);
}
