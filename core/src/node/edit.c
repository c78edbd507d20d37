/* SPDX-License-Identifier: MIT */
/*
 * Editing on the text, not on the parsed tree: numbers, escapes, white space and members that we do
 * not know survive because they are never written anew. The tree knows where its values stand.
 */
#include "node/edit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/json.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
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

/* One comma goes with the member: the one before it, or behind it when it is the first. By the
   text, since of members that stand twice the tree has one. */
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

/* The same in place. */
static enum zb_code apply_to(splice *s, zb__document *document, zb_error *err) {
    zb__document edited;
    const enum zb_code code = apply(s, document, &edited, err);
    if (code)
        return code;
    zb__document_free(document);
    *document = edited;
    return ZB_OK;
}

/* Sets a member, also one that is not there yet. */
static void set(splice *s, const char *name, const zb_json *value, const char *before) {
    const zb_json *member = zb_json_get(s->object, name);
    if (!member) {
        add(s, name, value, before);
        return;
    }
    s->from = zb_json_place_of(member).begin;
    s->to = zb_json_place_of(member).end;
    zb_json_write_value(&s->out, value);
}

enum zb_code zb__document_edit(zb__document *document, const char *const *path, const char *name,
                               const zb_json *value, const char *before, zb_error *err) {
    splice s;
    enum zb_code code = find_object(document, path, &s, err);
    if (code)
        return code;
    const zb_json *member = zb_json_get(s.object, name);
    if (!member && !value)
        return ZB_OK;
    if (value)
        set(&s, name, value, before);
    else
        take_out(&s, member);
    return apply_to(&s, document, err);
}

enum zb_code zb__document_with(const zb__document *document, const char *name, const zb_json *value,
                               zb__document *out, zb_error *err) {
    splice s;
    enum zb_code code = find_object(document, NULL, &s, err);
    if (code)
        return code;
    set(&s, name, value, NULL);
    return apply(&s, document, out, err);
}

enum zb_code zb__document_replace(zb__document *document, const char *const *path, const char *name,
                                  const char *json, zb_error *err) {
    splice s;
    enum zb_code code = find_object(document, path, &s, err);
    const zb_json *member = code ? NULL : zb_json_get(s.object, name);
    if (!code && !member)
        code = zb_fail(err, ZB_EFORMAT, "there is no member %s to replace", name);
    if (code)
        return code;
    s.from = zb_json_place_of(member).begin;
    s.to = zb_json_place_of(member).end;
    zb_json_write_raw(&s.out, json);
    return apply_to(&s, document, err);
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

/* ---- Many members ------------------------------------------------------------------------- */

/* A member in the new text: an old one, or one that an edit adds. */
typedef struct new_member {
    bool stays;           /* stands in the new text */
    const zb_json *value; /* in place of the old one's; that of an added one */
} new_member;

/* What becomes of the members of an object. */
typedef struct members {
    const splice *s;
    const zb__member_edit *edits;
    size_t old_count, edit_count;
    const zb_json **old; /* [old_count], in the order of the text */
    new_member *of_old;  /* [old_count] */
    new_member *of_edit; /* [edit_count] */
    size_t *order;       /* [edit_count]: the edits by name, those of one name in their order */
} members;

static int compare_edits(const void *a, const void *b, void *context) {
    const zb__member_edit *edits = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const int by_name = strcmp(edits[left].name, edits[right].name);
    return by_name ? by_name : (left > right) - (left < right);
}

/* Members stand in the tree as in the text. */
static size_t index_of(const members *m, const zb_json *member) {
    const size_t place = zb_json_place_of(member).name;
    size_t low = 0, high = m->old_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (zb_json_place_of(m->old[middle]).name <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Applies the edits of one name: m->order[first, last). */
static enum zb_code apply_run(members *m, size_t first, size_t last, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    const char *name = m->edits[m->order[first]].name;
    const zb_json *old = zb_json_get(m->s->object, name);
    new_member *member = old ? &m->of_old[index_of(m, old)] : NULL;
    for (size_t i = first; i < last; i++) {
        const zb__member_edit *edit = &m->edits[m->order[i]];
        if (!member && !edit->value)
            return zb_fail(err, ZB_ENOTFOUND, "there is no attribute %s",
                           zb__name_excerpt(name, excerpt));
        if (!member)
            member = &m->of_edit[m->order[i]];
        *member = (new_member){.stays = edit->value != NULL, .value = edit->value};
        if (!edit->value)
            member = NULL;
    }
    return ZB_OK;
}

static enum zb_code apply_all(members *m, zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t at = 0;
    for (const zb_json *one = zb_json_first(m->s->object); one; one = zb_json_next(one)) {
        m->of_old[at].stays = true;
        m->old[at++] = one;
    }
    for (size_t i = 0; i < m->edit_count; i++)
        m->order[i] = i;
    if (m->edit_count > 0)
        qsort_r(m->order, m->edit_count, sizeof *m->order, compare_edits,
                (void *)(uintptr_t)m->edits);
    for (size_t first = 0, last; first < m->edit_count && !code; first = last) {
        for (last = first + 1; last < m->edit_count && strcmp(m->edits[m->order[first]].name,
                                                              m->edits[m->order[last]].name) == 0;)
            last++;
        code = apply_run(m, first, last, err);
    }
    return code;
}

static void put_value(const splice *s, zb__text *out, const char *name, const zb_json *value) {
    zb_json_writer w = s->lines ? zb__json_indented(s->level) : (zb_json_writer){.level = 0};
    size_t size;
    if (name)
        zb_json_write_name(&w, name);
    zb_json_write_value(&w, value);
    char *text = zb__text_take(&w.text, &size);
    if (text)
        zb__text_put(out, text, size);
    else
        zb__text_fail(out);
    free(text);
}

/* Old number i, behind the member that was put last: old number `last`, or none (-1). Between
   neighbours all bytes stay. */
static void put_old(const members *m, zb__text *out, size_t i, ptrdiff_t last) {
    const splice *s = m->s;
    const zb_json_place place = zb_json_place_of(m->old[i]);
    const bool adjacent = last >= 0 && (size_t)last + 1 == i;
    const size_t from = adjacent ? zb_json_place_of(m->old[last]).end
                        : i == 0 ? zb_json_place_of(s->object).begin + 1
                                 : space_before(s, m->old[i]);
    if (!adjacent && last >= 0)
        zb__text_add(out, ",");
    zb__text_put(out, s->text + from, place.begin - from);
    if (m->of_old[i].value)
        put_value(s, out, NULL, m->of_old[i].value);
    else
        zb__text_put(out, s->text + place.begin, place.end - place.begin);
}

static void put_new(const members *m, zb__text *out, size_t i) {
    const splice *s = m->s;
    if (m->old_count > 0) {
        const zb_json *neighbour = m->old[m->old_count - 1];
        const size_t space = space_before(s, neighbour);
        zb__text_put(out, s->text + space, zb_json_place_of(neighbour).name - space);
    } else if (s->lines) {
        zb__text_add_line(out, s->level);
    }
    put_value(s, out, m->edits[i].name, m->of_edit[i].value);
}

/* The members, and the white space before the closing brace. */
static void put_members(const members *m, zb__text *out) {
    const size_t end = zb_json_place_of(m->s->object).end - 1;
    ptrdiff_t last = -1;
    bool any = false;
    for (size_t i = 0; i < m->old_count; i++) {
        if (!m->of_old[i].stays)
            continue;
        put_old(m, out, i, last);
        last = (ptrdiff_t)i;
        any = true;
    }
    for (size_t i = 0; i < m->edit_count; i++) {
        if (!m->of_edit[i].stays)
            continue;
        if (any)
            zb__text_add(out, ",");
        put_new(m, out, i);
        any = true;
    }
    if (any && m->old_count > 0) {
        const size_t from = zb_json_place_of(m->old[m->old_count - 1]).end;
        zb__text_put(out, m->s->text + from, end - from);
    } else if (any && m->s->lines) {
        zb__text_add_line(out, m->s->level - 1);
    }
}

static char *print_members(const members *m, size_t old_size, size_t *size) {
    const zb_json_place object = zb_json_place_of(m->s->object);
    zb__text whole = {0};
    zb__text_put(&whole, m->s->text, object.begin + 1);
    put_members(m, &whole);
    zb__text_put(&whole, m->s->text + object.end - 1, old_size - object.end + 1);
    return zb__text_take(&whole, size);
}

/* Where a name stood twice, the one before shows when the last has gone. */
static enum zb_code remove_twins(const members *m, zb__document *document, const char *const *path,
                                 zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < m->edit_count && !code; i++) {
        const bool ends = i + 1 == m->edit_count ||
                          strcmp(m->edits[m->order[i]].name, m->edits[m->order[i + 1]].name) != 0;
        const zb__member_edit *edit = &m->edits[m->order[i]];
        if (!ends || edit->value)
            continue;
        splice s;
        while (!code && !(code = find_object(document, path, &s, err)) &&
               zb_json_get(s.object, edit->name))
            code = zb__document_edit(document, path, edit->name, NULL, NULL, err);
    }
    return code;
}

static enum zb_code edit_members(members *m, zb__document *document, const char *const *path,
                                 zb_error *err) {
    enum zb_code code = apply_all(m, err);
    if (code)
        return code;
    size_t size;
    char *edited = print_members(m, document->size, &size);
    if (!edited)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    zb__document changed;
    code = parse_like(document, edited, size, &changed, err);
    if (code)
        return code;
    code = remove_twins(m, &changed, path, err);
    zb__document_free(code ? &changed : document);
    if (!code)
        *document = changed;
    return code;
}

enum zb_code zb__document_edit_members(zb__document *document, const char *const *path,
                                       const zb__member_edit *edits, size_t count, zb_error *err) {
    splice s;
    enum zb_code code = find_object(document, path, &s, err);
    if (code)
        return code;
    members m = {
        .s = &s, .edits = edits, .edit_count = count, .old_count = zb_json_count(s.object)};
    m.old = calloc(m.old_count + 1, sizeof *m.old);
    m.of_old = calloc(m.old_count + 1, sizeof *m.of_old);
    m.of_edit = calloc(count + 1, sizeof *m.of_edit);
    m.order = calloc(count + 1, sizeof *m.order);
    code = m.old && m.of_old && m.of_edit && m.order
               ? edit_members(&m, document, path, err)
               : zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    free(m.old);
    free(m.of_old);
    free(m.of_edit);
    free(m.order);
    return code;
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
