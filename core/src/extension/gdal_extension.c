/* SPDX-License-Identifier: MIT */
#include "extension/gdal_extension.h"

#include <stdlib.h>
#include <string.h>

#include "extension/member_text.h"

#define PREFIX "zarrbridge:"

#define TEXT (1u << ZB_JSON_STRING)
#define OBJECT (1u << ZB_JSON_OBJECT)
#define LIST (1u << ZB_JSON_ARRAY)
#define NUMBER (1u << ZB_JSON_NUMBER)
#define BOOL (1u << ZB_JSON_BOOL)

static const struct {
    const char *former; /* the member's name behind the prefix */
    unsigned kinds;     /* bits: 1 << enum zb_json_kind */
} rows[ZB_GDAL_MEMBERS] = {
    [ZB_GDAL_PAM] = {PREFIX "pam", TEXT},
    [ZB_GDAL_NODATA] = {PREFIX "nodata", LIST | NUMBER},
    [ZB_GDAL_FILL_IS_NODATA] = {PREFIX "fill_value_is_nodata", BOOL},
    [ZB_GDAL_MASK] = {PREFIX "mask", TEXT},
    [ZB_GDAL_MASK_OF] = {PREFIX "mask_of", TEXT},
    [ZB_GDAL_HAS_CRS] = {PREFIX "has_crs", BOOL},
    [ZB_GDAL_COORDINATE_EPOCH] = {PREFIX "coordinate_epoch", NUMBER | LIST},
    [ZB_GDAL_OVERRULED] = {PREFIX "overruled_coordinates", LIST},
    [ZB_GDAL_LEVEL_OF] = {PREFIX "level_of", OBJECT},
    [ZB_GDAL_REPEATS_PLACE] = {PREFIX "repeats_place", BOOL},
};

static const char *name_of(enum zb_gdal_member member) {
    return rows[member].former + strlen(PREFIX);
}

struct zb_gdal_extension {
    zb_json *object;                        /* NULL: of earlier versions alone */
    const zb_json *member[ZB_GDAL_MEMBERS]; /* of both; NULL: none of its kind */
};

static enum zb_gdal_member member_called(const char *name) {
    unsigned i = 0;
    while (i < ZB_GDAL_MEMBERS && strcmp(name_of((enum zb_gdal_member)i), name) != 0)
        i++;
    return (enum zb_gdal_member)i;
}

bool zb_gdal_owns_attribute(const char *name) {
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* The XML was the extension's own attribute. */
const char *zb_gdal_former_name(enum zb_gdal_member member) {
    return member == ZB_GDAL_PAM ? NULL : rows[member].former;
}

/* ---- Parsing ---- */

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_GDAL_EXTENSION);
}

/* What was said first stays. */
static void take(zb_gdal_extension *extension, enum zb_gdal_member member, const zb_json *value) {
    if (value && member < ZB_GDAL_MEMBERS && rows[member].kinds & 1u << zb_json_kind_of(value) &&
        !extension->member[member])
        extension->member[member] = value;
}

static void take_object(zb_gdal_extension *extension) {
    if (zb__members_are_known(extension->object))
        for (const zb_json *one = zb_json_first(extension->object); one; one = zb_json_next(one))
            take(extension, member_called(zb_json_name(one)), one);
}

static void take_former(zb_gdal_extension *extension, const zb_json *attributes) {
    if (!extension->object)
        take(extension, ZB_GDAL_PAM, zb_json_get(attributes, ZB_GDAL_EXTENSION));
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS; i++)
        if (zb_gdal_former_name((enum zb_gdal_member)i))
            take(extension, (enum zb_gdal_member)i, zb_json_get(attributes, rows[i].former));
}

static bool has_any(const zb_json *attributes) {
    const zb_json *one = zb_json_first(attributes);
    while (one && !zb_gdal_owns_attribute(zb_json_name(one)))
        one = zb_json_next(one);
    return one != NULL;
}

/* Most nodes have nothing of it, and need no memory. */
enum zb_code zb_gdal_extension_parse(const zb_json *attributes, zb_gdal_extension **out,
                                     zb_error *err) {
    *out = NULL;
    if (zb_json_kind_of(attributes) != ZB_JSON_OBJECT || !has_any(attributes))
        return ZB_OK;
    const zb_json *value = zb_json_get(attributes, ZB_GDAL_EXTENSION);
    zb_gdal_extension *extension = calloc(1, sizeof *extension);
    if (!extension || zb__members_parse(value, &extension->object)) {
        free(extension);
        return fail_memory(err);
    }
    take_object(extension);
    take_former(extension, attributes);
    *out = extension;
    return ZB_OK;
}

void zb_gdal_extension_free(zb_gdal_extension *extension) {
    if (extension)
        zb_json_free(extension->object);
    free(extension);
}

/* ---- Members ---- */

const zb_json *zb_gdal_extension_get(const zb_gdal_extension *extension,
                                     enum zb_gdal_member member) {
    return extension ? extension->member[member] : NULL;
}

static zb_gdal_extension *extension_of(const zb_node *node) {
    zb_gdal_extension *extension = NULL;
    if (node)
        (void)zb_gdal_extension_parse(zb_node_attributes(node), &extension, NULL);
    return extension;
}

bool zb_gdal_flag(const zb_node *node, enum zb_gdal_member member, bool otherwise) {
    zb_gdal_extension *extension = extension_of(node);
    const zb_json *said = zb_gdal_extension_get(extension, member);
    const bool flag = said ? zb_json_bool(said) : otherwise;
    zb_gdal_extension_free(extension);
    return flag;
}

char *zb_gdal_text(const zb_node *node, enum zb_gdal_member member) {
    zb_gdal_extension *extension = extension_of(node);
    const char *said = zb_json_string(zb_gdal_extension_get(extension, member));
    char *text = said ? strdup(said) : NULL;
    zb_gdal_extension_free(extension);
    return text;
}

/* ---- Changes ---- */

/* The last change of a member; NULL: it stays. */
static const zb_gdal_change *change_of(const zb_gdal_change *changes, size_t count,
                                       enum zb_gdal_member member) {
    while (count-- > 0)
        if (changes[count].member == member)
            return &changes[count];
    return NULL;
}

/* True if the member is there. */
static bool put_member(zb_json_writer *out, enum zb_gdal_member member, const zb_json *now,
                       const zb_gdal_change *change) {
    if (change ? !change->value : !now)
        return false;
    zb_json_write_name(out, name_of(member));
    if (change)
        zb_json_write_raw(out, change->value);
    else
        zb_json_write_value(out, now);
    return true;
}

/* Members of a later version. */
static bool put_unknown(zb_json_writer *out, const zb_json *object) {
    bool any = false;
    for (const zb_json *one = zb_json_first(object); one; one = zb_json_next(one)) {
        if (zb__member_is_version(one) || member_called(zb_json_name(one)) < ZB_GDAL_MEMBERS)
            continue;
        zb__members_put(out, one);
        any = true;
    }
    return any;
}

/* `unknown`: the object whose other members stay, or NULL. */
static enum zb_code print(const zb_gdal_extension *now, const zb_json *unknown,
                          const zb_gdal_change *changes, size_t count, char **out, zb_error *err) {
    zb_json_writer *object = zb__members_begin();
    bool any = put_unknown(object, unknown);
    *out = NULL;
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS; i++) {
        const enum zb_gdal_member member = (enum zb_gdal_member)i;
        any |= put_member(object, member, zb_gdal_extension_get(now, member),
                          change_of(changes, count, member));
    }
    char *text = zb__members_end(object);
    if (!text)
        return fail_memory(err);
    if (any)
        *out = text;
    else
        free(text);
    return ZB_OK;
}

enum zb_code zb_gdal_extension_change(const zb_gdal_extension *now, const zb_gdal_change *changes,
                                      size_t count, char **out, zb_error *err) {
    const zb_json *object = now ? now->object : NULL;
    *out = NULL;
    if (object && !zb__members_are_known(object))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the attribute " ZB_GDAL_EXTENSION " is of another version of this library: "
                       "change it with that, or remove it");
    return print(now, object, changes, count, out, err);
}

bool zb__gdal_write(zb_json_writer *attributes, const zb_gdal_extension *other,
                    const zb_gdal_change *changes, size_t count) {
    char *value;
    if (print(other, NULL, changes, count, &value, NULL))
        return false;
    if (value) {
        zb_json_write_name(attributes, ZB_GDAL_EXTENSION);
        zb_json_write_raw(attributes, value);
    }
    free(value);
    return true;
}
