/* SPDX-License-Identifier: MIT */
/* What the HDF5 extension of a node says that is true of its copies. */
#include <stdlib.h>
#include <string.h>

#include "extension/hdf5_extension.h"

static bool holds(const zb_json *member, bool same_shape) {
    const enum zb_hdf5_member which = zb_hdf5_member_called(zb_json_name(member));
    if (which == ZB_HDF5_MEMBERS)
        return false;
    switch (zb__hdf5_row_of(which)->copies) {
    case ZB__COPIES_SHAPE:
        return same_shape;
    case ZB__COPIES_TYPES:
        return !zb_hdf5_refers(member);
    default:
        return false;
    }
}

static bool is_entries(const zb_json *member) {
    return zb_hdf5_member_called(zb_json_name(member)) == ZB_HDF5_ATTRIBUTES;
}

static void put_raw(zb_json_writer *out, const char *name, char *json) {
    zb_json_write_name(out, name);
    zb_json_write_raw(json ? out : NULL, json ? json : "");
    free(json);
}

/* Ends an object: its text, or NULL with `failed` when memory ran out. */
static char *end_entries(zb_json_writer *object, bool *failed) {
    zb_json_end_object(object);
    char *text = zb_json_writer_end(object, NULL);
    *failed |= !text;
    return text;
}

/* Writes the member with entries, or nothing where there are none; takes over the text. */
static bool put_entries(zb_json_writer *out, char *entries) {
    const bool any = entries && strcmp(entries, "{}") != 0;
    if (any)
        put_raw(out, zb_hdf5_member_name(ZB_HDF5_ATTRIBUTES), entries);
    else
        free(entries);
    return any;
}

/* The value, if anything was written and memory did not run out. */
static enum zb_code finish(zb_json_writer *object, bool any, bool failed, char **out,
                           zb_error *err) {
    char *text = zb__members_end(object);
    *out = NULL;
    if (!text || failed) {
        free(text);
        return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_HDF5_EXTENSION);
    }
    if (any)
        *out = text;
    else
        free(text);
    return ZB_OK;
}

/* ---- For copies ---- */

/* An entry without the path of the datatype with which its attribute was made. One whose elements
   are references, or lie in an array of their own, which is not copied, is no entry of a copy. */
static void put_entry(zb_json_writer *out, const zb_json *entry) {
    if (zb_json_get(entry, "array") || zb_hdf5_refers(zb_json_get(entry, "type")))
        return;
    const zb_json *named = zb_hdf5_entry_named(entry);
    zb_json_write_name(out, zb_json_name(entry));
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(entry); one; one = zb_json_next(one))
        if (one != named)
            zb__members_put(out, one);
    zb_json_end_object(out);
}

enum zb_code zb_hdf5_extension_for_copies(const zb_hdf5_extension *extension, bool same_shape,
                                          zb_hdf5_has_fn has, void *context, char **out,
                                          zb_error *err) {
    bool any = false, failed = false;
    zb_json_writer *object = zb__members_begin(), *entries = zb_json_writer_new();
    for (const zb_json *one = extension ? zb_json_first(extension->object) : NULL; one;
         one = zb_json_next(one)) {
        if (!holds(one, same_shape))
            continue;
        any = true;
        zb__members_put(object, one);
    }
    zb_json_begin_object(entries);
    const zb_json *entry = zb_json_first(zb_hdf5_extension_get(extension, ZB_HDF5_ATTRIBUTES));
    for (; entry; entry = zb_json_next(entry))
        if (!has || has(context, zb_json_name(entry)))
            put_entry(entries, entry);
    any |= put_entries(object, end_entries(entries, &failed));
    return finish(object, any, failed, out, err);
}

/* ---- Of a node that gets them ---- */

/* Whether a member of the node's own stays. */
static bool is_kept(const zb_json *member, bool follows) {
    return !zb__member_is_version(member) && !is_entries(member) &&
           !(follows && holds(member, false));
}

enum zb_code zb_hdf5_extension_join(const zb_hdf5_extension *own, const zb_hdf5_extension *copied,
                                    bool follows, zb_hdf5_has_fn is_own, void *context, char **out,
                                    zb_error *err) {
    bool any = false, failed = false;
    zb_json_writer *object = zb__members_begin(), *entries = zb_json_writer_new();
    for (const zb_json *one = own ? zb_json_first(own->object) : NULL; one;
         one = zb_json_next(one)) {
        if (!is_kept(one, follows))
            continue;
        any = true;
        zb__members_put(object, one);
    }
    for (const zb_json *one = copied ? zb_json_first(copied->object) : NULL; one;
         one = zb_json_next(one)) {
        const zb_json *known = own ? zb_json_get(own->object, zb_json_name(one)) : NULL;
        if (zb__member_is_version(one) || is_entries(one) || (known && is_kept(known, follows)))
            continue;
        any = true;
        zb__members_put(object, one);
    }
    zb_json_begin_object(entries);
    const zb_json *entry = zb_json_first(zb_hdf5_extension_get(copied, ZB_HDF5_ATTRIBUTES));
    for (; entry; entry = zb_json_next(entry))
        zb__members_put(entries, entry);
    entry = zb_json_first(zb_hdf5_extension_get(own, ZB_HDF5_ATTRIBUTES));
    for (; entry; entry = zb_json_next(entry))
        if (!zb_hdf5_extension_entry(copied, zb_json_name(entry)) &&
            (!follows || is_own(context, zb_json_name(entry))))
            zb__members_put(entries, entry);
    any |= put_entries(object, end_entries(entries, &failed));
    return finish(object, any, failed, out, err);
}
