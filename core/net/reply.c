/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A decimal number and nothing before it. Moves *text on. */
static bool take_number(const char **text, uint64_t *out) {
    const char *at = *text;
    uint64_t value = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *text = at;
    *out = value;
    return true;
}

static bool take_char(const char **text, char wanted) {
    if (**text != wanted)
        return false;
    ++*text;
    return true;
}

bool zb__content_range_parse(const char *text, zb__content_range *out) {
    *out = (zb__content_range){.satisfied = false};
    if (strncasecmp(text, "bytes ", 6) != 0)
        return false;
    text += 6;
    text += strspn(text, " ");
    if (!take_char(&text, '*')) {
        out->satisfied = true;
        if (!take_number(&text, &out->first) || !take_char(&text, '-') ||
            !take_number(&text, &out->last) || out->first > out->last)
            return false;
    }
    if (!take_char(&text, '/'))
        return false;
    out->has_size = !take_char(&text, '*');
    if (out->has_size && !take_number(&text, &out->size))
        return false;
    if (*text || (!out->has_size && !out->satisfied))
        return false;
    return !out->has_size || !out->satisfied || out->last < out->size;
}

/* ---- Versions ---- */

bool zb__version_is_strong(const zb__version *version) {
    return version->etag[0] == '"';
}

/* Weak and strong forms of one tag are alike here: a server may mark as weak what it compresses. */
static const char *opaque(const zb__version *version) {
    return strncmp(version->etag, "W/", 2) == 0 ? version->etag + 2 : version->etag;
}

bool zb__version_same(const zb__version *a, const zb__version *b) {
    if (a->size != b->size)
        return false;
    if (a->etag[0] && b->etag[0])
        return strcmp(opaque(a), opaque(b)) == 0;
    return !a->modified || !b->modified || a->modified == b->modified;
}

bool zb__version_identical(const zb__version *a, const zb__version *b) {
    return zb__version_is_strong(a) && a->size == b->size && strcmp(a->etag, b->etag) == 0;
}

/* FNV-1a of 64 bits, with a seed. */
static uint64_t hash(const char *text, uint64_t seed) {
    uint64_t value = 0xcbf29ce484222325u ^ seed;
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    return value ^ value >> 29;
}

zb_validator zb__version_validator(const zb__version *version) {
    const char *tag = opaque(version);
    if (*tag)
        return (zb_validator){.word = {hash(tag, 0), hash(tag, 0x9e3779b97f4a7c15u), version->size,
                                       (uint64_t)strlen(tag)},
                              .valid = true};
    const bool certain = version->modified && version->dated > version->modified + 2;
    return (zb_validator){.word = {(uint64_t)version->modified, 0, version->size, 0},
                          .valid = certain};
}

/* ---- Lines ---- */

/* The value of a line "Name: value" when it has this name; without blanks around it. */
static bool value_of(const char *line, const char *name, const char **value) {
    const size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return false;
    *value = line + length + 1;
    *value += strspn(*value, " \t");
    return true;
}

static void keep(char *field, size_t room, const char *value) {
    const size_t length = strlen(value);
    memcpy(field, value, length < room ? length + 1 : 0);
    if (length >= room)
        *field = '\0';
}

/* Quoted text of printable characters: it is sent back as it came. */
static bool is_etag(const char *text) {
    text += strncmp(text, "W/", 2) == 0 ? 2 : 0;
    const size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < length; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == '"' || text[i] == 0x7f)
            return false;
    }
    return true;
}

static int64_t date_of(const char *value) {
    const time_t when = curl_getdate(value, NULL);
    return when > 0 ? (int64_t)when : 0;
}

static int64_t retry_after_of(const char *value) {
    uint64_t seconds;
    if (take_number(&value, &seconds) && !*value)
        return seconds < 86400 ? (int64_t)seconds : 86400;
    const time_t when = curl_getdate(value, NULL), now = time(NULL);
    if (when < 0)
        return -1;
    return when > now ? (int64_t)(when - now) : 0;
}

/* Two that differ tell nothing. */
static void take_length(zb__reply *reply, bool is_number, uint64_t length) {
    reply->contradicts |= reply->has_length && (!is_number || length != reply->length);
    reply->has_length = is_number && !reply->is_chunked;
    reply->length = length;
}

static void take_field(zb__reply *reply, const char *line) {
    const char *value;
    uint64_t number;
    if (value_of(line, "Content-Length", &value)) {
        const bool is_number = take_number(&value, &number) && !*value;
        take_length(reply, is_number, is_number ? number : 0);
    } else if (value_of(line, "Transfer-Encoding", &value)) {
        reply->is_chunked = strcasecmp(value, "chunked") == 0;
        if (reply->is_chunked)
            reply->has_length = false; /* which does not count then */
    } else if (value_of(line, "Content-Range", &value)) {
        reply->has_range = true;
        reply->range_is_good = zb__content_range_parse(value, &reply->range);
    } else if (value_of(line, "ETag", &value)) {
        if (is_etag(value))
            keep(reply->version.etag, sizeof reply->version.etag, value);
    } else if (value_of(line, "Last-Modified", &value)) {
        reply->version.modified = date_of(value);
    } else if (value_of(line, "Date", &value)) {
        reply->version.dated = date_of(value);
    } else if (value_of(line, "Retry-After", &value)) {
        reply->retry_after = retry_after_of(value);
    } else if (value_of(line, "Content-Type", &value)) {
        keep(reply->content_type, sizeof reply->content_type, value);
    } else if (value_of(line, "Content-Encoding", &value)) {
        keep(reply->encoding, sizeof reply->encoding, value);
        if (strcasecmp(reply->encoding, "identity") == 0)
            reply->encoding[0] = '\0';
        else if (!reply->encoding[0])
            keep(reply->encoding, sizeof reply->encoding, "unknown"); /* too long to keep */
    } else if (value_of(line, "x-amz-bucket-region", &value)) {
        keep(reply->region, sizeof reply->region, value);
    } else if (value_of(line, "x-ms-error-code", &value)) {
        keep(reply->error, sizeof reply->error, value);
    } else if (value_of(line, "x-amz-meta-zb-write", &value) ||
               value_of(line, "x-ms-meta-zbwrite", &value)) {
        keep(reply->write_id, sizeof reply->write_id, value);
    }
}

/* The status of "HTTP/1.1 206 ...", 0 for another line. */
static int status_of(const char *line) {
    const char *blank = strncmp(line, "HTTP/", 5) == 0 ? strchr(line, ' ') : NULL;
    const int status = blank ? atoi(blank + 1) : 0;
    return status >= 100 && status <= 999 ? status : 0;
}

bool zb__reply_line(zb__reply *reply, const char *line, size_t size) {
    char text[1024];
    reply->lines++;
    reply->bytes += size;
    if (reply->lines > ZB__HEAD_LINES || reply->bytes > ZB__HEAD_BYTES)
        return false;
    if (size >= sizeof text || memchr(line, '\0', size))
        return true; /* too long for anything that is looked for */
    memcpy(text, line, size);
    while (size > 0 && strchr("\r\n \t", text[size - 1]))
        size--;
    text[size] = '\0';
    const int status = status_of(text);
    if (status) {
        const size_t lines = reply->lines, bytes = reply->bytes;
        *reply = (zb__reply){.status = status, .lines = lines, .bytes = bytes, .retry_after = -1};
        reply->is_framed = strncmp(text, "HTTP/2", 6) == 0;
    } else {
        take_field(reply, text);
    }
    return true;
}
