/* SPDX-License-Identifier: MIT */
/*
 * Changes of the HDF5 extension. The new text is made of the object that is stored now, of the one
 * that the changes were made to, where another program has changed it since, and of the changes.
 */
#include <stdlib.h>
#include <string.h>

#include "extension/hdf5_extension.h"
#include "extension/merge_names.h"
#include "extension/merge_values.h"

/* What the new text is made of. */
typedef struct changing {
    const zb_hdf5_extension *base, *now;
    const zb_hdf5_change *changes; /* [count], as the caller gave them */
    size_t count;
    const zb_hdf5_change **sorted;     /* [count], by member and entry */
    bool has_entries[ZB_HDF5_MEMBERS]; /* members with changed entries */
    zb_hdf5_has_fn has;
    void *context;
    bool any;    /* a member has been written */
    bool failed; /* without memory */
} changing;

/* ---- Finding changes ---- */

/* A change of a whole member comes before those of its entries. */
static int compare(const zb_hdf5_change *a, enum zb_hdf5_member member, const char *entry) {
    if (a->member != member)
        return a->member < member ? -1 : 1;
    if (!a->entry || !entry)
        return (a->entry != NULL) - (entry != NULL);
    return strcmp(a->entry, entry);
}

static int compare_sorted(const void *a, const void *b) {
    const zb_hdf5_change *left = *(const zb_hdf5_change *const *)a,
                         *right = *(const zb_hdf5_change *const *)b;
    return compare(left, right->member, right->entry);
}

static const zb_hdf5_change *find(const changing *c, enum zb_hdf5_member member,
                                  const char *entry) {
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(c->sorted[middle], member, entry);
        if (order == 0)
            return c->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool sort(changing *c) {
    c->sorted = malloc((c->count + 1) * sizeof *c->sorted);
    if (!c->sorted)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        c->sorted[i] = &c->changes[i];
        if (c->changes[i].entry)
            c->has_entries[c->changes[i].member] = true;
    }
    qsort(c->sorted, c->count, sizeof *c->sorted, compare_sorted);
    return true;
}

/* ---- Writing members ---- */

static void put_value(changing *c, zb_json_writer *out, const char *name, const zb_json *value) {
    c->any = true;
    zb_json_write_name(out, name);
    zb_json_write_value(out, value);
}

static void put_text(changing *c, zb_json_writer *out, const char *name, const char *json) {
    c->any = true;
    zb_json_write_name(out, name);
    zb_json_write_raw(out, json);
}

/* A member that another program may have changed, too. */
static void put_merged(changing *c, zb_json_writer *out, const zb_hdf5_change *change) {
    const zb__hdf5_row *row = zb__hdf5_row_of(change->member);
    const zb_json *base = zb_hdf5_extension_get(c->base, change->member);
    const zb_json *now = zb_hdf5_extension_get(c->now, change->member);
    zb_json_writer *merged = zb_json_writer_new();
    const bool complete =
        row->merge == ZB__MERGE_ENTRIES
            ? zb__merge_values(merged, base, change->value, now)
            : zb__merge_names(merged, base, change->value, now, row->merge == ZB__MERGE_NUMBERED);
    char *text = zb_json_writer_end(merged, NULL);
    c->failed |= !complete || !text;
    if (text && (change->value || (strcmp(text, "[]") != 0 && strcmp(text, "{}") != 0))) {
        c->any = true;
        zb_json_write_name(out, row->name);
        zb_json_write_raw(out, text);
    }
    free(text);
}

/* Entries of attributes always are, since attributes may have gone. */
static bool is_written_by_entries(const changing *c, enum zb_hdf5_member member) {
    return member == ZB_HDF5_ATTRIBUTES || c->has_entries[member];
}

/* Whether a member that is stored is written anew. */
static bool is_rewritten(const changing *c, enum zb_hdf5_member member) {
    return member < ZB_HDF5_MEMBERS &&
           (is_written_by_entries(c, member) || find(c, member, NULL) != NULL);
}

static void put_members(changing *c, zb_json_writer *out) {
    for (const zb_json *one = c->now ? zb_json_first(c->now->object) : NULL; one;
         one = zb_json_next(one))
        if (!zb__member_is_version(one) &&
            !is_rewritten(c, zb_hdf5_member_called(zb_json_name(one))))
            put_value(c, out, zb_json_name(one), one);
    for (size_t i = 0; i < c->count; i++) {
        const zb_hdf5_change *change = &c->changes[i];
        const zb__hdf5_row *row = zb__hdf5_row_of(change->member);
        if (change->entry || is_written_by_entries(c, change->member))
            continue;
        if (c->base != c->now && row->merge != ZB__MERGE_LAST)
            put_merged(c, out, change);
        else if (change->json)
            put_text(c, out, row->name, change->json);
        else if (change->value)
            put_value(c, out, row->name, change->value);
    }
}

/* ---- Writing entries ---- */

/* The entries that a member begins with. */
static const zb_json *old_entries(const changing *c, enum zb_hdf5_member member) {
    const zb_hdf5_change *whole = find(c, member, NULL);
    const zb_json *entries = whole ? whole->value : zb_hdf5_extension_get(c->now, member);
    return zb_json_kind_of(entries) == ZB_JSON_OBJECT ? entries : NULL;
}

static bool stays(const changing *c, enum zb_hdf5_member member, const char *entry) {
    return !find(c, member, entry) &&
           (member != ZB_HDF5_ATTRIBUTES || !c->has || c->has(c->context, entry));
}

/* The entries of a member, which is left out without any. */
static void put_entries(changing *c, zb_json_writer *out, enum zb_hdf5_member member) {
    bool any = false;
    zb_json_writer *object = zb_json_writer_new();
    zb_json_begin_object(object);
    for (const zb_json *one = zb_json_first(old_entries(c, member)); one; one = zb_json_next(one)) {
        if (!stays(c, member, zb_json_name(one)))
            continue;
        any = true;
        zb__members_put(object, one);
    }
    for (size_t i = 0; i < c->count; i++) {
        const zb_hdf5_change *change = &c->changes[i];
        if (change->member != member || !change->entry || !change->value)
            continue;
        any = true;
        zb_json_write_name(object, change->entry);
        zb_json_write_value(object, change->value);
    }
    zb_json_end_object(object);
    char *text = zb_json_writer_end(object, NULL);
    c->failed |= !text;
    if (text && any) {
        c->any = true;
        zb_json_write_name(out, zb_hdf5_member_name(member));
        zb_json_write_raw(out, text);
    }
    free(text);
}

enum zb_code zb_hdf5_entries_merge(const zb_json *base, const zb_json *ours, const zb_json *theirs,
                                   char **out, zb_error *err) {
    zb_json_writer *merged = zb_json_writer_new();
    const bool complete = zb__merge_values(merged, base, ours, theirs);
    *out = zb_json_writer_end(merged, NULL);
    if (complete && *out)
        return ZB_OK;
    free(*out);
    *out = NULL;
    return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_HDF5_EXTENSION);
}

/* ---- All ---- */

enum zb_code zb_hdf5_extension_change(const zb_hdf5_extension *base, const zb_hdf5_extension *now,
                                      const zb_hdf5_change *changes, size_t count,
                                      zb_hdf5_has_fn has, void *context, char **out,
                                      zb_error *err) {
    changing c = {.base = base,
                  .now = now,
                  .changes = changes,
                  .count = count,
                  .has = has,
                  .context = context};
    *out = NULL;
    zb_json_writer *object = sort(&c) ? zb__members_begin() : NULL;
    if (object) {
        put_members(&c, object);
        for (unsigned i = 0; i < ZB_HDF5_MEMBERS; i++)
            if (is_written_by_entries(&c, (enum zb_hdf5_member)i))
                put_entries(&c, object, (enum zb_hdf5_member)i);
    }
    char *text = object ? zb__members_end(object) : NULL;
    free(c.sorted);
    if (!text || c.failed) {
        free(text);
        return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_HDF5_EXTENSION);
    }
    if (c.any)
        *out = text;
    else
        free(text);
    return ZB_OK;
}
