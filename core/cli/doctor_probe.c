/* SPDX-License-Identifier: MIT */
/*
 * Child processes. A library that is loaded may print, wait for ever, or crash: all that is the
 * child's. It gets no input.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"

/* More output of foreign code is read, and dropped. */
#define MOST_OUTPUT ((size_t)1 << 20)

/* For a child that was killed to end; one that waits in the kernel does not. */
enum { LAST_MS = 1000 };

typedef struct stream {
    int fd;
    FILE *file;
    char *text;
    size_t size, taken, most;
} stream;

static void begin_stream(stream *s, int pipe_ends[2]) {
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        abort();
    s->fd = pipe_ends[0];
    s->file = open_memstream(&s->text, &s->size);
    if (!s->file)
        abort();
}

static void take(stream *s) {
    char buffer[4096];
    const ssize_t got = read(s->fd, buffer, sizeof buffer);
    if (got > 0 && s->taken + (size_t)got <= s->most)
        s->taken += fwrite(buffer, 1, (size_t)got, s->file);
    if (got > 0 || (got < 0 && errno == EINTR))
        return;
    close(s->fd);
    s->fd = -1;
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

typedef struct job {
    void (*function)(void *context, FILE *out);
    void *context;
    const char *const *argv; /* NULL: the function */
    bool is_watched;         /* its time is that between two outputs */
} job;

/* Reads until both streams end. Returns when the time is over, or will be. */
static int64_t read_all(stream streams[2], int64_t limit, bool is_watched) {
    int64_t until = now_ms() + limit, left;
    while ((streams[0].fd >= 0 || streams[1].fd >= 0) && (left = until - now_ms()) > 0) {
        struct pollfd wanted[2] = {{.fd = streams[0].fd, .events = POLLIN},
                                   {.fd = streams[1].fd, .events = POLLIN}};
        if (poll(wanted, 2, (int)left) <= 0)
            continue;
        for (int i = 0; i < 2; i++) {
            if (wanted[i].revents)
                take(&streams[i]);
        }
        if (is_watched)
            until = now_ms() + limit;
    }
    return until;
}

/* False where it has not ended when the time is over. */
static bool await(pid_t child, int64_t until, int *status) {
    const struct timespec moment = {.tv_nsec = 1000000};
    for (;;) {
        const pid_t got = waitpid(child, status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR))
            return true; /* nobody knows how it ended where SIGCHLD is ignored */
        if (now_ms() >= until)
            return false;
        nanosleep(&moment, NULL);
    }
}

/* 127 as shells give it for a program that is not there. */
enum { NOT_THERE = 127 };

static _Noreturn void be_child(const job *what, int out, int err) {
    const int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0); /* so that its own children end with it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (what->argv) {
        execvp(what->argv[0], (char *const *)(uintptr_t)what->argv);
        _exit(NOT_THERE);
    }
    what->function(what->context, stdout);
    if (what->is_watched)
        exit(0);
    fflush(stdout);
    _exit(0); /* what a library does at exit is none of our business */
}

/* In a subject's child: its parent gives the time anew. */
static void tell_begin(const doctor *d) {
    if (d->parent)
        fputc('\0', d->parent);
}

static doctor_probe start(const doctor *d, const job *what) {
    const int64_t limit = (int64_t)d->seconds * 1000 + (what->is_watched ? 2 * LAST_MS : 0);
    stream streams[2] = {{.most = what->is_watched ? SIZE_MAX : MOST_OUTPUT},
                         {.most = MOST_OUTPUT}};
    int out[2], err[2], status = 0;
    begin_stream(&streams[0], out);
    begin_stream(&streams[1], err);
    tell_begin(d);
    fflush(NULL); /* what is buffered is printed once */
    const pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0)
        be_child(what, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    const int64_t until = read_all(streams, limit, what->is_watched);
    const bool in_time = await(child, until, &status);
    if (!in_time) {
        kill(-child, SIGKILL);
        (void)await(child, now_ms() + LAST_MS, &status);
    }
    for (int i = 0; i < 2; i++) {
        if (streams[i].fd >= 0)
            close(streams[i].fd);
        fclose(streams[i].file);
    }
    const bool is_exit = in_time && WIFEXITED(status);
    return (doctor_probe){.out = streams[0].text,
                          .err = streams[1].text,
                          .out_size = streams[0].size,
                          .status = is_exit ? WEXITSTATUS(status) : -1,
                          .signal = in_time && WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                          .is_late = !in_time,
                          .is_absent = what->argv && is_exit && WEXITSTATUS(status) == NOT_THERE};
}

doctor_probe doctor_call(const doctor *d, void (*function)(void *context, FILE *out),
                         void *context) {
    return start(d, &(job){.function = function, .context = context});
}

doctor_probe doctor_watch(const doctor *d, void (*function)(void *context, FILE *out),
                          void *context) {
    return start(d, &(job){.function = function, .context = context, .is_watched = true});
}

doctor_probe doctor_run(const doctor *d, const char *const *argv) {
    return start(d, &(job){.argv = argv});
}

void doctor_probe_clear(doctor_probe *probe) {
    free(probe->out);
    free(probe->err);
}

bool doctor_find_crash(doctor *d, const doctor_probe *probe, const char *what) {
    if (probe->is_late)
        doctor_find(d, DOCTOR_ERROR,
                    "%s did not end within %d seconds -> see whether a file system or a host that "
                    "it needs does not answer; --seconds gives it more time",
                    what, d->seconds);
    else if (probe->signal)
        doctor_find(d, DOCTOR_ERROR,
                    "%s crashed (%s) -> install it again, or remove it from the search paths", what,
                    strsignal(probe->signal));
    return probe->is_late || probe->signal;
}

char *doctor_probe_value(const doctor_probe *probe, const char *name, size_t index) {
    const size_t length = strlen(name);
    for (const char *line = probe->out; line && *line;) {
        const size_t size = strcspn(line, "\n");
        if (strncmp(line, name, length) == 0 && line[length] == '=' && index-- == 0) {
            char *value = strndup(line + length + 1, size - length - 1);
            if (!value)
                abort();
            return value;
        }
        line += size + (line[size] == '\n');
    }
    return NULL;
}

long doctor_probe_number(const doctor_probe *probe, const char *name) {
    char *text = doctor_probe_value(probe, name, 0);
    const long number = text ? strtol(text, NULL, 10) : 0;
    free(text);
    return number;
}

char *doctor_probe_words(const doctor_probe *probe) {
    const char *found = NULL;
    size_t length = 0;
    for (const char *line = probe->err; line && *line;) {
        const size_t size = strcspn(line, "\n");
        if (strspn(line, " \t") < size) {
            found = line + strspn(line, " \t");
            length = size - strspn(line, " \t");
        }
        line += size + (line[size] == '\n');
    }
    return found ? strndup(found, length) : NULL;
}
