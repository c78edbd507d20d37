/* SPDX-License-Identifier: MIT */
#include "cred_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "zarrbridge/json.h"

#define MOST_OUTPUT 65536
#define SECONDS 60

/* ---- What it prints ---- */

/* "2030-01-02T03:04:05Z", also with a fraction of seconds or an offset from UTC. */
static bool parse_time(const char *text, int64_t *out) {
    struct tm parts = {.tm_year = 0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (!rest)
        return false;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    const char *end = strptime(rest, "%z", &parts);
    if (!end || *end)
        return false;
    const long offset = parts.tm_gmtoff; /* timegm() sets it to 0 */
    *out = (int64_t)timegm(&parts) - offset;
    return true;
}

static bool copy_member(const zb_json *root, const char *name, char **out) {
    const char *text = zb_json_string(zb_json_get(root, name));
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

static enum zb_code take(const zb_json *root, zb__cred *out, zb_error *err) {
    int64_t version = 1;
    const zb_json *number = zb_json_get(root, "Version");
    const char *expires = zb_json_string(zb_json_get(root, "Expiration"));
    if (number && (!zb_json_int64(number, &version) || version != 1))
        return zb_fail(err, ZB_EIO, "prints credentials of another version than 1");
    if (expires && !parse_time(expires, &out->expires))
        return zb_fail(err, ZB_EIO, "prints an Expiration that is no time");
    if (!copy_member(root, "AccessKeyId", &out->id) ||
        !copy_member(root, "SecretAccessKey", &out->secret) ||
        !copy_member(root, "SessionToken", &out->token))
        return zb_fail(err, ZB_ENOMEM, "no memory for credentials");
    if (!out->id || !out->secret)
        return zb_fail(err, ZB_EIO, "prints no AccessKeyId and SecretAccessKey");
    return zb__cred_check(out, err);
}

enum zb_code zb__cred_parse(const char *text, size_t size, zb__cred *out, zb_error *err) {
    zb_json *root;
    zb_error inner; /* may have parts of the text */
    *out = (zb__cred){.id = NULL};
    enum zb_code code = zb_json_parse(text, size, &root, &inner);
    if (code == ZB_ENOMEM)
        return zb_fail(err, code, "no memory for credentials");
    if (code)
        return zb_fail(err, ZB_EIO, "prints no JSON");
    code = take(root, out, err);
    zb_json_free(root);
    if (code)
        zb__cred_clear(out);
    return code;
}

/* ---- The program ---- */

/* Signals are as in a new process: the thread that runs it may block some. */
static int start(const char *const *argv, int output, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    sigemptyset(&signals);
    int failed = posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGCHLD);
    failed |= posix_spawnattr_setsigdefault(&attributes, &signals);
    failed |= posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed |= posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    failed |= posix_spawn_file_actions_adddup2(&files, output, 1);
    failed |= posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    failed = failed
                 ? ENOMEM
                 : posix_spawnp(child, argv[0], &files, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* All that it prints, until it closes its output. Returns errno: ETIMEDOUT, EFBIG, ECANCELED. */
static int read_all(int input, zb__stopper *stopper, char *text, size_t *size) {
    const int64_t latest = zb__now() + SECONDS * ZB__SECOND;
    *size = 0;
    for (;;) {
        struct pollfd wait = {.fd = input, .events = POLLIN};
        const int64_t left = latest - zb__now();
        if (left <= 0)
            return ETIMEDOUT;
        if (zb__is_stopped(stopper))
            return ECANCELED;
        if (poll(&wait, 1, (int)((left < ZB__ASK_NS ? left : ZB__ASK_NS) / 1000000) + 1) <= 0)
            continue;
        if (*size == MOST_OUTPUT)
            return EFBIG;
        const ssize_t got = read(input, text + *size, MOST_OUTPUT - *size);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            *size += (size_t)got;
    }
}

/* A program that ignores the ends of its children has no status of them. */
static int status_of(pid_t child) {
    int status = 0;
    pid_t waited;
    do
        waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    return waited == child ? status : 0;
}

static enum zb_code judge(int failed, int status, const char *what, zb_error *err) {
    if (failed == ECANCELED)
        return zb__fail_stopped(err);
    if (failed == ETIMEDOUT)
        return zb_fail(err, ZB_EIO, "%s: gives no credentials within %d seconds", what, SECONDS);
    if (failed == EFBIG)
        return zb_fail(err, ZB_EIO, "%s: prints too much to be credentials", what);
    if (failed)
        return zb_fail(err, ZB_EIO, "%s: %s", what, strerror(failed));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ZB_OK;
    return zb_fail(err, ZB_EIO, "%s: gives no credentials, but ends with %s %d", what,
                   WIFEXITED(status) ? "status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static enum zb_code run(const char *const *argv, const char *what, zb__stopper *stopper, char *text,
                        size_t *size, zb_error *err) {
    int ends[2];
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return zb_fail(err, ZB_EIO, "%s: %s", what, strerror(errno));
    int failed = start(argv, ends[1], &child);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return failed == ENOENT ? zb_fail(err, ZB_EIO, "%s: there is no such program", what)
                                : judge(failed, 0, what, err);
    }
    failed = read_all(ends[0], stopper, text, size);
    close(ends[0]);
    if (failed)
        kill(child, SIGKILL);
    return judge(failed, status_of(child), what, err);
}

enum zb_code zb__cred_run(const char *const *argv, const char *what, zb__stopper *stopper,
                          zb__cred *out, zb_error *err) {
    size_t size = 0;
    char *text = malloc(MOST_OUTPUT);
    *out = (zb__cred){.id = NULL};
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "no memory for credentials");
    enum zb_code code = run(argv, what, stopper, text, &size, err);
    if (!code) {
        code = zb__cred_parse(text, size, out, err);
        if (code && code != ZB_ENOMEM)
            code = zb_error_prefix(err, code, "%s", what);
    }
    explicit_bzero(text, size);
    free(text);
    return code;
}
