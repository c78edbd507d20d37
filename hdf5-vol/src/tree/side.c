/* SPDX-License-Identifier: MIT */
/* The attribute _hdf5: see side.h. */
#include "tree/side.h"

#include "tree/merge_names.h"
#include "tree/tree.h"
#include "tree/waiting.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1

/* Bytes of a text that is kept for further nodes: those of large groups are their own. */
#define LAST_MAX 4096

/* ---- What is stored ---- */

/* The object in the attribute's text, for zb_json_free; NULL when it is not ours. */
static zb_json *parse(const zb_json *value) {
    const char *text = zb_json_string(value);
    zb_json *json = NULL;
    uint64_t version;
    if (!text || zb_json_parse(text, strlen(text), &json, NULL) != ZB_OK)
        return NULL;
    if (zb_json_uint64(zb_json_get(json, "version"), &version) && version == VERSION)
        return json;
    zb_json_free(json);
    return NULL;
}

static const zb_json *value_of(const vol_node *node) {
    return node->zarr ? zb_json_get(zb_node_attributes(node->zarr), VOL_SIDE) : NULL;
}

/* Many nodes of a file have the same text: they share what was parsed of it. */
static zb_json *parse_in(vol_file *file, const zb_json *value) {
    vol_side_last *last = &file->side_last;
    const char *text = zb_json_string(value);
    if (text && last->text && strcmp(text, last->text) == 0)
        return zb_json_retain(last->object);
    zb_json *object = parse(value);
    char *copy = object && strlen(text) < LAST_MAX ? strdup(text) : NULL;
    if (copy) {
        vol_side_forget_last(file);
        *last = (vol_side_last){.text = copy, .object = zb_json_retain(object)};
    }
    return object;
}

static const zb_json *stored(vol_node *node) {
    if (!node->side)
        node->side = parse_in(node->file, value_of(node));
    return node->side;
}

void vol_side_forget_last(vol_file *file) {
    free(file->side_last.text);
    zb_json_free(file->side_last.object);
    file->side_last = (vol_side_last){.text = NULL};
}

zb_json *vol_side_of(const zb_node *zarr) {
    return parse(zb_json_get(zb_node_attributes(zarr), VOL_SIDE));
}

void vol_side_forget(vol_node *node) {
    zb_json_free(node->side);
    node->side = NULL;
}

bool vol_side_hides(vol_node *node, const char *name) {
    return strcmp(name, VOL_SIDE) == 0 && stored(node);
}

/* ---- What will be stored ---- */

const zb_json *vol_side_get(vol_node *node, const char *member) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const vol_change *change = waiting ? vol_changes_find(&waiting->members, member) : NULL;
    return change ? change->value : zb_json_get(stored(node), member);
}

const zb_json *vol_side_entry(vol_node *node, const char *attribute) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const vol_change *change = waiting ? vol_changes_find(&waiting->entries, attribute) : NULL;
    return change ? change->value : zb_json_get(vol_side_entries(node), attribute);
}

const zb_json *vol_side_entries(vol_node *node) {
    return zb_json_get(stored(node), VOL_SIDE_ENTRIES);
}

/* ---- Changing ---- */

static enum zb_code fail_foreign(const vol_node *node, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "the attribute " VOL_SIDE " of %s is of another program or version: what "
                   "only HDF5 knows cannot be kept in it",
                   node->path);
}

enum zb_code vol_side_check(vol_node *node, zb_error *err) {
    enum zb_code code = vol_waiting_check(node, err);
    return !code && value_of(node) && !stored(node) ? fail_foreign(node, err) : code;
}

static enum zb_code begin_change(vol_node *node, vol_waiting **waiting, zb_error *err) {
    enum zb_code code = vol_side_check(node, err);
    if (!code && !(*waiting = vol_waiting_get(node)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for changes of %s", node->path);
    return code;
}

enum zb_code vol_side_set(vol_node *node, const char *member, const char *json, zb_error *err) {
    if (!json && !vol_side_get(node, member))
        return ZB_OK;
    vol_waiting *waiting;
    enum zb_code code = begin_change(node, &waiting, err);
    return code ? code : vol_changes_set(&waiting->members, member, json, err);
}

enum zb_code vol_side_set_entry(vol_node *node, const char *attribute, const char *json,
                                zb_error *err) {
    if (!json && !vol_side_entry(node, attribute))
        return ZB_OK;
    vol_waiting *waiting;
    enum zb_code code = begin_change(node, &waiting, err);
    return code ? code : vol_changes_set(&waiting->entries, attribute, json, err);
}

enum zb_code vol_side_set_link(vol_node *node, const char *link, const char *json, zb_error *err) {
    vol_waiting *waiting;
    enum zb_code code = begin_change(node, &waiting, err);
    return code ? code : vol_changes_set(&waiting->links, link, json, err);
}

/* ---- Printing ---- */

/* The new text is made of the object that is stored now (old; NULL: none), of the one that the
   changes were made to, where another program has changed it since (base), and of the changes. */
typedef struct printing {
    const vol_waiting *waiting;
    const zb_json *attributes, *old, *base;
    bool is_alone; /* old is what the changes were made to */
    bool any;      /* a member has been written */
    bool failed;   /* without memory */
} printing;

static void put(zb_json_writer *out, const zb_json *member, bool *any) {
    *any = true;
    zb_json_write_name(out, zb_json_name(member));
    zb_json_write_value(out, member);
}

static void put_changes(zb_json_writer *out, const vol_changes *changes, bool *any) {
    for (size_t i = 0; i < changes->count; i++)
        if (changes->change[i].value)
            put(out, changes->change[i].value, any);
}

/* The members of an object with changes. */
static void put_changed(zb_json_writer *out, const zb_json *old, const vol_changes *changes,
                        bool *any) {
    for (const zb_json *one = zb_json_first(old); one; one = zb_json_next(one))
        if (!vol_changes_find(changes, zb_json_name(one)))
            put(out, one, any);
    put_changes(out, changes, any);
}

static char *print_links(const printing *p, bool *any) {
    const vol_waiting *waiting = p->waiting;
    const vol_change *change = vol_changes_find(&waiting->members, VOL_SIDE_LINKS);
    const zb_json *links = change ? change->value : zb_json_get(p->old, VOL_SIDE_LINKS);
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    if (waiting->links.count > 0)
        put_changed(out, zb_json_kind_of(links) == ZB_JSON_OBJECT ? links : NULL, &waiting->links,
                    any);
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

static bool is_list_of_names(const char *member) {
    return strcmp(member, VOL_SIDE_ORDER) == 0 || strcmp(member, VOL_SIDE_NAMES) == 0 ||
           strcmp(member, VOL_SIDE_ATTRIBUTES) == 0;
}

static void put_object(zb_json_writer *out, const char *name, const char *json) {
    zb_json_write_name(out, name);
    zb_json_write_raw(out, json);
}

/* A list that another program may have changed, too. */
static void put_list(zb_json_writer *out, printing *p, const vol_change *change) {
    const char *name = change->name;
    zb_json_writer *list = zb_json_writer_new();
    const bool complete =
        vol_merge_names(list, zb_json_get(p->base, name), change->value, zb_json_get(p->old, name),
                        strcmp(name, VOL_SIDE_NAMES) != 0);
    char *text = zb_json_writer_end(list, NULL);
    p->failed |= !complete || !text;
    if (text && (change->value || strcmp(text, "[]") != 0)) {
        p->any = true;
        put_object(out, name, text);
    }
    free(text);
}

/* All members but those whose entries are merged with changes of entries. */
static void put_members(zb_json_writer *out, printing *p) {
    const vol_changes *changes = &p->waiting->members;
    for (const zb_json *one = zb_json_first(p->old); one; one = zb_json_next(one)) {
        const char *name = zb_json_name(one);
        if (strcmp(name, "version") != 0 && strcmp(name, VOL_SIDE_ENTRIES) != 0 &&
            (strcmp(name, VOL_SIDE_LINKS) != 0 || p->waiting->links.count == 0) &&
            !vol_changes_find(changes, name))
            put(out, one, &p->any);
    }
    for (size_t i = 0; i < changes->count; i++) {
        const vol_change *change = &changes->change[i];
        if (!p->is_alone && change->name && is_list_of_names(change->name))
            put_list(out, p, change);
        else if (change->value)
            put(out, change->value, &p->any);
    }
}
/* Whether the node has the attribute when the changes that wait have been stored. */
static bool will_stay(const printing *p, const char *name) {
    const vol_change *change = vol_changes_find(&p->waiting->attributes, name);
    return change ? change->value != NULL : zb_json_get(p->attributes, name) != NULL;
}

static char *print_entries(const printing *p, bool *any) {
    const vol_changes *changes = &p->waiting->entries;
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(zb_json_get(p->old, VOL_SIDE_ENTRIES)); one;
         one = zb_json_next(one))
        if (!vol_changes_find(changes, zb_json_name(one)) && will_stay(p, zb_json_name(one)))
            put(out, one, any);
    put_changes(out, changes, any);
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

static zb_json_writer *begin(void) {
    zb_json_writer *object = zb_json_writer_new();
    zb_json_begin_object(object);
    zb_json_write_name(object, "version");
    zb_json_write_uint64(object, VERSION);
    return object;
}

/* Ends the object: the JSON of a text that holds it, or NULL. */
static char *end(zb_json_writer *object) {
    zb_json_end_object(object);
    char *text = zb_json_writer_end(object, NULL);
    zb_json_writer *string = text ? zb_json_writer_new() : NULL;
    zb_json_write_string(string, text ? text : "");
    free(text);
    return zb_json_writer_end(string, NULL);
}

/* The object as the JSON of a text. */
static char *print(printing *p) {
    bool any_entry = false, any_link = false;
    char *entries = print_entries(p, &any_entry);
    char *links = entries ? print_links(p, &any_link) : NULL;
    if (!links) {
        free(entries);
        return NULL;
    }
    zb_json_writer *object = begin();
    put_members(object, p);
    if (any_link)
        put_object(object, VOL_SIDE_LINKS, links);
    if (any_entry)
        put_object(object, VOL_SIDE_ENTRIES, entries);
    free(entries);
    free(links);
    p->any |= any_entry || any_link;
    return end(object);
}

char *vol_side_print_new(const vol_changes *members) {
    bool any;
    zb_json_writer *object = begin();
    put_changes(object, members, &any);
    char *text = end(object);
    zb_json_writer *out = text ? zb_json_writer_new() : NULL;
    zb_json_begin_object(out);
    zb_json_write_name(out, VOL_SIDE);
    zb_json_write_raw(out, text ? text : "null");
    zb_json_end_object(out);
    free(text);
    return zb_json_writer_end(out, NULL);
}

static bool is_same(const zb_json *a, const zb_json *b) {
    return zb_json_string(a) && zb_json_string(b) &&
           strcmp(zb_json_string(a), zb_json_string(b)) == 0;
}

enum zb_code vol_side_print(const vol_node *node, const zb_json *attributes, char **out,
                            zb_error *err) {
    const zb_json *now = zb_json_get(attributes, VOL_SIDE);
    zb_json *old = now ? parse(now) : NULL;
    *out = NULL;
    if (now && !old)
        return fail_foreign(node, err);
    const bool is_alone = is_same(value_of(node), now);
    zb_json *base = is_alone ? NULL : parse(value_of(node));
    printing p = {.waiting = vol_waiting_now(node),
                  .attributes = attributes,
                  .old = old,
                  .base = base,
                  .is_alone = is_alone};
    char *text = print(&p);
    zb_json_free(old);
    zb_json_free(base);
    if (!text || p.failed) {
        free(text);
        return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " VOL_SIDE);
    }
    if (p.any)
        *out = text;
    else
        free(text);
    return ZB_OK;
}
