/* SPDX-License-Identifier: MIT */
/*
 * Editing on the text, not on the parsed tree: numbers, escapes, white space and members that we do
 * not know survive because they are never written anew. The tree knows where its values stand.
 */
#include "node/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "zarrbridge/json.h"

/* A change of an object in a text: the bytes [from, to) go, those in `out` come. */
typedef struct splice {
    const char *text;
    const zb_json *object;
    bool lines;     /* the document has line breaks */
    unsigned level; /* indent of the object's members */
    size_t from, to;
    zb_json_writer out;
} splice;

/* The place where the white space before a member's name begins. */
static size_t space_before(const splice *s, const zb_json *member) {
    size_t at = zb_json_place_of(member).name;
    while (strchr(" \t\r\n", s->text[at - 1]))
        at--;
    return at;
}

/* The member before this one, or the last of all when this one is NULL; NULL when there is none. */
static const zb_json *member_before(const zb_json *object, const zb_json *member) {
    const zb_json *before = NULL;
    for (const zb_json *m = zb_json_first(object); m != member; m = zb_json_next(m))
        before = m;
    return before;
}

/* A new member in the style of its neighbour: the white space before the neighbour's name comes
   before its own. */
static void put_member(splice *s, const zb_json *neighbour, const char *name,
                       const zb_json *value) {
    if (neighbour) {
        size_t space = space_before(s, neighbour);
        zb__text_put(&s->out.text, s->text + space, zb_json_place_of(neighbour).name - space);
    } else if (s->lines) {
        zb__text_add_line(&s->out.text, s->level);
    }
    zb_json_write_name(&s->out, name);
    zb_json_write_value(&s->out, value);
}

static void add(splice *s, const char *name, const zb_json *value, const char *before) {
    const zb_json *next = before ? zb_json_get(s->object, before) : NULL;
    const zb_json *last = member_before(s->object, NULL);
    zb_json_place object = zb_json_place_of(s->object);
    if (next) {
        s->from = s->to = space_before(s, next);
        put_member(s, next, name, value);
        zb__text_add(&s->out.text, ",");
    } else if (last) {
        s->from = s->to = zb_json_place_of(last).end;
        zb__text_add(&s->out.text, ",");
        put_member(s, last, name, value);
    } else { /* white space between the braces goes */
        s->from = object.begin + 1;
        s->to = object.end - 1;
        put_member(s, NULL, name, value);
        if (s->lines)
            zb__text_add_line(&s->out.text, s->level - 1);
    }
}

/* One comma goes with the member: the one before it, or behind it when it is the first. By the text,
   since of members that stand twice the tree has one. */
static void take_out(splice *s, const zb_json *member) {
    s->from = space_before(s, member);
    s->to = zb_json_place_of(member).end;
    if (s->text[s->from - 1] == ',') {
        s->from--;
        while (strchr(" \t\r\n", s->text[s->from - 1]))
            s->from--;
        return;
    }
    while (strchr(" \t\r\n", s->text[s->to]))
        s->to++;
    s->to += s->text[s->to] == ',';
}

/* Follows path, names from the document's root. */
static enum zb_code find_object(const zb__document *document, const char *const *path, splice *s,
                                zb_error *err) {
    bool lines = memchr(document->text, '\n', document->size) != NULL;
    *s = (splice){.text = document->text, .object = document->json, .lines = lines, .level = 1};
    for (; path && *path && s->object; path++, s->level++)
        s->object = zb_json_get(s->object, *path);
    if (zb_json_kind_of(s->object) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "%s is no object", path ? path[-1] : "the document");
    if (lines)
        s->out = zb__json_indented(s->level);
    return ZB_OK;
}

/* The text after the change, which ends the splice; NULL when memory runs out. */
static char *spliced(splice *s, size_t *size) {
    zb__text whole = {0};
    size_t length;
    char *text = zb__text_take(&s->out.text, &length);
    if (!text)
        return NULL;
    zb__text_put(&whole, s->text, s->from);
    zb__text_put(&whole, text, length);
    zb__text_put(&whole, s->text + s->to, *size - s->to);
    free(text);
    return zb__text_take(&whole, size);
}

/* Parses as the old document was parsed. */
static enum zb_code parse_like(const zb__document *old, char *text, size_t size, zb__document *out,
                               zb_error *err) {
    static const char what[] = "the changed document";
    return old->is_outline ? zb__document_outline(text, size, what, out, err)
                           : zb__document_parse(text, size, what, out, err);
}

/* The document after the change, which ends the splice. */
static enum zb_code apply(splice *s, const zb__document *document, zb__document *out,
                          zb_error *err) {
    size_t size = document->size;
    char *edited = spliced(s, &size);
    return edited ? parse_like(document, edited, size, out, err)
                  : zb_fail(err, ZB_ENOMEM, "out of memory for a document");
}

enum zb_code zb__document_edit(zb__document *document, const char *const *path, const char *name,
                               const zb_json *value, const char *before, zb_error *err) {
    splice s;
    zb__document edited;
    enum zb_code code = find_object(document, path, &s, err);
    if (code)
        return code;
    const zb_json *member = zb_json_get(s.object, name);
    if (!member && !value)
        return ZB_OK;
    if (!member) {
        add(&s, name, value, before);
    } else if (value) {
        s.from = zb_json_place_of(member).begin;
        s.to = zb_json_place_of(member).end;
        zb_json_write_value(&s.out, value);
    } else {
        take_out(&s, member);
    }
    code = apply(&s, document, &edited, err);
    if (code)
        return code;
    zb__document_free(document);
    *document = edited;
    return ZB_OK;
}

enum zb_code zb__document_without(const zb__document *document, const char *name, zb__document *out,
                                  zb_error *err) {
    splice s;
    enum zb_code code = find_object(document, NULL, &s, err);
    const zb_json *member = code ? NULL : zb_json_get(s.object, name);
    if (member)
        take_out(&s, member);
    return code ? code : apply(&s, document, out, err);
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* What both ways to parse have in common: json has been made, or code tells why not. */
static enum zb_code parsed(char *text, size_t size, const char *what, zb__document made,
                           enum zb_code code, zb__document *out, zb_error *err) {
    if (code) {
        free(text);
        return zb_error_prefix(err, code, "%s", what);
    }
    made.text = text;
    made.size = size;
    *out = made;
    return ZB_OK;
}

enum zb_code zb__document_parse(char *text, size_t size, const char *what, zb__document *out,
                                zb_error *err) {
    zb__document made = {.is_outline = false};
    enum zb_code code = zb__json_parse_document(text, size, &made.json, err);
    return parsed(text, size, what, made, code, out, err);
}

enum zb_code zb__document_outline(char *text, size_t size, const char *what, zb__document *out,
                                  zb_error *err) {
    zb__document made = {.is_outline = true};
    enum zb_code code = zb__json_parse_outline(text, size, &made.json, err);
    return parsed(text, size, what, made, code, out, err);
}

void zb__document_free(zb__document *document) {
    free(document->text);
    zb_json_free(document->json);
    *document = (zb__document){.text = NULL};
}
