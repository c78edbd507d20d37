/* SPDX-License-Identifier: MIT */
/*
 * The libinih of a distribution takes lines of 200 bytes, and a session token has a thousand.
 * Longer lines are handed to it as a line and its continuations, as which it reports them, one by
 * one. Indented lines of the file are of nested settings, and not ours.
 */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secret.h"

#define MOST_BYTES (1024 * 1024) /* of a file */
#define LONGEST_NAME 36          /* of a profile: libinih compares sections of 50 bytes */
#define LONGEST_VALUE 65536

typedef struct reader {
    const char *at, *end; /* of the text */
    bool in_line;         /* `at` is within a line, whose begin was read */
    bool is_nested;       /* the line is indented in the file */
    bool is_expected;     /* a piece of a line is to be reported */
    bool is_rest;         /* it is no first piece */
    bool is_broken;
    const char *head, *name;
    zb__profile *out;
    size_t taken; /* a bit for each field: it was empty before this file */
    enum zb_code code;
} reader;

/* ---- Settings ---- */

static char **field_of(zb__profile *profile, const char *name, unsigned *number) {
    static const char *const names[] = {"aws_access_key_id",
                                        "aws_secret_access_key",
                                        "aws_session_token",
                                        "credential_process",
                                        "region",
                                        "endpoint_url"};
    char **const fields[] = {&profile->id,      &profile->secret, &profile->token,
                             &profile->process, &profile->region, &profile->endpoint};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *number = i;
            return fields[i];
        }
    }
    return NULL;
}

static bool leads_elsewhere(const char *name) {
    static const char *const names[] = {"role_arn",
                                        "sso_session",
                                        "sso_account_id",
                                        "sso_start_url",
                                        "web_identity_token_file",
                                        "credential_source",
                                        "source_profile",
                                        "login_session"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_section(const reader *r, const char *section) {
    const size_t length = strlen(r->head);
    if (strncmp(section, r->head, length) == 0 && strcmp(section + length, r->name) == 0)
        return true;
    return strcmp(r->name, "default") == 0 && strcmp(section, "default") == 0;
}

static enum zb_code set(reader *r, char **field, const char *value) {
    const char *begin = r->is_rest && *field ? *field : "";
    char *longer = NULL;
    if (strlen(begin) + strlen(value) > LONGEST_VALUE)
        return ZB_ELIMIT;
    if (asprintf(&longer, "%s%s", begin, value) < 0)
        return ZB_ENOMEM;
    zb__secret_free(*field);
    *field = longer;
    return ZB_OK;
}

/* libinih's callback; 0 would be an error, and not end anything. */
static int take(void *context, const char *section, const char *name, const char *value) {
    reader *r = context;
    unsigned number;
    r->is_expected = false;
    if (r->is_nested || r->code || !name || !is_section(r, section))
        return 1;
    r->out->exists = true;
    r->out->is_elsewhere |= leads_elsewhere(name);
    char **field = field_of(r->out, name, &number);
    if (!field || !value)
        return 1;
    if (!*field && !r->is_rest)
        r->taken |= (size_t)1 << number;
    if (r->taken & ((size_t)1 << number))
        r->code = set(r, field, value);
    return 1;
}

/* ---- Lines ---- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The bytes of a piece of at most `room`: it neither ends with a blank nor is followed by one,
   since libinih cuts them off; nor by a sign that begins a comment there. 0: there is no such
   place. */
static size_t piece_length(const char *at, size_t length, size_t room) {
    if (length <= room)
        return length;
    for (size_t n = room; n > 0; n--) {
        if (!is_blank(at[n - 1]) && !strchr("=:", at[n - 1]) && !is_blank(at[n]) &&
            !strchr(";#", at[n]))
            return n;
    }
    return 0;
}

static bool is_setting(const char *line, size_t length) {
    return !is_blank(line[0]) && !strchr("#;[", line[0]) &&
           (memchr(line, '=', length) || memchr(line, ':', length));
}

/* libinih's reader, as fgets. */
static char *next_piece(char *buffer, int size, void *context) {
    reader *r = context;
    if (r->is_expected)
        r->is_broken = true; /* the piece before was not understood */
    if (r->at == r->end || size < 8)
        return NULL;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const size_t length = (size_t)((newline ? newline : r->end) - r->at);
    const size_t room =
        (size_t)size - 6; /* a blank, a newline and a NUL, and what libinih keeps free */
    char *out = buffer;
    r->is_rest = r->in_line;
    if (!r->in_line)
        r->is_nested = length && is_blank(*r->at);
    const bool is_long = length > room && (r->in_line || is_setting(r->at, length));
    size_t count = is_long ? piece_length(r->at, length, room) : length < room ? length : room;
    if (!count && length) {
        r->is_broken = true;
        count = room;
    }
    if (r->is_rest)
        *out++ = ' ';
    memcpy(out, r->at, count);
    memcpy(out + count, "\n", 2);
    const bool is_all = count == length || !is_long;
    r->is_expected = is_long && !r->is_nested;
    r->in_line = !is_all;
    r->at = is_all ? (newline ? newline + 1 : r->end) : r->at + count;
    return buffer;
}

enum zb_code zb__profile_parse(const char *text, size_t size, const char *head, const char *name,
                               zb__profile *out, zb_error *err) {
    reader r = {.at = text, .end = text + size, .head = head, .name = name, .out = out};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.at += 3;
    const int line = ini_parse_stream(next_piece, &r, take, &r);
    if (r.code == ZB_ENOMEM || line == -2)
        return zb_fail(err, ZB_ENOMEM, "no memory for a profile");
    if (r.code)
        return zb_fail(err, ZB_EINVAL, "a value of the profile is too long");
    if (r.is_broken || r.is_expected || memchr(text, '\0', size))
        return zb_fail(err, ZB_EINVAL, "a line cannot be understood");
    return ZB_OK;
}

/* ---- Files ---- */

static enum zb_code fail_file(zb_error *err, const char *path, int sys_errno) {
    if (sys_errno == ENOMEM)
        return zb_fail(err, ZB_ENOMEM, "no memory for '%s'", path);
    return zb_fail(err, ZB_EINVAL, "cannot read '%s': %s", path, strerror(sys_errno));
}

/* *text is NULL where there is no such file, and for the null device, by which users say that they
   have none. */
static enum zb_code read_file(const char *path, char **text, size_t *size, zb_error *err) {
    struct stat st;
    *text = NULL;
    *size = 0;
    if (strcmp(path, "/dev/null") == 0)
        return ZB_OK;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR ? ZB_OK : fail_file(err, path, errno);
    int failed = fstat(file, &st) != 0 ? errno : !S_ISREG(st.st_mode) ? EINVAL : 0;
    if (!failed && st.st_size > MOST_BYTES)
        failed = EFBIG;
    if (!failed && !(*text = malloc((size_t)st.st_size + 1)))
        failed = ENOMEM;
    while (!failed && *size < (size_t)st.st_size) {
        const ssize_t got = read(file, *text + *size, (size_t)st.st_size - *size);
        if (got < 0 && errno != EINTR)
            failed = errno;
        else if (got == 0)
            break;
        else if (got > 0)
            *size += (size_t)got;
    }
    close(file);
    if (!failed)
        return ZB_OK;
    free(*text);
    *text = NULL;
    return fail_file(err, path, failed);
}

static enum zb_code read_one(const char *path, const char *head, const char *name, zb__profile *out,
                             zb_error *err) {
    char *text;
    size_t size;
    enum zb_code code = path ? read_file(path, &text, &size, err) : ZB_OK;
    if (code || !path || !text)
        return code;
    code = zb__profile_parse(text, size, head, name, out, err);
    explicit_bzero(text, size);
    free(text);
    return code ? zb_error_prefix(err, code, "'%s'", path) : ZB_OK;
}

enum zb_code zb__profile_read(const char *credentials_file, const char *config_file,
                              const char *name, zb__profile *out, zb_error *err) {
    *out = (zb__profile){.id = NULL};
    if (strlen(name) > LONGEST_NAME)
        return zb_fail(err, ZB_EINVAL, "the profile's name is longer than %d bytes", LONGEST_NAME);
    enum zb_code code = read_one(credentials_file, "", name, out, err);
    if (!code)
        code = read_one(config_file, "profile ", name, out, err);
    if (code)
        zb__profile_clear(out);
    return code;
}

void zb__profile_clear(zb__profile *profile) {
    zb__secret_free(profile->id);
    zb__secret_free(profile->secret);
    zb__secret_free(profile->token);
    free(profile->process);
    free(profile->region);
    free(profile->endpoint);
    *profile = (zb__profile){.id = NULL};
}
