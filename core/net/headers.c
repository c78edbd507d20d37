/* SPDX-License-Identifier: MIT */
#include "headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "secret.h"

#define MOST_HEADERS 64

/* The engine's own say which bytes of which version are meant, or how a message is framed. */
static const char *const ours[] = {
    "accept-encoding", "connection",    "content-length",   "expect", "host",
    "if-match",        "if-none-match", "if-range",         "range",  "te",
    "trailer",         "upgrade",       "transfer-encoding"};

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "!#$%&'*+-.^_`|~";

static enum zb_code check(const char *line, size_t length, zb_error *err) {
    const size_t name = strspn(line, name_bytes);
    if (!name || name >= length || line[name] != ':')
        return zb_fail(err, ZB_EINVAL, "a line of the headers is not 'Name: value'");
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strlen(ours[i]) == name && strncasecmp(ours[i], line, name) == 0)
            return zb_fail(err, ZB_EINVAL, "the header %s cannot be set: requests have their own",
                           ours[i]);
    }
    for (size_t i = name; i < length; i++) {
        if ((unsigned char)line[i] < ' ' ? line[i] != '\t' : line[i] == 127)
            return zb_fail(err, ZB_EINVAL, "the header %.*s has control characters",
                           (int)(name < 60 ? name : 60), line);
    }
    return ZB_OK;
}

enum zb_code zb__headers_read(const char *text, char ***out, zb_error *err) {
    char **headers = calloc(MOST_HEADERS + 1, sizeof *headers);
    enum zb_code code = headers ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for headers");
    size_t count = 0;
    while (!code && text && *text) {
        const size_t end = strcspn(text, "\n");
        const size_t length = end && text[end - 1] == '\r' ? end - 1 : end;
        if (length)
            code = count < MOST_HEADERS
                       ? check(text, length, err)
                       : zb_fail(err, ZB_EINVAL, "there are more than %d headers", MOST_HEADERS);
        if (length && !code && !(headers[count++] = strndup(text, length)))
            code = zb_fail(err, ZB_ENOMEM, "no memory for headers");
        text += end + (text[end] == '\n');
    }
    *out = headers;
    if (code || !count) {
        zb__headers_free(headers);
        *out = NULL;
    }
    return code;
}

void zb__headers_free(char **headers) {
    for (char **header = headers; header && *header; header++)
        zb__secret_free(*header);
    free(headers);
}
