/* SPDX-License-Identifier: MIT */
/*
 * Editing on the text, not on the parsed tree: numbers, escapes, white space and members that we do
 * not know survive because they are never written anew.
 *
 * The text has been parsed, so it is known to be right, and finding the ends of values takes a few
 * lines. Names are compared in the tree, where escapes are resolved; the n-th member of an object
 * there is the n-th one in the text.
 */
#include "node/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_print.h"
#include "base/text.h"
#include "zarrbridge/json.h"

/* ---- Finding values in a text that is known to be right ----------------------------------- */

static const char *skip_space(const char *c) {
    return c + strspn(c, " \t\r\n");
}

/* From the opening quote to behind the closing one. */
static const char *skip_string(const char *c) {
    for (c++; *c != '"'; c++)
        c += *c == '\\';
    return c + 1;
}

/* From a value's first character to behind its last. */
static const char *skip_value(const char *c) {
    int depth = 0;
    if (*c != '"' && *c != '{' && *c != '[')
        return c + strcspn(c, ",]} \t\r\n");
    do {
        if (*c == '"') {
            c = skip_string(c);
            continue;
        }
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
        c++;
    } while (depth > 0);
    return c;
}

/* A member in the text: where the white space before its name, the name, the value begin, and where
   the value ends. */
typedef struct place {
    const char *space, *name, *value, *end;
} place;

/* The member that begins at or behind c, which stands behind "{" or ",". */
static place place_at(const char *c) {
    place p = {.space = c, .name = skip_space(c)};
    p.value = skip_space(skip_space(skip_string(p.name)) + 1); /* the colon between */
    p.end = skip_value(p.value);
    return p;
}

/* The n-th member of the object that begins at c. */
static place place_of(const char *c, size_t n) {
    place p = place_at(c + 1);
    for (; n > 0; n--)
        p = place_at(skip_space(p.end) + 1);
    return p;
}

/* The index of a member, or SIZE_MAX. */
static size_t index_of(const zb_json *object, const char *name) {
    size_t i = 0;
    for (const zb_json *m = zb_json_first(object); m; m = zb_json_next(m), i++) {
        if (name && strcmp(zb_json_name(m), name) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* ---- Splicing ----------------------------------------------------------------------------- */

/* An object that is edited. */
typedef struct site {
    const zb_json *json;
    const char *text; /* from its "{" on */
    int level;        /* of its members' lines, or -1 in a document without line breaks */
} site;

static void put_value(zb__text *out, const site *s, const zb_json *value) {
    zb__json_put(out, value, s->level);
}

/* A new member in the style of its neighbour: the white space before that one's name. */
static void put_member(zb__text *out, const site *s, const place *neighbour, const char *name,
                       const zb_json *value) {
    if (neighbour)
        zb__text_put(out, neighbour->space, (size_t)(neighbour->name - neighbour->space));
    else if (s->level >= 0)
        zb__text_add_line(out, s->level);
    zb__text_add_quoted(out, name);
    zb__text_add(out, s->level >= 0 ? ": " : ":");
    put_value(out, s, value);
}

/* Writes what replaces the text from *from to *to, which it sets. */
static void splice_new(zb__text *out, const site *s, const char *name, const zb_json *value,
                       const char *before, const char **from, const char **to) {
    size_t count = zb_json_count(s->json);
    size_t next = index_of(s->json, before);
    if (count == 0) { /* white space between the braces goes */
        *from = s->text + 1;
        *to = skip_space(*from);
        put_member(out, s, NULL, name, value);
        if (s->level >= 0)
            zb__text_add_line(out, s->level - 1);
        return;
    }
    place p = place_of(s->text, next < count ? next : count - 1);
    *from = *to = next < count ? p.space : p.end;
    if (next >= count)
        zb__text_add(out, ",");
    put_member(out, s, &p, name, value);
    if (next < count)
        zb__text_add(out, ",");
}

/* One comma goes with the member: the one before it, or behind it when it is the first. */
static void splice_removal(const site *s, size_t index, const char **from, const char **to) {
    place p = place_of(s->text, index);
    const char *behind = skip_space(p.end);
    if (zb_json_count(s->json) == 1) {
        *from = s->text + 1;
        *to = behind;
    } else if (index == 0) {
        *from = p.space;
        *to = behind + 1;
    } else {
        *from = place_of(s->text, index - 1).end;
        *to = p.end;
    }
}

/* Follows path from the document's root. */
static enum zb_code find_site(const zb__document *document, const char *const *path, site *s,
                              zb_error *err) {
    bool lines = memchr(document->text, '\n', document->size) != NULL;
    *s =
        (site){.json = document->json, .text = skip_space(document->text), .level = lines ? 1 : -1};
    for (; path && *path && s->json; path++) {
        size_t index = index_of(s->json, *path);
        if (index < SIZE_MAX)
            s->text = place_of(s->text, index).value;
        s->json = zb_json_get(s->json, *path);
        s->level += lines;
    }
    if (zb_json_kind_of(s->json) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "%s is no object", path ? path[-1] : "the document");
    return ZB_OK;
}

enum zb_code zb__document_edit(zb__document *document, const char *const *path, const char *name,
                               const zb_json *value, const char *before, zb_error *err) {
    site s;
    enum zb_code code = find_site(document, path, &s, err);
    if (code)
        return code;
    size_t index = index_of(s.json, name);
    zb__text middle = {0}, whole = {0};
    const char *from, *to;
    if (index == SIZE_MAX && !value)
        return ZB_OK;
    if (index == SIZE_MAX) {
        splice_new(&middle, &s, name, value, before, &from, &to);
    } else if (value) {
        place p = place_of(s.text, index);
        from = p.value;
        to = p.end;
        put_value(&middle, &s, value);
    } else {
        splice_removal(&s, index, &from, &to);
    }
    size_t size;
    char *text = zb__text_take(&middle, &size);
    zb__text_put(&whole, document->text, (size_t)(from - document->text));
    if (text)
        zb__text_put(&whole, text, size);
    free(text);
    zb__text_put(&whole, to, document->size - (size_t)(to - document->text));
    char *edited = text ? zb__text_take(&whole, &size) : NULL;
    if (!edited) {
        free(whole.data);
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    }
    zb__document old = *document;
    code = zb__document_parse(edited, size, "the changed document", document, err);
    if (code)
        *document = old;
    else
        zb__document_free(&old);
    return code;
}

/* ---- Documents ---------------------------------------------------------------------------- */

enum zb_code zb__document_parse(char *text, size_t size, const char *what, zb__document *out,
                                zb_error *err) {
    zb_json *json;
    enum zb_code code = zb_json_parse(text, size, &json, err);
    if (code) {
        free(text);
        return zb_error_prefix(err, code, "%s", what);
    }
    *out = (zb__document){.text = text, .size = size, .json = json};
    return ZB_OK;
}

void zb__document_free(zb__document *document) {
    free(document->text);
    zb_json_free(document->json);
    *document = (zb__document){.text = NULL};
}
