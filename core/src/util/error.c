/* SPDX-License-Identifier: MIT */
/* The functions of zarrbridge/error.h: formatting into the caller's fixed-size error. */
#include "zarrbridge/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"
#include "zarrbridge/version.h"

/* Keeps a message one line of UTF-8, whatever file names it quotes and wherever it was cut: an
   unfinished character at its end goes, control characters and stray bytes become '?'. `wanted` is
   the length that it would have had uncut. */
static void make_line(char *text, int wanted) {
    size_t left = strlen(text);
    bool was_cut = wanted >= ZB_MESSAGE_SIZE;
    while (left > 0) {
        size_t length = zb__utf8_length(text, left);
        if (length == 0 && was_cut && left < 4 && (unsigned char)*text >= 0xc0) {
            *text = '\0';
            return;
        }
        if (length == 0 || (unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
            length = 1;
        }
        text += length;
        left -= length;
    }
}

static void format_message(zb_error *err, const char *format, va_list args) {
    int wanted = vsnprintf(err->message, sizeof err->message, format, args);
    if (wanted < 0)
        err->message[0] = '\0';
    make_line(err->message, wanted);
}

enum zb_code zb_fail(zb_error *err, enum zb_code code, const char *format, ...) {
    if (err) {
        err->code = code;
        err->sys_errno = 0;
        va_list args;
        va_start(args, format);
        format_message(err, format, args);
        va_end(args);
    }
    return code;
}

static enum zb_code code_of_errno(int sys_errno) {
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
        return ZB_ENOTFOUND;
    case ENOMEM:
        return ZB_ENOMEM;
    default:
        return ZB_EIO;
    }
}

enum zb_code zb_fail_errno(zb_error *err, int sys_errno, const char *format, ...) {
    enum zb_code code = code_of_errno(sys_errno);
    if (err) {
        err->code = code;
        err->sys_errno = sys_errno;
        va_list args;
        va_start(args, format);
        format_message(err, format, args);
        va_end(args);
        size_t used = strlen(err->message);
        char buffer[128];
        /* The GNU strerror_r: it returns the text, which may lie elsewhere than in buffer. */
        int wanted = snprintf(err->message + used, sizeof err->message - used, ": %s",
                              strerror_r(sys_errno, buffer, sizeof buffer));
        make_line(err->message, (int)used + wanted);
    }
    return code;
}

enum zb_code zb_error_prefix(zb_error *err, enum zb_code code, const char *format, ...) {
    if (err) {
        char context[ZB_MESSAGE_SIZE];
        va_list args;
        va_start(args, format);
        vsnprintf(context, sizeof context, format, args);
        va_end(args);
        char message[ZB_MESSAGE_SIZE];
        memcpy(message, err->message, sizeof message);
        int wanted = snprintf(err->message, sizeof err->message, "%s: %s", context, message);
        make_line(err->message, wanted);
    }
    return code;
}

const char *zb_code_name(enum zb_code code) {
    switch (code) {
    case ZB_OK:
        return "ZB_OK";
    case ZB_EIO:
        return "ZB_EIO";
    case ZB_ENOTFOUND:
        return "ZB_ENOTFOUND";
    case ZB_ENOMEM:
        return "ZB_ENOMEM";
    case ZB_EFORMAT:
        return "ZB_EFORMAT";
    case ZB_EUNSUPPORTED:
        return "ZB_EUNSUPPORTED";
    case ZB_EINVAL:
        return "ZB_EINVAL";
    case ZB_ECHECKSUM:
        return "ZB_ECHECKSUM";
    case ZB_ELIMIT:
        return "ZB_ELIMIT";
    case ZB_ECONFLICT:
        return "ZB_ECONFLICT";
    case ZB_ECANCELLED:
        return "ZB_ECANCELLED";
    }
    return "unknown code";
}

const char *zb_version(void) {
    static const char signed_version[] = ZB_FILE_SIGN ZB_VERSION;
    return signed_version + sizeof ZB_FILE_SIGN - 1;
}
