/* SPDX-License-Identifier: MIT */
/* Merging values: see merge_values.h. The document's limit of nesting bounds the recursion. */
#include "extension/merge_values.h"

#include <stdlib.h>
#include <string.h>

#include "extension/member_text.h"
#include "util/text.h"
#include "zarrbridge/hdf5_extension.h"

#define SHAPE "shape" /* of an entry (docs/hdf5-extension.md): that of its value */
#define VALUE "value"

/* One value in its three states; NULL: it is missing. */
typedef struct versions {
    const zb_json *base, *ours, *theirs;
} versions;

/* ---- Comparing ---- */

static bool is_empty(const zb_json *value) {
    const enum zb_json_kind kind = zb_json_kind_of(value);
    return !value || kind == ZB_JSON_NULL || (kind == ZB_JSON_ARRAY && !zb_json_first(value));
}

static bool is_list_of_objects(const zb_json *value) {
    return zb_json_kind_of(value) == ZB_JSON_ARRAY &&
           zb_json_kind_of(zb_json_first(value)) == ZB_JSON_OBJECT;
}

static bool is_set(const zb_json *entry) {
    return is_list_of_objects(zb_json_get(entry, VALUE));
}

static bool are_of_kind(const versions *v, enum zb_json_kind kind) {
    return zb_json_kind_of(v->ours) == kind && zb_json_kind_of(v->theirs) == kind;
}

/* ---- Sets ---- */

/* The elements of a list as texts, sorted. */
typedef struct texts {
    char **text;
    size_t count;
} texts;

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void clear(texts *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->text[i]);
    free(t->text);
}

static bool texts_of(const zb_json *list, texts *out) {
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    *out = (texts){.text = malloc((zb_json_count(list) + 1) * sizeof *out->text)};
    bool good = out->text != NULL;
    for (const zb_json *one = is_list && good ? zb_json_first(list) : NULL; one && good;
         one = zb_json_next(one)) {
        out->text[out->count] = zb_json_print(one);
        good = out->text[out->count] != NULL;
        out->count += good;
    }
    if (good)
        qsort(out->text, out->count, sizeof *out->text, compare);
    return good;
}

static bool has(const texts *list, const char *text) {
    return bsearch(&text, list->text, list->count, sizeof *list->text, compare) != NULL;
}

/* Writes those of a list that are in `other` or not in `old`, or (is_other false) in none of the
   two. Counts them in *count. */
static bool put_some(zb_json_writer *out, const zb_json *list, const texts *old, const texts *other,
                     bool is_other, uint64_t *count) {
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    for (const zb_json *one = is_list ? zb_json_first(list) : NULL; one; one = zb_json_next(one)) {
        char *text = zb_json_print(one);
        if (!text)
            return false;
        if (has(other, text) ? is_other : !has(old, text)) {
            zb_json_write_raw(out, text);
            ++*count;
        }
        free(text);
    }
    return true;
}

/* The text of the list, malloc'ed; NULL without memory. */
static char *merge_sets(const zb_json *base, const zb_json *ours, const zb_json *theirs,
                        uint64_t *count) {
    texts old, mine, other;
    zb_json_writer *list = zb_json_writer_new();
    bool complete = texts_of(base, &old);
    complete &= texts_of(ours, &mine);
    complete &= texts_of(theirs, &other);
    *count = 0;
    zb_json_begin_array(list);
    complete = complete && put_some(list, ours, &old, &other, true, count) &&
               put_some(list, theirs, &old, &mine, false, count);
    zb_json_end_array(list);
    clear(&old);
    clear(&mine);
    clear(&other);
    char *text = zb_json_writer_end(list, NULL);
    if (complete)
        return text;
    free(text);
    return NULL;
}

/* ---- Members and elements ---- */

static bool put(zb_json_writer *out, const char *name, const versions *v);

/* An entry whose value is a set, and which is left out without any: its only extent is how many
   there are. */
static bool put_set_entry(zb_json_writer *out, const char *name, const versions *v) {
    uint64_t count;
    char *text = merge_sets(zb_json_get(v->base, VALUE), zb_json_get(v->ours, VALUE),
                            zb_json_get(v->theirs, VALUE), &count);
    const zb_json *one = zb_json_first(v->ours ? v->ours : v->theirs);
    if (!text || count == 0) {
        free(text);
        return text != NULL;
    }
    zb_json_write_name(out, name);
    zb_json_begin_object(out);
    for (; one; one = zb_json_next(one))
        if (strcmp(zb_json_name(one), SHAPE) != 0 && strcmp(zb_json_name(one), VALUE) != 0)
            zb__members_put(out, one);
    zb_json_write_name(out, SHAPE);
    zb_json_begin_array(out);
    zb_json_write_uint64(out, count);
    zb_json_end_array(out);
    zb_json_write_name(out, VALUE);
    zb_json_write_raw(out, text);
    zb_json_end_object(out);
    free(text);
    return true;
}

static bool put_member(zb_json_writer *out, const char *name, const versions *of) {
    const versions v = {zb_json_get(of->base, name), zb_json_get(of->ours, name),
                        zb_json_get(of->theirs, name)};
    const bool is_ours = !zb_json_same(v.ours, v.base), is_theirs = !zb_json_same(v.theirs, v.base);
    if (is_ours && is_theirs && (is_set(v.ours) || is_set(v.theirs)))
        return put_set_entry(out, name, &v);
    if (is_ours ? !v.ours : !v.theirs)
        return true;
    zb_json_write_name(out, name);
    return put(out, name, &v);
}

static bool put_object(zb_json_writer *out, const versions *v) {
    bool good = true;
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(v->ours); one; one = zb_json_next(one))
        good &= put_member(out, zb_json_name(one), v);
    for (const zb_json *one = zb_json_first(v->theirs); one; one = zb_json_next(one))
        if (!zb_json_get(v->ours, zb_json_name(one)))
            good &= put_member(out, zb_json_name(one), v);
    zb_json_end_object(out);
    return good;
}

/* An element that the base lacks was empty there. */
static const zb_json *base_of(const versions *v) {
    if (v->base)
        return v->base;
    return is_empty(v->ours) ? v->ours : is_empty(v->theirs) ? v->theirs : NULL;
}

/* Lists of one length. */
static bool put_elements(zb_json_writer *out, const versions *v) {
    const bool is_list = zb_json_kind_of(v->base) == ZB_JSON_ARRAY;
    versions one = {is_list ? zb_json_first(v->base) : NULL, zb_json_first(v->ours),
                    zb_json_first(v->theirs)};
    bool good = true;
    zb_json_begin_array(out);
    while (one.ours) {
        const versions complete = {base_of(&one), one.ours, one.theirs};
        good &= put(out, "", &complete);
        one = (versions){zb_json_next(one.base), zb_json_next(one.ours), zb_json_next(one.theirs)};
    }
    zb_json_end_array(out);
    return good;
}

/* The text of an extension within a value, of a node that is no node of the store. */
static bool put_extension(zb_json_writer *out, const versions *v) {
    zb_json *base = NULL, *ours = NULL, *theirs = NULL;
    bool good = !zb__members_parse(v->base, &base) && !zb__members_parse(v->ours, &ours) &&
                !zb__members_parse(v->theirs, &theirs);
    char *text = NULL;
    if (good && zb__members_are_known(ours) && zb__members_are_known(theirs)) {
        const versions parsed = {base, ours, theirs};
        zb_json_writer *merged = zb_json_writer_new();
        good = put_object(merged, &parsed);
        text = zb_json_writer_end(merged, NULL);
        good &= text != NULL;
    }
    if (text)
        zb_json_write_string(out, text);
    else
        zb_json_write_value(out, v->ours);
    free(text);
    zb_json_free(base);
    zb_json_free(ours);
    zb_json_free(theirs);
    return good;
}

static bool put(zb_json_writer *out, const char *name, const versions *v) {
    if (zb_json_same(v->ours, v->base) && v->theirs)
        zb_json_write_value(out, v->theirs);
    else if (zb_json_same(v->theirs, v->base))
        zb_json_write_value(out, v->ours);
    else if (are_of_kind(v, ZB_JSON_OBJECT))
        return put_object(out, v);
    else if (are_of_kind(v, ZB_JSON_ARRAY) && zb_json_count(v->ours) == zb_json_count(v->theirs))
        return put_elements(out, v);
    else if (are_of_kind(v, ZB_JSON_STRING) && strcmp(name, ZB_HDF5_EXTENSION) == 0)
        return put_extension(out, v);
    else
        zb_json_write_value(out, v->ours);
    return true;
}

bool zb__merge_values(zb_json_writer *out, const zb_json *base, const zb_json *ours,
                      const zb_json *theirs) {
    const versions all = {base, ours, theirs};
    return put_object(out, &all);
}
