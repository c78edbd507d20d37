/* SPDX-License-Identifier: MIT */
/* Large attributes: see large.h. */
#include "attributes/large.h"

#include "attributes/attribute_list.h"
#include "attributes/large_attributes.h"
#include "types/stored_type.h"
#include "hdf5/errors.h"
#include "hdf5/text.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

/* Below, the name of an array and the attribute's entry take as much of the document. */
#define LEAST_BYTES 1024

/* Dimensions without a variable are kept by their group, and have no place for arrays. */
bool vol_large_is(vol_node *owner, size_t bytes) {
    return !owner->is_dimension && (bytes > zb_limits_get()->attribute_bytes ||
                                    (bytes >= LEAST_BYTES && vol_waiting_crowds(owner, bytes)));
}

/* ---- Elements of variable length ---- */

static enum zb_code fail_memory(const char *name, zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for attribute '%s'", name);
}

/* Slices of elements; those of nested ones are made, and owned. */
typedef struct texts {
    zb_slice *slice;
    size_t count;
    bool owned;
} texts;

static void free_texts(texts *t) {
    for (size_t i = 0; t->owned && i < t->count; i++)
        free((char *)(uintptr_t)t->slice[i].data);
    free(t->slice);
}

static enum zb_code make_texts(const vol_attr_elements *e, bool nested, texts *out, zb_error *err) {
    vol_text_form form = {.size = 0};
    enum zb_code code = ZB_OK;
    *out = (texts){.slice = calloc(e->count, sizeof *out->slice), .owned = nested};
    if (!out->slice)
        return fail_memory(e->name, err);
    if (!nested && !vol_text_form_of(e->form->lib, e->type, &form))
        return zb_fail(err, ZB_EINVAL, "the type of attribute '%s' cannot be used", e->name);
    for (; out->count < e->count && !code; out->count++) {
        const char *element = (const char *)e->data + out->count * e->form->size;
        zb_slice *slice = &out->slice[out->count];
        if (nested)
            code = vol_element_print(e->form, element, slice, err);
        else
            *slice = vol_text_get(&form, element);
    }
    return code;
}

static bool are_utf8(const texts *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->slice[i].size > 0 && !vol_text_is_utf8(t->slice[i].data))
            return false;
    return true;
}

static enum zb_code parse_texts(const vol_attr *attr, hid_t type, const vol_form *form, bool nested,
                                const zb_slice *slices, char *out, zb_error *err) {
    vol_text_form text;
    enum zb_code code = ZB_OK;
    if (!nested && !vol_text_form_of(form->lib, type, &text))
        return zb_fail(err, ZB_EINVAL, "the type cannot be used");
    for (size_t i = 0; i < attr->count && !code; i++)
        code = nested ? vol_element_parse(form, slices[i], out + i * form->size, err)
                      : vol_text_put(&text, slices[i], out + i * form->size, err);
    return code;
}

/* ---- Null pointers in place of texts ---- */

/* In an array each is the empty text, which every reader takes. Which ones were null is said beside
   the array, in the attribute of tree/side.h: the base64 of a bit for each text, in the order of
   the elements and of what they point at, the lowest bit of a byte first. */

typedef struct bits {
    unsigned char *bytes; /* NULL: only counted */
    uint64_t count;       /* of the texts so far */
    uint64_t nulls;       /* those among them that are null */
} bits;

static void walk(const vol_form *form, size_t count, char *elements,
                 void (*visit)(char *element, bits *all), bits *all);

static void walk_one(const vol_form *form, char *element, void (*visit)(char *element, bits *all),
                     bits *all) {
    hvl_t list;
    switch (form->kind) {
    case VOL_FORM_TEXT:
        if (form->text.is_variable)
            visit(element, all);
        return;
    case VOL_FORM_COMPOUND:
        for (size_t m = 0; m < form->count; m++)
            walk(form->member[m].form, 1, element + form->member[m].offset, visit, all);
        return;
    case VOL_FORM_ARRAY:
        walk(form->base, form->count, element, visit, all);
        return;
    case VOL_FORM_VLEN:
        memcpy(&list, element, sizeof list);
        if (list.p)
            walk(form->base, list.len, list.p, visit, all);
        return;
    default:
        return;
    }
}

static void walk(const vol_form *form, size_t count, char *elements,
                 void (*visit)(char *element, bits *all), bits *all) {
    if (!vol_form_has(form, VOL_FORM_TEXT))
        return;
    for (size_t i = 0; i < count; i++)
        walk_one(form, elements + i * form->size, visit, all);
}

static char *text_at(const char *element) {
    char *text;
    memcpy(&text, element, sizeof text); /* in a packed compound it lies anywhere */
    return text;
}

static void note_null(char *element, bits *all) {
    const bool is_null = !text_at(element);
    if (is_null && all->bytes)
        all->bytes[all->count / 8] |= (unsigned char)(1u << all->count % 8);
    all->nulls += is_null;
    all->count++;
}

static char *print_member(const bits *all) {
    zb_json_writer *out = zb_json_writer_new();
    vol_elements_write_base64(out, all->bytes, (size_t)(all->count + 7) / 8);
    return zb_json_writer_end(out, NULL);
}

/* The attributes of an array with these elements: a JSON object as text (malloc'ed); *out is NULL
   when no text is null. */
static enum zb_code print_nulls(const vol_form *form, size_t count, const void *elements,
                                char **out, zb_error *err) {
    char *from = (char *)(uintptr_t)elements; /* it is only read */
    bits all = {.bytes = NULL};
    vol_changes members = {.count = 0};
    *out = NULL;
    walk(form, count, from, note_null, &all);
    if (all.nulls == 0)
        return ZB_OK;
    all = (bits){.bytes = calloc(1, (size_t)(all.count + 7) / 8)};
    if (all.bytes)
        walk(form, count, from, note_null, &all);
    char *text = all.bytes ? print_member(&all) : NULL;
    free(all.bytes);
    if (text && vol_side_put(&members, ZB_HDF5_NULL_TEXTS, text, err) == ZB_OK)
        *out = vol_side_print_new(&members);
    vol_changes_clear(&members);
    free(text);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the null pointers of texts");
}

static void make_null(char *element, bits *all) {
    static char *const nothing;
    char *text = text_at(element);
    const bool was_null = all->bytes[all->count / 8] >> all->count % 8 & 1;
    all->count++;
    if (!was_null || !text || *text)
        return;
    free(text);
    memcpy(element, &nothing, sizeof nothing);
}

/* Makes those null again. What an array says that has another number of texts, and of texts that
   are not empty, another program has made: it does not count. */
static enum zb_code apply_nulls(const vol_form *form, size_t count, void *elements,
                                const zb_node *array, zb_error *err) {
    zb_hdf5_extension *side;
    const enum zb_code code = zb_hdf5_extension_of(array, &side, err);
    const char *base64 = zb_json_string(zb_hdf5_extension_get(side, ZB_HDF5_NULL_TEXTS));
    size_t size = 0;
    bits all = {.bytes = base64 ? zb_base64_parse(base64, &size) : NULL}, counted = {.count = 0};
    if (all.bytes) {
        walk(form, count, elements, note_null, &counted);
        if (size == (counted.count + 7) / 8)
            walk(form, count, elements, make_null, &all);
    }
    free(all.bytes);
    zb_hdf5_extension_free(side);
    return code;
}

/* ---- Writing ---- */

static enum zb_code write_elements(const vol_node *owner, zb_node *array, const void *data,
                                   zb_dtype dtype, zb_error *err) {
    const zb_write_options options = {.sync = owner->file->options.sync};
    const zb_write box = {.data = data, .dtype = dtype};
    zb_writer *writer;
    enum zb_code code = zb_writer_open(array, &options, &writer, err);
    if (code)
        return code;
    code = zb_writer_write(writer, &box, err);
    enum zb_code closed = zb_writer_close(writer, code ? NULL : err);
    return code ? code : closed;
}

static enum zb_code create_array(vol_node *owner, const vol_attr_elements *e, zb_dtype dtype,
                                 const char *name, zb_node **out, zb_error *err) {
    uint64_t shape[ZB_MAX_NDIM] = {0}, chunk[ZB_MAX_NDIM];
    hsize_t dims[ZB_MAX_NDIM];
    const int ndim = e->form->lib->H5Sget_simple_extent_dims(e->space, dims, NULL);
    if (ndim < 0)
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    for (int d = 0; d < ndim; d++)
        shape[d] = dims[d];
    zb_array_spec spec = {
        .ndim = (uint32_t)ndim, .shape = shape, .inner_shape = chunk, .dtype = dtype};
    char *attributes = NULL;
    zb_default_chunk(spec.ndim, shape, dtype.size, NULL, chunk);
    enum zb_code code = print_nulls(e->form, e->count, e->data, &attributes, err);
    spec.attributes = attributes;
    if (!code && owner->file->ranks)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "an attribute above the limit attribute_bytes cannot be written by several "
                       "ranks: make it a dataset, or write it with one process");
    if (!code)
        code = vol_large_note(owner, name, err); /* until an entry names it */
    if (!code)
        code = zb_hidden_create(owner->zarr, name, &spec, out, err);
    free(attributes);
    return code;
}

static enum zb_code write_array(vol_node *owner, const vol_attr_elements *e, const char *name,
                                zb_error *err) {
    vol_element element;
    texts t = {.slice = NULL};
    zb_node *array = NULL;
    enum zb_code code = vol_element_make(e->form->lib, e->type, &element, err);
    const bool varies = !code && zb_dtype_is_variable(element.dtype);
    zb_dtype stored = element.dtype;
    if (varies)
        code = make_texts(e, element.nested, &t, err);
    if (!code && stored.kind == ZB_KIND_STRING && !are_utf8(&t))
        stored.kind = ZB_KIND_BYTES;
    if (!code)
        code = create_array(owner, e, stored, name, &array, err);
    if (!code)
        code = write_elements(owner, array, varies ? t.slice : e->data,
                              varies ? stored : element.view, err);
    zb_node_release(array);
    free_texts(&t);
    vol_element_clear(&element);
    return code;
}

enum zb_code vol_large_write(vol_node *owner, const vol_attr_elements *elements, char **plain,
                             char **entry, zb_error *err) {
    char *name = vol_large_new_name();
    *plain = *entry = NULL;
    if (!name)
        return fail_memory(elements->name, err);
    enum zb_code code = write_array(owner, elements, name, err);
    if (!code)
        code = vol_exact_print_hidden(owner, elements, name, plain, entry, err);
    free(name);
    return code;
}

/* ---- Reading ---- */

static enum zb_code check_array(const vol_attr *attr, const vol_element *element,
                                const zb_array_info *info, zb_error *err) {
    bool fits = info && info->ndim == attr->ndim;
    for (uint32_t d = 0; fits && d < attr->ndim; d++)
        fits = info->shape[d] == attr->dims[d];
    const bool is_text = element->dtype.kind == ZB_KIND_STRING && !element->nested;
    fits = fits && (vol_element_fits(element, info->dtype) ||
                    (is_text && info->dtype.kind == ZB_KIND_BYTES));
    return fits ? ZB_OK
                : zb_fail(err, ZB_EFORMAT, "its array %s has another type or shape", attr->array);
}

/* Into `out`: attr->count elements of zeros until now. */
static enum zb_code read_elements(const vol_attr *attr, hid_t type, const vol_form *form,
                                  const vol_element *element, const zb_node *array, char *out,
                                  zb_error *err) {
    zb_read read = {.node = array, .view = {.data = out, .dtype = element->view}};
    if (!zb_dtype_is_variable(element->dtype))
        return zb_array_read(&read, 1, err);
    zb_slice *slices = calloc(attr->count, sizeof *slices);
    zb_values *values = NULL;
    enum zb_code code = slices ? zb_values_new(&values, err) : fail_memory(attr->name, err);
    read.view = (zb_view){.data = slices, .dtype = zb_node_array(array)->dtype, .values = values};
    if (!code)
        code = zb_array_read(&read, 1, err);
    if (!code)
        code = parse_texts(attr, type, form, element->nested, slices, out, err);
    if (!code)
        code = apply_nulls(form, attr->count, out, array, err);
    zb_values_free(values);
    free(slices);
    return code;
}

/* *out belongs to the caller, complete or not. */
static enum zb_code load(const vol_node *owner, const vol_attr *attr, hid_t type,
                         const vol_form *form, void **out, zb_error *err) {
    vol_element element = {.owned = NULL};
    zb_node *array = NULL;
    enum zb_code code = zb_hidden_open(owner->zarr, attr->array, &array, err);
    if (!code)
        code = vol_element_make(form->lib, type, &element, err);
    if (!code)
        code = check_array(attr, &element, zb_node_array(array), err);
    if (!code && !(*out = calloc(attr->count, form->size)))
        code = fail_memory(attr->name, err);
    if (!code)
        code = read_elements(attr, type, form, &element, array, *out, err);
    vol_element_clear(&element);
    zb_node_release(array);
    return code;
}

herr_t vol_large_read(vol_node *owner, const vol_attr *attr) {
    h5_lib *lib = owner->file->lib;
    vol_form *form = NULL;
    void *elements = NULL;
    zb_error err = {0};
    if (!attr->array || attr->data)
        return 0;
    hid_t type = vol_attr_type(lib, attr);
    enum zb_code code = vol_form_new(owner->file, type, &form, &err);
    if (!code)
        code = load(owner, attr, type, form, &elements, &err);
    vol_attr *found = code ? NULL : vol_attrs_find(vol_node_attrs_now(owner), attr->name);
    if (found)
        found->data = elements;
    else if (form)
        vol_elements_free(form, attr->count, elements);
    vol_form_free(form);
    vol_release_id(lib, type);
    if (!code)
        return 0;
    zb_error_prefix(&err, code, "attribute '%s' of '%s'", attr->name, owner->path);
    return VOL_PUSH_ZB(lib, ATTR, READERROR, &err);
}
