/* SPDX-License-Identifier: MIT */
/* Entries of attributes: see exact.h. */
#include "attributes/exact.h"

#include "attributes/large_attributes.h"
#include "attributes/reference_kinds.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "types/type_json.h"
#include "types/types.h"
#include "tree/side.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

#define NAME_CHARSET "name_charset"

/* ---- Dataspaces ---- */

typedef struct extent {
    bool is_null;
    uint32_t ndim;
    hsize_t dims[ZB_MAX_NDIM], max[ZB_MAX_NDIM];
    size_t count;
} extent;

static bool has_other_max(const extent *e) {
    return memcmp(e->dims, e->max, e->ndim * sizeof e->dims[0]) != 0;
}

static bool extent_of_space(h5_lib *lib, hid_t space, extent *out) {
    *out = (extent){.is_null = lib->H5Sget_simple_extent_type(space) == H5S_NULL};
    if (out->is_null)
        return true;
    const int ndim = lib->H5Sget_simple_extent_ndims(space);
    const hssize_t count = lib->H5Sget_select_npoints(space);
    if (ndim < 0 || ndim > ZB_MAX_NDIM || count < 0 ||
        lib->H5Sget_simple_extent_dims(space, out->dims, out->max) < 0)
        return false;
    out->ndim = (uint32_t)ndim;
    out->count = (size_t)count;
    return true;
}

static hid_t new_space(h5_lib *lib, const extent *e) {
    if (e->is_null)
        return lib->H5Screate(H5S_NULL);
    return e->ndim == 0 ? lib->H5Screate(H5S_SCALAR)
                        : lib->H5Screate_simple((int)e->ndim, e->dims, e->max);
}

/* An extent that would not fit is none. */
static bool parse_extents(const zb_json *list, hsize_t *out, uint32_t *ndim, bool may_be_endless) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) > ZB_MAX_NDIM)
        return false;
    *ndim = 0;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        uint64_t value = H5S_UNLIMITED;
        const bool is_endless = may_be_endless && zb_json_kind_of(one) == ZB_JSON_NULL;
        if (!is_endless && (!zb_json_uint64(one, &value) || value > INT64_MAX))
            return false;
        out[(*ndim)++] = value;
    }
    return true;
}

static bool parse_extent(const zb_json *entry, size_t element_size, extent *out) {
    const zb_json *shape = zb_json_get(entry, "shape"), *max = zb_json_get(entry, "max");
    uint32_t ndim;
    *out = (extent){.is_null = shape && zb_json_kind_of(shape) == ZB_JSON_NULL};
    if (out->is_null)
        return true;
    if (!parse_extents(shape, out->dims, &out->ndim, false))
        return false;
    memcpy(out->max, out->dims, sizeof out->max);
    if (max && (!parse_extents(max, out->max, &ndim, true) || ndim != out->ndim))
        return false;
    size_t bytes = element_size;
    out->count = 1;
    for (uint32_t d = 0; d < out->ndim; d++)
        if (out->max[d] < out->dims[d] ||
            __builtin_mul_overflow(out->count, (size_t)out->dims[d], &out->count))
            return false;
    return !__builtin_mul_overflow(bytes, out->count, &bytes) && bytes <= VOL_ATTR_LARGEST;
}

/* ---- Printing ---- */

static bool is_same_bytes(const vol_form *form, size_t count, const void *a, const void *b) {
    size_t left_size, right_size;
    unsigned char *left = vol_elements_pack(form, count, a, VOL_PACK_STORED, &left_size);
    unsigned char *right = vol_elements_pack(form, count, b, VOL_PACK_STORED, &right_size);
    const bool same =
        left && right && left_size == right_size && memcmp(left, right, left_size) == 0;
    free(left);
    free(right);
    return same;
}

/* Whether the plain translation would show the same attribute. */
static bool is_plain_enough(vol_node *owner, const vol_attr_elements *e, const extent *space,
                            const zb_json *value) {
    h5_lib *lib = owner->file->lib;
    vol_attrs *attrs = vol_attrs_new(lib);
    bool same = false;
    if (attrs && vol_attrs_add_plain(attrs, owner, value)) {
        const vol_attr *plain = vol_attrs_find(attrs, zb_json_name(value));
        hid_t type = vol_attr_type(lib, plain);
        same = type >= 0 && plain->is_null == space->is_null && plain->ndim == space->ndim &&
               memcmp(plain->dims, space->dims, space->ndim * sizeof plain->dims[0]) == 0 &&
               !has_other_max(space) && vol_type_same(lib, type, e->type) &&
               (space->is_null || is_same_bytes(e->form, e->count, plain->data, e->data));
        vol_release_id(lib, type);
    }
    vol_attrs_free(attrs);
    return same;
}

static bool is_never(const vol_form *form, uint64_t *token, void *context) {
    (void)form, (void)token, (void)context;
    return false;
}

/* The references of bytes are those of the plain value, which so has to give them back. */
static enum zb_code ask_for_bytes(const vol_attr_elements *e, const extent *space,
                                  const zb_json *value, bool *needed, zb_error *err) {
    void *parsed;
    *needed = false;
    if (space->is_null)
        return ZB_OK;
    const enum zb_code code =
        vol_elements_parse(e->form, space->ndim, space->dims, e->count, value, &parsed);
    *needed = code || !is_same_bytes(e->form, e->count, parsed, e->data);
    if (!code)
        vol_elements_free(e->form, e->count, parsed);
    else if (!vol_elements_references(e->form, e->count, (void *)e->data, is_never, NULL))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "attribute '%s' has references beside what JSON cannot say; store them in an "
            "attribute of their own",
            e->name);
    return ZB_OK;
}

static void print_extents(zb_json_writer *out, const char *name, const extent *e,
                          const hsize_t *extents) {
    zb_json_write_name(out, name);
    zb_json_begin_array(out);
    for (uint32_t d = 0; d < e->ndim; d++)
        if (extents[d] == H5S_UNLIMITED)
            zb_json_write_null(out);
        else
            zb_json_write_uint64(out, extents[d]);
    zb_json_end_array(out);
}

static void print_bytes(zb_json_writer *out, const vol_attr_elements *e) {
    size_t size;
    unsigned char *bytes = vol_elements_pack(e->form, e->count, e->data, VOL_PACK_STORED, &size);
    zb_json_write_name(out, "data");
    vol_elements_write_base64(bytes ? out : NULL, bytes, bytes ? size : 0);
    free(bytes);
}

/* What an entry has besides type and dataspace. */
typedef struct entry_parts {
    const char *plain; /* the value, as JSON text; NULL when it is elsewhere */
    const char *array; /* the hidden array that it is in, or NULL */
    bool with_bytes;
} entry_parts;

static void print_parts(zb_json_writer *w, const vol_attr_elements *e, const entry_parts *parts) {
    if (parts->plain) {
        zb_json_write_name(w, "value");
        zb_json_write_raw(w, parts->plain);
    }
    if (parts->array) {
        zb_json_write_name(w, VOL_LARGE_ARRAY);
        zb_json_write_string(w, parts->array);
    }
    if (parts->with_bytes)
        print_bytes(w, e);
    if (e->committed) {
        zb_json_write_name(w, zb_hdf5_member_name(ZB_HDF5_NAMED));
        zb_json_write_string(w, e->committed);
    }
    if (e->is_utf8) {
        zb_json_write_name(w, NAME_CHARSET);
        zb_json_write_uint64(w, H5T_CSET_UTF8);
    }
}

static enum zb_code print_entry(h5_lib *lib, const vol_attr_elements *e, const extent *space,
                                const entry_parts *parts, char **out, zb_error *err) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, "type");
    enum zb_code code = vol_type_print(lib, e->type, w, err);
    if (!code && e->new_refs > 0) {
        zb_json_write_name(w, VOL_EXACT_NEW_REFS);
        code = vol_type_print(lib, e->new_refs, w, err);
    }
    if (space->is_null) {
        zb_json_write_name(w, "shape");
        zb_json_write_null(w);
    } else {
        print_extents(w, "shape", space, space->dims);
    }
    if (has_other_max(space))
        print_extents(w, "max", space, space->max);
    print_parts(w, e, parts);
    zb_json_end_object(w);
    *out = zb_json_writer_end(w, NULL);
    if (!code && !*out)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the type of attribute '%s'", e->name);
    if (code) {
        free(*out);
        *out = NULL;
    }
    return code;
}

/* The value with its name, which the plain translation needs; freed by zb_json_free. */
static enum zb_code parse_member(const char *name, const char *plain, zb_json **out,
                                 zb_error *err) {
    size_t size;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, name);
    zb_json_write_raw(w, plain);
    zb_json_end_object(w);
    char *text = zb_json_writer_end(w, &size);
    enum zb_code code = text ? zb_json_parse(text, size, out, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for attribute '%s'", name);
    free(text);
    return code;
}

enum zb_code vol_exact_print(vol_node *owner, const vol_attr_elements *elements, const char *plain,
                             char **out, zb_error *err) {
    h5_lib *lib = owner->file->lib;
    extent space;
    zb_json *object;
    *out = NULL;
    if (!extent_of_space(lib, elements->space, &space))
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    enum zb_code code = parse_member(elements->name, plain, &object, err);
    if (code)
        return code;
    const zb_json *value = zb_json_first(object);
    if (elements->committed || elements->is_utf8 || elements->new_refs > 0 ||
        !is_plain_enough(owner, elements, &space, value)) {
        entry_parts parts = {.plain = NULL};
        code = ask_for_bytes(elements, &space, value, &parts.with_bytes, err);
        if (!code)
            code = print_entry(lib, elements, &space, &parts, out, err);
    }
    zb_json_free(object);
    return code;
}

enum zb_code vol_exact_print_whole(vol_node *owner, const vol_attr_elements *elements,
                                   const char *plain, char **out, zb_error *err) {
    extent space;
    zb_json *object;
    *out = NULL;
    if (!extent_of_space(owner->file->lib, elements->space, &space))
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    enum zb_code code = parse_member(elements->name, plain, &object, err);
    if (code)
        return code;
    entry_parts parts = {.plain = plain};
    if (!vol_form_has(elements->form, VOL_FORM_REFERENCE))
        code = ask_for_bytes(elements, &space, zb_json_first(object), &parts.with_bytes, err);
    zb_json_free(object);
    return code ? code : print_entry(owner->file->lib, elements, &space, &parts, out, err);
}

enum zb_code vol_exact_print_hidden(vol_node *owner, const vol_attr_elements *elements,
                                    const char *array, char **plain, char **out, zb_error *err) {
    const entry_parts parts = {.array = array};
    extent space;
    *out = *plain = NULL;
    if (!extent_of_space(owner->file->lib, elements->space, &space))
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, VOL_LARGE_ARRAY);
    zb_json_write_string(w, array);
    zb_json_end_object(w);
    *plain = zb_json_writer_end(w, NULL);
    if (!*plain)
        return zb_fail(err, ZB_ENOMEM, "no memory for attribute '%s'", elements->name);
    return print_entry(owner->file->lib, elements, &space, &parts, out, err);
}

/* ---- Reading ---- */

/* The elements in the form of the plain value; NULL when memory runs out. */
static char *print_plain(const vol_form *form, const extent *space, vol_node *owner, hid_t type,
                         const char *name, const void *elements) {
    char *printed;
    const vol_attr_elements e = {
        .name = name, .type = type, .form = form, .count = space->count, .data = elements};
    return vol_attr_print(owner, &e, space->ndim, space->dims, &printed, NULL) == ZB_OK ? printed
                                                                                        : NULL;
}

static bool make_null(const vol_form *form, uint64_t *token, void *context) {
    (void)form, (void)context;
    *token = 0;
    return true;
}

/* What the bytes have to print as. Where there are references the elements take them of the value,
   in which they may have the names of objects that have moved or gone. A value that cannot be
   parsed has none (ask_for_bytes). */
static char *take_meant(const vol_form *form, const extent *space, vol_node *owner, hid_t type,
                        const zb_json *value, void *elements) {
    void *parsed;
    if (!vol_form_has(form, VOL_FORM_REFERENCE))
        return zb_json_print(value);
    const enum zb_code code =
        vol_elements_parse(form, space->ndim, space->dims, space->count, value, &parsed);
    if (code) {
        vol_elements_references(form, space->count, elements, make_null, NULL);
        return code == ZB_ENOMEM ? NULL : zb_json_print(value);
    }
    char *meant = vol_elements_take_references(form, space->count, elements, parsed)
                      ? print_plain(form, space, owner, type, zb_json_name(value), parsed)
                      : NULL;
    vol_elements_free(form, space->count, parsed);
    return meant;
}

/* The bytes of an entry, as elements that print as the value does; NULL when there are none. */
static void *elements_of_bytes(const vol_form *form, const extent *space, vol_node *owner,
                               hid_t type, const zb_json *entry, const zb_json *value) {
    const char *data = zb_json_string(zb_json_get(entry, "data"));
    size_t size;
    void *bytes = data ? zb_base64_parse(data, &size) : NULL;
    if (!bytes)
        return NULL;
    void *elements = vol_elements_unpack(form, space->count, bytes, size);
    free(bytes);
    if (!elements)
        return NULL;
    char *meant = take_meant(form, space, owner, type, value, elements);
    char *printed = print_plain(form, space, owner, type, zb_json_name(value), elements);
    const bool same = printed && meant && strcmp(printed, meant) == 0;
    free(printed);
    free(meant);
    if (same)
        return elements;
    vol_elements_free(form, space->count, elements);
    return NULL;
}

static bool elements_of(const vol_form *form, const extent *space, vol_node *owner, hid_t type,
                        const zb_json *entry, const zb_json *value, void **out) {
    const char *array = vol_large_array(entry), *meant = vol_large_array(value);
    *out = NULL;
    if (space->is_null)
        return zb_json_kind_of(value) == ZB_JSON_NULL;
    if (array) /* vol_large_read gets them when they are asked for */
        return space->count > 0 && meant && strcmp(array, meant) == 0;
    *out = elements_of_bytes(form, space, owner, type, entry, value);
    return *out ||
           vol_elements_parse(form, space->ndim, space->dims, space->count, value, out) == ZB_OK;
}

static bool has_utf8_name(const zb_json *entry) {
    uint64_t charset;
    return zb_json_uint64(zb_json_get(entry, NAME_CHARSET), &charset) && charset == H5T_CSET_UTF8;
}

/* The type in which the attribute shows, if the entry tells one that differs in nothing but the
   kind of references. False when memory runs out. */
static bool hold_new_refs(h5_lib *lib, const zb_json *entry, hid_t type, vol_attr *attr) {
    const zb_json *member = zb_json_get(entry, VOL_EXACT_NEW_REFS);
    bool lacks_memory = false;
    hid_t shown = member ? vol_type_parse(lib, member, &lacks_memory) : -1;
    hid_t old = shown >= 0 && vol_refs_are_new(lib, shown) ? vol_refs_old_type(lib, shown) : -1;
    const size_t size = old >= 0 ? lib->H5Tget_size(shown) : 0;
    if (size > 0 && attr->count <= VOL_ATTR_LARGEST / size && lib->H5Tequal(old, type) > 0)
        lacks_memory = !vol_type_hold(lib, shown, &attr->new_refs);
    vol_release_id(lib, old);
    vol_release_id(lib, shown);
    return !lacks_memory;
}

/* Takes the elements over. */
static bool place(vol_attrs *attrs, const char *name, hid_t type, const extent *space,
                  const vol_form *form, const zb_json *entry, void *elements) {
    h5_lib *lib = attrs->lib;
    const char *committed = zb_json_string(zb_hdf5_entry_named(entry));
    const char *array = elements ? NULL : vol_large_array(entry);
    vol_attr attr = {.kind = form->kind == VOL_FORM_TEXT && form->text.is_variable ? VOL_ATTR_TEXT
                                                                                   : VOL_ATTR_BYTES,
                     .points = vol_form_points(form),
                     .is_null = space->is_null,
                     .ndim = space->ndim,
                     .count = space->count,
                     .dtype = {.size = (uint32_t)form->size},
                     .name = strdup(name),
                     .space = new_space(lib, space),
                     .committed = committed ? strdup(committed) : NULL,
                     .is_utf8 = has_utf8_name(entry),
                     .array = array ? strdup(array) : NULL,
                     .data = elements};
    memcpy(attr.dims, space->dims, sizeof attr.dims);
    const bool complete = hold_new_refs(lib, entry, type, &attr) &&
                          vol_type_hold(lib, type, &attr.type) && attr.name && attr.space > 0 &&
                          (attr.array || !array);
    vol_attr *to = complete ? vol_attrs_place(attrs, name) : NULL;
    if (to)
        *to = attr;
    else
        vol_attr_clear(lib, &attr);
    return to != NULL;
}

static bool apply(vol_attrs *attrs, vol_node *owner, const zb_json *entry, const zb_json *value,
                  bool by_path) {
    h5_lib *lib = attrs->lib;
    extent space;
    vol_form *form = NULL;
    void *elements;
    bool good = true, lacks_memory;
    hid_t stack = vol_stack_save(lib);
    hid_t type = vol_type_parse(lib, zb_json_get(entry, "type"), &lacks_memory);
    if (type >= 0)
        lacks_memory = vol_form_new(owner->file, type, &form, NULL) == ZB_ENOMEM;
    if (form && by_path)
        vol_form_go_by_path(form);
    if (lacks_memory)
        good = false;
    else if (form && parse_extent(entry, form->size, &space) &&
             elements_of(form, &space, owner, type, entry, value, &elements))
        good = place(attrs, zb_json_name(value), type, &space, form, entry, elements);
    vol_form_free(form);
    if (type >= 0)
        lib->H5Tclose(type);
    vol_stack_restore(lib, stack);
    return good;
}

bool vol_exact_apply_entry(vol_attrs *attrs, vol_node *owner, const zb_json *entry,
                           const zb_json *value) {
    return apply(attrs, owner, entry, value, true);
}

bool vol_exact_apply_made(vol_attrs *attrs, vol_node *owner, const zb_json *both,
                          const char *name) {
    const bool numbered = attrs->numbered;
    attrs->numbered = false;
    const bool good =
        vol_exact_apply_entry(attrs, owner, zb_json_get(both, "entry"), zb_json_get(both, name));
    attrs->numbered = numbered;
    return good;
}

zb_json *vol_exact_parse(zb_json_writer *writer) {
    size_t size;
    zb_json *value = NULL;
    char *text = zb_json_writer_end(writer, &size);
    if (text && zb_json_parse(text, size, &value, NULL) != ZB_OK)
        value = NULL;
    free(text);
    return value;
}

bool vol_exact_apply(vol_attrs *attrs, vol_node *owner, const zb_json *value) {
    const zb_json *entry = vol_side_entry(owner, zb_json_name(value));
    return !entry || apply(attrs, owner, entry, value, false);
}
