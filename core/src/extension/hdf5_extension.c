/* SPDX-License-Identifier: MIT */
/* Parsing the HDF5 extension, and its table of members. */
#include "extension/hdf5_extension.h"

#include <stdlib.h>
#include <string.h>

#define NAMED "named" /* of an entry; the member of a dataset has the same name */

#define TEXT (1u << ZB_JSON_STRING)
#define OBJECT (1u << ZB_JSON_OBJECT)
#define LIST (1u << ZB_JSON_ARRAY)
#define NUMBER (1u << ZB_JSON_NUMBER)
#define BOOL (1u << ZB_JSON_BOOL)

static const zb__hdf5_row rows[ZB_HDF5_MEMBERS] = {
    [ZB_HDF5_TYPE] = {"type", TEXT | OBJECT, ZB__MERGE_LAST, ZB__COPIES_TYPES},
    [ZB_HDF5_SPACE] = {"space", TEXT, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_MAXSHAPE] = {"maxshape", LIST, ZB__MERGE_LAST, ZB__COPIES_SHAPE},
    [ZB_HDF5_NAMED] = {NAMED, TEXT, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_SCALES] = {"scales", OBJECT, ZB__MERGE_ENTRIES, ZB__COPIES_NONE},
    [ZB_HDF5_DATATYPE] = {"datatype", TEXT | OBJECT, ZB__MERGE_LAST, ZB__COPIES_TYPES},
    [ZB_HDF5_LINKS] = {"links", OBJECT, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_ORDER] = {"order", LIST, ZB__MERGE_NUMBERED, ZB__COPIES_NONE},
    [ZB_HDF5_ORDER_INDEXED] = {"order_indexed", BOOL, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_DIMENSIONS] = {"dimensions", OBJECT, ZB__MERGE_ENTRIES, ZB__COPIES_NONE},
    [ZB_HDF5_MOVED] = {"moved", OBJECT, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_MOVING] = {"moving", LIST, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_NAMES] = {"names", LIST, ZB__MERGE_NAMES, ZB__COPIES_NONE},
    [ZB_HDF5_CREATION] = {"creation", OBJECT, ZB__MERGE_LAST, ZB__COPIES_TYPES},
    [ZB_HDF5_COMMENT] = {"comment", TEXT, ZB__MERGE_LAST, ZB__COPIES_TYPES},
    [ZB_HDF5_REFERENCES] = {"references", NUMBER, ZB__MERGE_LAST, ZB__COPIES_NONE},
    [ZB_HDF5_ATTRIBUTE_LIST] = {"attribute_list", LIST, ZB__MERGE_NUMBERED, ZB__COPIES_NONE},
    [ZB_HDF5_ATTRIBUTES] = {"attributes", OBJECT, ZB__MERGE_LAST, ZB__COPIES_ENTRIES},
    [ZB_HDF5_NULL_TEXTS] = {"null_texts", TEXT, ZB__MERGE_LAST, ZB__COPIES_NONE},
};

const zb__hdf5_row *zb__hdf5_row_of(enum zb_hdf5_member member) {
    return &rows[member];
}

const char *zb_hdf5_member_name(enum zb_hdf5_member member) {
    return rows[member].name;
}

enum zb_hdf5_member zb_hdf5_member_called(const char *name) {
    unsigned i = 0;
    while (i < ZB_HDF5_MEMBERS && strcmp(rows[i].name, name) != 0)
        i++;
    return (enum zb_hdf5_member)i;
}

/* ---- Parsing ---- */

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_HDF5_EXTENSION);
}

enum zb_code zb_hdf5_extension_parse(const zb_json *value, zb_hdf5_extension **out, zb_error *err) {
    zb_json *object;
    *out = NULL;
    if (zb__members_parse(value, &object))
        return fail_memory(err);
    if (!zb__members_are_known(object)) {
        zb_json_free(object);
        return ZB_OK;
    }
    zb_hdf5_extension *extension = *out = calloc(1, sizeof *extension);
    if (!extension) {
        zb_json_free(object);
        return fail_memory(err);
    }
    extension->object = object;
    for (const zb_json *one = zb_json_first(object); one; one = zb_json_next(one)) {
        const enum zb_hdf5_member member = zb_hdf5_member_called(zb_json_name(one));
        if (member < ZB_HDF5_MEMBERS && rows[member].kinds & 1u << zb_json_kind_of(one))
            extension->member[member] = one;
    }
    return ZB_OK;
}

enum zb_code zb_hdf5_extension_of(const zb_node *node, zb_hdf5_extension **out, zb_error *err) {
    return zb_hdf5_extension_parse(zb_json_get(zb_node_attributes(node), ZB_HDF5_EXTENSION), out,
                                   err);
}

zb_hdf5_extension *zb_hdf5_extension_copy(const zb_hdf5_extension *extension) {
    zb_hdf5_extension *copy = extension ? malloc(sizeof *copy) : NULL;
    if (!copy)
        return NULL;
    *copy = *extension;
    copy->object = zb_json_retain(extension->object);
    return copy;
}

void zb_hdf5_extension_free(zb_hdf5_extension *extension) {
    if (extension)
        zb_json_free(extension->object);
    free(extension);
}

/* ---- Members ---- */

const zb_json *zb_hdf5_extension_get(const zb_hdf5_extension *extension,
                                     enum zb_hdf5_member member) {
    return extension ? extension->member[member] : NULL;
}

const zb_json *zb_hdf5_extension_entry(const zb_hdf5_extension *extension, const char *attribute) {
    return zb_json_get(zb_hdf5_extension_get(extension, ZB_HDF5_ATTRIBUTES), attribute);
}

const zb_json *zb_hdf5_entry_named(const zb_json *entry) {
    return zb_json_get(entry, NAMED);
}

bool zb_hdf5_extension_uses_types(const zb_hdf5_extension *extension) {
    const zb_json *entry = zb_json_first(zb_hdf5_extension_get(extension, ZB_HDF5_ATTRIBUTES));
    if (zb_hdf5_extension_get(extension, ZB_HDF5_NAMED))
        return true;
    while (entry && !zb_hdf5_entry_named(entry))
        entry = zb_json_next(entry);
    return entry != NULL;
}

char *zb_hdf5_entry_rename(const zb_json *entry, const char *name) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(entry); one; one = zb_json_next(one)) {
        if (strcmp(zb_json_name(one), NAMED) != 0) {
            zb__members_put(out, one);
            continue;
        }
        zb_json_write_name(out, NAMED);
        zb_json_write_string(out, name);
    }
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

/* A type is an object within others; the JSON parser bounds how deep they lie. */
bool zb_hdf5_refers(const zb_json *type) {
    const char *name = zb_json_string(zb_json_get(type, "class"));
    if (name && strcmp(name, "reference") == 0)
        return true;
    const zb_json *part = zb_json_first(type);
    while (part && !zb_hdf5_refers(part))
        part = zb_json_next(part);
    return part != NULL;
}

/* ---- Links to a node ---- */

/* False when memory runs out; `path` is NULL also for a text that leads above the root. */
static bool resolve(const char *base, const char *text, char **path) {
    const size_t length = strlen(base);
    char *end = *path = malloc(length + strlen(text) + 2);
    if (!*path)
        return false;
    memcpy(*path, base, length);
    end += length;
    while (*text) {
        const size_t size = strcspn(text, "/");
        if (size == 2 && strncmp(text, "..", 2) == 0) {
            if (end == *path) {
                free(*path);
                *path = NULL;
                return true;
            }
            while (end > *path && *--end != '/') {
            }
        } else if (size > 0 && !(size == 1 && *text == '.')) {
            if (end > *path)
                *end++ = '/';
            memcpy(end, text, size);
            end += size;
        }
        text += size;
        text += *text == '/';
    }
    *end = '\0';
    return true;
}

char *zb_path_resolve(const char *base, const char *text) {
    char *path;
    return resolve(base, text, &path) ? path : NULL;
}
