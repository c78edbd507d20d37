/* SPDX-License-Identifier: MIT */
/* The HDF5 extension of nodes: see side.h. */
#include "tree/side.h"

#include "tree/tree.h"
#include "waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a text that is kept for further nodes: those of large groups are their own. */
#define LAST_MAX 4096

/* ---- What is stored ---- */

static const zb_json *value_of(const vol_node *node) {
    return node->zarr ? zb_json_get(zb_node_attributes(node->zarr), ZB_HDF5_EXTENSION) : NULL;
}

/* Many nodes of a file have the same text: they share what was parsed of it. */
static enum zb_code parse_in(vol_file *file, const zb_json *value, zb_hdf5_extension **out,
                             zb_error *err) {
    vol_side_last *last = &file->side_last;
    const char *text = zb_json_string(value);
    if (text && last->text && strcmp(text, last->text) == 0) {
        *out = zb_hdf5_extension_copy(last->extension);
        if (*out)
            return ZB_OK;
    }
    const enum zb_code code = zb_hdf5_extension_parse(value, out, err);
    char *copy = *out && strlen(text) < LAST_MAX ? strdup(text) : NULL;
    zb_hdf5_extension *kept = copy ? zb_hdf5_extension_copy(*out) : NULL;
    if (!kept) {
        free(copy);
        return code;
    }
    vol_side_forget_last(file);
    *last = (vol_side_last){.text = copy, .extension = kept};
    return code;
}

enum zb_code vol_side_load(vol_node *node, zb_error *err) {
    zb_hdf5_extension *now;
    if (node->side_is_known)
        return ZB_OK;
    const enum zb_code code = parse_in(node->file, value_of(node), &now, err);
    if (code)
        return code;
    zb_hdf5_extension_free(node->side);
    node->side = now;
    node->side_is_known = true;
    return ZB_OK;
}

void vol_side_renew(vol_node *node) {
    node->side_is_known = false;
    (void)vol_side_load(node, NULL);
}

static const zb_hdf5_extension *stored(vol_node *node) {
    (void)vol_side_load(node, NULL);
    return node->side;
}

void vol_side_forget_last(vol_file *file) {
    free(file->side_last.text);
    zb_hdf5_extension_free(file->side_last.extension);
    file->side_last = (vol_side_last){.text = NULL};
}

void vol_side_free(vol_node *node) {
    zb_hdf5_extension_free(node->side);
    node->side = NULL;
    node->side_is_known = false;
}

/* xarray's form of the names in version 2, which copies keep in version 3. netCDF refuses an
   attribute of that name, and with it what is copied. */
static bool repeats_names(vol_node *node, const char *name) {
    const zb_array_info *info = node->zarr ? zb_node_array(node->zarr) : NULL;
    if (!info || !info->dimension_names || strcmp(name, "_ARRAY_DIMENSIONS") != 0 ||
        zb_hdf5_extension_get(stored(node), ZB_HDF5_CREATION))
        return false;
    const zb_json *list = zb_json_get(zb_node_attributes(node->zarr), name);
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != info->ndim)
        return false;
    const zb_json *item = zb_json_first(list);
    for (uint32_t d = 0; d < info->ndim; d++, item = zb_json_next(item)) {
        const char *text = zb_json_string(item), *said = info->dimension_names[d];
        if (!text || !said || strcmp(text, said) != 0)
            return false;
    }
    return true;
}

bool vol_side_hides(vol_node *node, const char *name) {
    return (strcmp(name, ZB_HDF5_EXTENSION) == 0 && stored(node)) || repeats_names(node, name);
}

bool vol_side_uses_types(vol_node *node) {
    return zb_hdf5_extension_uses_types(stored(node));
}

/* ---- What will be stored ---- */

const zb_json *vol_side_get(vol_node *node, enum zb_hdf5_member member) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const vol_change *change = waiting ? vol_side_find(&waiting->members, member) : NULL;
    return change ? change->value : zb_hdf5_extension_get(stored(node), member);
}

const zb_json *vol_side_entry(vol_node *node, const char *attribute) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const vol_change *change = waiting ? vol_changes_find(&waiting->entries, attribute) : NULL;
    return change ? change->value : zb_hdf5_extension_entry(stored(node), attribute);
}

const zb_json *vol_side_entries(vol_node *node) {
    return zb_hdf5_extension_get(stored(node), ZB_HDF5_ATTRIBUTES);
}

/* ---- Changing ---- */

static enum zb_code fail_foreign(const vol_node *node, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "the attribute " ZB_HDF5_EXTENSION " of %s is of another program or version: "
                   "what only HDF5 knows cannot be kept in it",
                   node->path);
}

enum zb_code vol_side_check(vol_node *node, zb_error *err) {
    enum zb_code code = vol_waiting_check(node, err);
    if (!code)
        code = vol_side_load(node, err);
    return !code && value_of(node) && !stored(node) ? fail_foreign(node, err) : code;
}

static enum zb_code begin_change(vol_node *node, vol_waiting **waiting, zb_error *err) {
    enum zb_code code = vol_side_check(node, err);
    if (!code && !(*waiting = vol_waiting_get(node)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for changes of %s", node->path);
    return code;
}

enum zb_code vol_side_set(vol_node *node, enum zb_hdf5_member member, const char *json,
                          zb_error *err) {
    vol_waiting *waiting;
    enum zb_code code = vol_side_load(node, err);
    if (code || (!json && !vol_side_get(node, member)))
        return code;
    code = begin_change(node, &waiting, err);
    return code ? code : vol_side_put(&waiting->members, member, json, err);
}

enum zb_code vol_side_set_entry(vol_node *node, const char *attribute, const char *json,
                                zb_error *err) {
    vol_waiting *waiting;
    enum zb_code code = vol_side_load(node, err);
    if (code || (!json && !vol_side_entry(node, attribute)))
        return code;
    code = begin_change(node, &waiting, err);
    return code ? code : vol_changes_set(&waiting->entries, attribute, json, err);
}

enum zb_code vol_side_set_link(vol_node *node, const char *link, const char *json, zb_error *err) {
    vol_waiting *waiting;
    enum zb_code code = begin_change(node, &waiting, err);
    return code ? code : vol_changes_set(&waiting->links, link, json, err);
}

/* ---- Printing ---- */

/* The changes of a list, of members or of the entries of one (ZB_HDF5_MEMBERS: of members). */
static size_t add_changes(const vol_changes *from, enum zb_hdf5_member entries_of,
                          zb_hdf5_change *out) {
    size_t count = 0;
    for (size_t i = 0; i < from->count; i++) {
        const vol_change *change = &from->change[i];
        if (!change->name)
            continue;
        const bool is_entry = entries_of != ZB_HDF5_MEMBERS;
        out[count++] =
            (zb_hdf5_change){.member = is_entry ? entries_of : zb_hdf5_member_called(change->name),
                             .entry = is_entry ? change->name : NULL,
                             .value = change->value};
    }
    return count;
}

/* Whether the node has an attribute when the changes that wait have been stored. */
typedef struct after {
    const vol_waiting *waiting;
    const zb_json *attributes;
} after;

static bool has(void *context, const char *name) {
    const after *a = context;
    const vol_change *change = vol_changes_find(&a->waiting->attributes, name);
    return change ? change->value != NULL : zb_json_get(a->attributes, name) != NULL;
}

static bool is_same(const zb_json *a, const zb_json *b) {
    return zb_json_string(a) && zb_json_string(b) &&
           strcmp(zb_json_string(a), zb_json_string(b)) == 0;
}

enum zb_code vol_side_print(const vol_node *node, const zb_json *attributes, char **out,
                            zb_error *err) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const zb_json *value = zb_json_get(attributes, ZB_HDF5_EXTENSION);
    zb_hdf5_extension *now, *base = NULL;
    enum zb_code code = zb_hdf5_extension_parse(value, &now, err);
    *out = NULL;
    if (!code && value && !now)
        return fail_foreign(node, err);
    const bool is_alone = is_same(value_of(node), value);
    if (!code && !is_alone)
        code = zb_hdf5_extension_parse(value_of(node), &base, err);
    const size_t most = waiting->members.count + waiting->links.count + waiting->entries.count;
    zb_hdf5_change *changes = malloc((most + 1) * sizeof *changes);
    if (!code && !changes)
        code = zb_fail(err, ZB_ENOMEM, "no memory for changes");
    if (!code) {
        size_t count = add_changes(&waiting->members, ZB_HDF5_MEMBERS, changes);
        count += add_changes(&waiting->links, ZB_HDF5_LINKS, changes + count);
        count += add_changes(&waiting->entries, ZB_HDF5_ATTRIBUTES, changes + count);
        after then = {.waiting = waiting, .attributes = attributes};
        code = zb_hdf5_extension_change(is_alone ? now : base, now, changes, count, has, &then, out,
                                        err);
    }
    free(changes);
    zb_hdf5_extension_free(now);
    zb_hdf5_extension_free(base);
    return code;
}

/* ---- New nodes ---- */

enum zb_code vol_side_put(vol_changes *members, enum zb_hdf5_member member, const char *json,
                          zb_error *err) {
    return vol_changes_set(members, zb_hdf5_member_name(member), json, err);
}

const vol_change *vol_side_find(const vol_changes *members, enum zb_hdf5_member member) {
    return vol_changes_find(members, zb_hdf5_member_name(member));
}

char *vol_side_print_new(const vol_changes *members) {
    zb_hdf5_change *changes = malloc((members->count + 1) * sizeof *changes);
    const size_t count = changes ? add_changes(members, ZB_HDF5_MEMBERS, changes) : 0;
    char *text = NULL;
    zb_json_writer *out = NULL;
    if (changes &&
        zb_hdf5_extension_change(NULL, NULL, changes, count, NULL, NULL, &text, NULL) == ZB_OK)
        out = zb_json_writer_new();
    zb_json_begin_object(out);
    if (text) {
        zb_json_write_name(out, ZB_HDF5_EXTENSION);
        zb_json_write_raw(out, text);
    }
    zb_json_end_object(out);
    free(changes);
    free(text);
    return zb_json_writer_end(out, NULL);
}
