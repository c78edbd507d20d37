/* SPDX-License-Identifier: MIT */
#include "xml.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_DEPTH 16
#define MOST_TEXT 4096 /* a key has 1024 bytes at most, in Azure as many characters */
_Static_assert(ZB__MARKER > MOST_TEXT, "a marker has room, and so has a key");
#define MOST_NAME 32
#define MOST_ETAG 128

struct zb__page_words {
    const char *service, *root;
    unsigned depth;              /* of the elements that are told */
    const char *object, *key;    /* what has the name of a key... */
    const char *prefix, *begin;  /* ...and that of a prefix */
    const char *has_etag, *etag; /* the second is in the first, at that depth or below it */
    unsigned etag_depth;
    const char *next; /* whether others come, or a marker, in which case ETags have no quotes */
    bool has_marker;
};

/* The elements that are open, by name, and the text of the innermost one. */
typedef struct reader {
    XML_Parser parser;
    char names[MOST_DEPTH][MOST_NAME];
    unsigned depth;
    char text[MOST_TEXT + 1];
    size_t length;
    void (*end)(struct reader *r); /* of an element without others in it */
    enum zb_code code;
    zb_error *err;
    /* ---- of an error */
    zb__s3_error *error;
    /* ---- of a page */
    zb__entry_fn fn;
    char key[MOST_TEXT + 1]; /* of the one that is open */
    char etag[MOST_ETAG];
    void *context;
    bool is_page, is_truncated, says_truncated;
    const zb__page_words *words;
    char *marker; /* of ZB__MARKER bytes */
    /* ---- of a page of uploads */
    zb__s3_begun_fn begun_fn;
    zb__s3_begun begun; /* the one that is open */
    /* ---- of a value */
    const char *root, *name;
    char *out; /* of `room` bytes; NULL once it is found */
    size_t room;
} reader;

static void stop(reader *r, enum zb_code code) {
    r->code = code;
    XML_StopParser(r->parser, XML_FALSE);
}

static void stop_with(reader *r, const char *why) {
    stop(r, zb_fail(r->err, ZB_EIO, "%s", why));
}

static const char *without_namespace(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static void XMLCALL on_start(void *context, const char *name, const char **attributes) {
    reader *r = context;
    name = without_namespace(name);
    r->length = 0;
    for (; r->words && r->words->has_marker && attributes[0]; attributes += 2) {
        if (strcmp(attributes[0], "Encoded") == 0 && strcmp(attributes[1], "true") == 0) {
            stop_with(r, "a name has characters that XML cannot have");
            return;
        }
    }
    if (r->depth == MOST_DEPTH) {
        stop_with(r, "the XML is nested too deep");
        return;
    }
    /* A longer name is none that counts. */
    const size_t length = strlen(name);
    memcpy(r->names[r->depth], length < MOST_NAME ? name : "", length < MOST_NAME ? length + 1 : 1);
    r->depth++;
}

static void XMLCALL on_text(void *context, const char *text, int count) {
    reader *r = context;
    const size_t size = (size_t)count;
    if (size > MOST_TEXT - r->length) {
        stop_with(r, "a text of the XML is too long");
        return;
    }
    memcpy(r->text + r->length, text, size);
    r->length += size;
}

static void XMLCALL on_end(void *context, const char *name) {
    reader *r = context;
    (void)name;
    r->text[r->length] = '\0';
    r->end(r);
    r->length = 0;
    if (r->depth) /* the parser has stopped where an element was not taken in */
        r->depth--;
}

/* A document type could define entities without end. */
static void XMLCALL on_doctype(void *context, const char *name, const char *system_id,
                               const char *public_id, int has_subset) {
    (void)name, (void)system_id, (void)public_id, (void)has_subset;
    stop_with(context, "the XML has a document type");
}

static bool is_at(const reader *r, unsigned depth, const char *parent, const char *name) {
    return r->depth == depth && strcmp(r->names[depth - 1], name) == 0 &&
           (!parent || (depth > 1 && strcmp(r->names[depth - 2], parent) == 0));
}

static bool parse(reader *r, const char *text, size_t size) {
    r->parser = size <= INT_MAX ? XML_ParserCreate(NULL) : NULL;
    if (!r->parser)
        return false;
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    const bool is_whole = XML_Parse(r->parser, text, (int)size, 1) == XML_STATUS_OK;
    const bool lacks = XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY;
    XML_ParserFree(r->parser);
    if (lacks && !r->code)
        r->code = zb_fail(r->err, ZB_ENOMEM, "no memory for XML");
    return is_whole;
}

/* ---- Errors ---- */

static void keep_word(const reader *r, char *out, size_t room) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    if (r->length < room && strspn(r->text, letters) == r->length)
        memcpy(out, r->text, r->length + 1);
}

static void end_in_error(reader *r) {
    if (r->depth < 2 || strcmp(r->names[r->depth - 2], "Error") != 0)
        return;
    if (is_at(r, r->depth, "Error", "Code"))
        keep_word(r, r->error->code, sizeof r->error->code);
    else if (is_at(r, r->depth, "Error", "Region"))
        keep_word(r, r->error->region, sizeof r->error->region);
}

void zb__s3_error_parse(const char *text, size_t size, zb__s3_error *out) {
    reader r = {.end = end_in_error, .error = out};
    *out = (zb__s3_error){.code = ""};
    parse(&r, text, size); /* the body may be cut */
}

static void keep_text(const reader *r, char *out, size_t room) {
    if (r->length < room)
        memcpy(out, r->text, r->length + 1);
}

/* ---- Pages ---- */

const zb__page_words zb__page_of_s3 = {
    "S3",     "ListBucketResult", 2,      "Contents", "Key",         "CommonPrefixes",
    "Prefix", "Contents",         "ETag", 3,          "IsTruncated", false};
const zb__page_words zb__page_of_azure = {
    "Azure", "EnumerationResults", 3,      "Blob", "Name",       "BlobPrefix",
    "Name",  "Properties",         "Etag", 5,      "NextMarker", true};

static void tell(reader *r, bool is_prefix) {
    const char *quote = r->words->has_marker ? "\"" : "";
    char etag[sizeof r->etag + 2] = "";
    if (*r->etag && !is_prefix)
        snprintf(etag, sizeof etag, "%s%s%s", quote, r->etag, quote);
    const zb__entry entry = {.key = r->key, .etag = etag, .is_prefix = is_prefix};
    const enum zb_code code = r->fn(r->context, &entry, r->err);
    r->etag[0] = r->key[0] = '\0';
    if (code)
        stop(r, code);
}

static void end_in_page(reader *r) {
    const zb__page_words *w = r->words;
    if (is_at(r, 1, NULL, w->root))
        r->is_page = true;
    if (strcmp(r->names[0], w->root) != 0)
        return;
    const bool is_object = is_at(r, w->depth, NULL, w->object);
    if (is_at(r, w->depth + 1, w->object, w->key) || is_at(r, w->depth + 1, w->prefix, w->begin)) {
        keep_text(r, r->key, sizeof r->key);
    } else if (is_at(r, w->etag_depth, w->has_etag, w->etag)) {
        keep_text(r, r->etag, sizeof r->etag);
    } else if (is_object || is_at(r, w->depth, NULL, w->prefix)) {
        tell(r, !is_object);
    } else if (is_at(r, 2, NULL, w->next)) {
        r->says_truncated = true;
        r->is_truncated = w->has_marker ? r->length > 0 : strcasecmp(r->text, "true") == 0;
        if (w->has_marker)
            keep_text(r, r->marker, ZB__MARKER);
    }
}

enum zb_code zb__page_parse(const zb__page_words *words, const char *text, size_t size,
                            zb__entry_fn fn, void *context, char marker[ZB__MARKER], bool *goes_on,
                            zb_error *err) {
    reader r = {.end = end_in_page,
                .words = words,
                .fn = fn,
                .context = context,
                .marker = marker,
                .err = err};
    const bool is_whole = parse(&r, text, size);
    *goes_on = r.is_truncated;
    if (r.code || (is_whole && r.is_page && r.says_truncated))
        return r.code;
    return zb_fail(err, ZB_EIO, "the server's list of names is not one of %s", words->service);
}

/* ---- Uploads ---- */

static void end_in_uploads(reader *r) {
    static const char root[] = "ListMultipartUploadsResult";
    if (is_at(r, 1, NULL, root))
        r->is_page = true;
    if (strcmp(r->names[0], root) != 0)
        return;
    if (is_at(r, 3, "Upload", "Key")) {
        keep_text(r, r->begun.key, sizeof r->begun.key);
    } else if (is_at(r, 3, "Upload", "UploadId")) {
        keep_text(r, r->begun.id, sizeof r->begun.id);
    } else if (is_at(r, 3, "Upload", "Initiated")) {
        keep_text(r, r->begun.begun, sizeof r->begun.begun);
    } else if (is_at(r, 2, root, "Upload")) {
        const enum zb_code code = r->begun_fn(r->context, &r->begun, r->err);
        r->begun = (zb__s3_begun){.key = ""};
        if (code)
            stop(r, code);
    } else if (is_at(r, 2, root, "IsTruncated")) {
        r->is_truncated = strcasecmp(r->text, "true") == 0;
    }
}

enum zb_code zb__s3_uploads_parse(const char *text, size_t size, zb__s3_begun_fn fn, void *context,
                                  bool *is_truncated, zb_error *err) {
    reader r = {.end = end_in_uploads, .begun_fn = fn, .context = context, .err = err};
    const bool is_whole = parse(&r, text, size);
    if (r.code)
        return r.code;
    if (!is_whole || !r.is_page)
        return zb_fail(err, ZB_EIO, "the server's list of uploads is not one of S3");
    *is_truncated = r.is_truncated;
    return ZB_OK;
}

/* ---- Values ---- */

static void end_in_value(reader *r) {
    if (!r->out || !is_at(r, 2, r->root, r->name) || r->length == 0 || r->length >= r->room)
        return;
    memcpy(r->out, r->text, r->length + 1);
    r->out = NULL;
}

bool zb__s3_value_parse(const char *text, size_t size, const char *root, const char *name,
                        char *out, size_t room) {
    zb_error unused;
    reader r = {
        .end = end_in_value, .root = root, .name = name, .out = out, .room = room, .err = &unused};
    return parse(&r, text, size) && !r.out;
}
