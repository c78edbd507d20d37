/* SPDX-License-Identifier: MIT */
/* See creation_list.h. */
#include "create/creation_list.h"

#include "attributes/elements.h"
#include "create/codecs_to_filters.h"
#include "create/list_properties.h"
#include "create/pipeline.h"
#include "create/zarr_properties.h"
#include "dataset/dataset.h"
#include "dataset/max_shape.h"
#include "hdf5/errors.h"
#include "hdf5/text.h"
#include "types/types.h"
#include "links/link_order.h"
#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUT "layout"
#define FILL "fill"
#define TRACK_TIMES "track_times"

static const char contiguous[] = "contiguous", compact[] = "compact";
static const char by_default[] = "default", undefined[] = "undefined";

/* The largest message of an object header, without what a layout takes of it. */
#define COMPACT_BYTES 65531

/* Of the dataset, group or type; NULL for what is not in the store. */
static const zb_json *member_of(vol_node *node, const char *name) {
    return node->is_unreadable ? NULL : zb_json_get(vol_side_get(node, ZB_HDF5_CREATION), name);
}

/* Ends the object: unless it is empty, or could not be made (code), it becomes a member of
   side.h. */
static enum zb_code end(zb_json_writer *object, enum zb_code code, bool any, vol_changes *members,
                        zb_error *err) {
    zb_json_end_object(object);
    char *json = zb_json_writer_end(object, NULL);
    if (!code && !json)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a creation list");
    if (!code && any)
        code = vol_side_put(members, ZB_HDF5_CREATION, json, err);
    free(json);
    return code;
}

static void print_text(zb_json_writer *out, const char *name, const char *text, bool *any) {
    *any = true;
    zb_json_write_name(out, name);
    zb_json_write_string(out, text);
}

/* ---- Layouts ---- */

static bool is_null(const vol_spec *spec) {
    return vol_side_find(&spec->side, ZB_HDF5_SPACE) != NULL;
}

/* Chunks that the program has described in any way are shown, whatever the list says of a
   layout. */
static bool wants_chunks(h5_lib *lib, hid_t dcpl, const vol_spec *spec) {
    for (uint32_t d = 0; d < spec->spec.ndim && !is_null(spec); d++)
        if (spec->max_shape[d] != spec->shape[d])
            return true;
    return lib->H5Pget_nfilters(dcpl) > 0 || lib->H5Pexist(dcpl, VOL_SHARD_PROPERTY) > 0 ||
           lib->H5Pexist(dcpl, VOL_RUNS_PROPERTY) > 0 ||
           lib->H5Pexist(dcpl, VOL_CODECS_PROPERTY) > 0;
}

/* False when an HDF5 file could not hold it in this layout either. */
static bool fits_compact(uint32_t ndim, const uint64_t *shape, uint64_t bytes) {
    for (uint32_t d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, shape[d], &bytes))
            return false;
    return bytes <= COMPACT_BYTES;
}

/* The layout that the new dataset will show. */
static enum zb_code layout_of(h5_lib *lib, hid_t dcpl, const vol_spec *spec, H5D_layout_t *out,
                              zb_error *err) {
    const bool has_shape = spec->spec.ndim > 0 && !is_null(spec);
    *out = spec->layout;
    if (*out != H5D_COMPACT && !has_shape)
        *out = H5D_CONTIGUOUS;
    if (*out == H5D_CHUNKED || wants_chunks(lib, dcpl, spec))
        *out = has_shape ? H5D_CHUNKED : H5D_CONTIGUOUS;
    if (*out == H5D_COMPACT && !fits_compact(spec->spec.ndim, spec->shape, spec->spec.dtype.size))
        return zb_fail(err, ZB_EINVAL,
                       "a dataset of the layout H5D_COMPACT has at most %d bytes: take another "
                       "layout",
                       COMPACT_BYTES);
    return ZB_OK;
}

static void print_layout(const vol_spec *spec, H5D_layout_t layout, zb_json_writer *out,
                         bool *any) {
    if (layout == H5D_COMPACT)
        print_text(out, LAYOUT, compact, any);
    else if (layout == H5D_CONTIGUOUS && spec->spec.ndim > 0 && !is_null(spec))
        print_text(out, LAYOUT, contiguous, any);
}

/* True if the array can grow within the shape that HDF5 programs see. */
static bool can_grow(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    const uint64_t *max_shape = vol_max_shape(dataset);
    return max_shape && info->ndim > 0 &&
           memcmp(max_shape, info->shape, info->ndim * sizeof *max_shape) != 0;
}

H5D_layout_t vol_list_member_layout(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    const bool has_shape = info->ndim > 0 && !vol_node_is_null(dataset);
    const H5D_layout_t otherwise = has_shape ? H5D_CHUNKED : H5D_CONTIGUOUS;
    const char *kept = zb_json_string(member_of(dataset, LAYOUT));
    if (!kept || (has_shape && (can_grow(dataset) || !vol_pipeline_is_plain(dataset))))
        return otherwise;
    if (strcmp(kept, compact) == 0 && fits_compact(info->ndim, info->shape, info->dtype.size))
        return H5D_COMPACT;
    return strcmp(kept, contiguous) == 0 ? H5D_CONTIGUOUS : otherwise;
}

/* ---- Fill values ---- */

static void print_fill(h5_lib *lib, hid_t dcpl, zb_json_writer *out, bool *any) {
    H5D_fill_value_t status;
    if (lib->H5Pfill_value_defined(dcpl, &status) < 0)
        return;
    if (status == H5D_FILL_VALUE_DEFAULT)
        print_text(out, FILL, by_default, any);
    else if (status == H5D_FILL_VALUE_UNDEFINED)
        print_text(out, FILL, undefined, any);
}

/* HDF5's default is zero. */
static bool fill_is_zero(const zb_array_info *info) {
    const unsigned char *fill = info->fill_value;
    if (zb_dtype_is_variable(info->dtype))
        return ((const zb_slice *)info->fill_value)->size == 0;
    for (uint32_t i = 0; i < info->dtype.size; i++)
        if (fill[i] != 0)
            return false;
    return true;
}

/* Whether the fill value is one that the program has not given. */
static bool member_has_no_fill(vol_node *dataset, hid_t dcpl) {
    const char *kept = zb_json_string(member_of(dataset, FILL));
    if (!kept || !fill_is_zero(zb_node_array(dataset->zarr)))
        return false;
    if (strcmp(kept, undefined) != 0)
        return strcmp(kept, by_default) == 0;
    hid_t type = vol_node_type(dataset);
    const bool set = dataset->file->lib->H5Pset_fill_value(dcpl, type, NULL) >= 0;
    vol_release_id(dataset->file->lib, type);
    return set;
}

/* ---- Filters ---- */

static void print_filters(h5_lib *lib, hid_t type, hid_t dcpl, zb_dtype dtype, zb_json_writer *out,
                          bool *any) {
    if (vol_list_filters_are_shown(lib, dcpl, dtype) ||
        lib->H5Pexist(dcpl, VOL_CODECS_PROPERTY) > 0)
        return;
    hid_t made = vol_filters_of_made(lib, type, dcpl);
    vol_list_filters_print(lib, made < 0 ? dcpl : made, out, any);
    vol_release_id(lib, made);
}

/* Puts the filters into a list that the program has given. False, and none, where no filters are
   kept, the library lacks one of them, or the array has another pipeline. */
static bool member_filters(vol_node *dataset, hid_t dcpl) {
    h5_lib *lib = dataset->file->lib;
    if (!vol_list_filters_add(lib, dcpl, member_of(dataset, VOL_LIST_FILTERS)))
        return false;
    if (vol_pipeline_is_of_filters(dataset, dcpl))
        return true;
    lib->H5Premove_filter(dcpl, H5Z_FILTER_ALL);
    return false;
}

/* ---- Whole lists ---- */

enum zb_code vol_list_member_of_dataset(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *out,
                                        zb_error *err) {
    H5D_layout_t layout;
    bool any = false;
    enum zb_code code = layout_of(lib, dcpl, out, &layout, err);
    if (code)
        return code;
    zb_json_writer *object = zb_json_writer_new();
    zb_json_begin_object(object);
    print_layout(out, layout, object, &any);
    print_fill(lib, dcpl, object, &any);
    if (layout == H5D_CHUNKED)
        print_filters(lib, type, dcpl, out->spec.dtype, object, &any);
    const enum vol_list_kind kind = (enum vol_list_kind)(VOL_LIST_DATASET + (int)layout);
    vol_list_numbers numbers;
    code = vol_list_properties_get(lib, dcpl, kind, &numbers, err);
    if (!code)
        vol_list_properties_print(&numbers, object, &any);
    return end(object, code, any, &out->side, err);
}

/* The kind of a list among those that have the member. */
static enum vol_list_kind kind_of(h5_lib *lib, hid_t list) {
    if (list == *lib->H5P_LST_GROUP_CREATE_ID_g) /* the commonest one, without a call */
        return VOL_LIST_GROUP;
    if (lib->H5Pisa_class(list, *lib->H5P_CLS_FILE_CREATE_ID_g) > 0)
        return VOL_LIST_FILE;
    return lib->H5Pisa_class(list, *lib->H5P_CLS_GROUP_CREATE_ID_g) > 0 ? VOL_LIST_GROUP
                                                                        : VOL_LIST_DATATYPE;
}

/* The filters of a group work on its links in an HDF5 file. */
static enum zb_code print_of_group(h5_lib *lib, hid_t list, enum vol_list_kind kind,
                                   zb_json_writer *out, bool *any, zb_error *err) {
    if (kind != VOL_LIST_DATATYPE && !vol_list_filters_print(lib, list, out, any))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "a filter of a group has at most %d values: leave it out of the list",
                       VOL_FILTER_VALUES);
    if (kind == VOL_LIST_FILE)
        vol_list_messages_print(lib, list, out, any);
    return ZB_OK;
}

static enum zb_code add_numbers(h5_lib *lib, hid_t list, const vol_list_numbers *numbers,
                                vol_changes *members, zb_error *err) {
    bool any = false;
    zb_json_writer *object = zb_json_writer_new();
    zb_json_begin_object(object);
    enum zb_code code =
        print_of_group(lib, list, (enum vol_list_kind)numbers->kind, object, &any, err);
    if (!code)
        vol_list_properties_print(numbers, object, &any);
    return end(object, code, any, members, err);
}

enum zb_code vol_list_member_add(h5_lib *lib, hid_t list, vol_changes *members, zb_error *err) {
    vol_list_numbers numbers;
    enum zb_code code = vol_list_properties_get(lib, list, kind_of(lib, list), &numbers, err);
    return code ? code : add_numbers(lib, list, &numbers, members, err);
}

/* What the attributes of the last group were made of. Programs make many groups by equal lists. */
struct h5_last_list {
    vol_list_numbers numbers;
    char attributes[]; /* empty for none */
};

static void remember(h5_lib *lib, const vol_list_numbers *numbers, const char *attributes) {
    const size_t size = attributes ? strlen(attributes) + 1 : 1;
    struct h5_last_list *last = malloc(sizeof *last + size);
    if (!last)
        return;
    last->numbers = *numbers;
    memcpy(last->attributes, attributes ? attributes : "", size);
    free(lib->last_list);
    lib->last_list = last;
}

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for attributes");
}

/* Lists that say no more than their numbers: filters and messages are looked at each time. */
static bool is_numbers(h5_lib *lib, hid_t list, const vol_list_numbers *numbers) {
    return numbers->kind == VOL_LIST_GROUP && lib->H5Pget_nfilters(list) == 0;
}

enum zb_code vol_list_member_attributes(h5_lib *lib, hid_t list, char **out, zb_error *err) {
    vol_list_numbers numbers;
    const struct h5_last_list *last = lib->last_list;
    *out = NULL;
    enum zb_code code = vol_list_properties_get(lib, list, kind_of(lib, list), &numbers, err);
    if (code)
        return code;
    const bool is_plain = is_numbers(lib, list, &numbers);
    if (is_plain && last && memcmp(&numbers, &last->numbers, sizeof numbers) == 0) {
        *out = *last->attributes ? strdup(last->attributes) : NULL;
        return *out || !*last->attributes ? ZB_OK : fail_memory(err);
    }
    vol_changes members = {.count = 0};
    code = add_numbers(lib, list, &numbers, &members, err);
    if (!code && members.count > 0 && !(*out = vol_side_print_new(&members)))
        code = fail_memory(err);
    vol_changes_clear(&members);
    if (!code && is_plain)
        remember(lib, &numbers, *out);
    return code;
}

static void show_of_group(vol_node *node, hid_t list) {
    h5_lib *lib = node->file->lib;
    hid_t saved = vol_stack_save(lib);
    vol_list_filters_add(lib, list, member_of(node, VOL_LIST_FILTERS));
    if (lib->H5Pisa_class(list, *lib->H5P_CLS_FILE_CREATE_ID_g) > 0)
        vol_list_messages_set(lib, list, vol_side_get(node, ZB_HDF5_CREATION));
    vol_stack_restore(lib, saved);
}

bool vol_list_member_tracks_times(vol_node *node) {
    const zb_json *tracks = member_of(node, TRACK_TIMES);
    return zb_json_kind_of(tracks) != ZB_JSON_BOOL || zb_json_bool(tracks);
}

static void member_show(vol_node *node, hid_t list) {
    const zb_json *kept = node->is_unreadable ? NULL : vol_side_get(node, ZB_HDF5_CREATION);
    if (!kept)
        return;
    vol_list_properties_set(node->file->lib, list, kept);
    if (node->kind == VOL_GROUP)
        show_of_group(node, list);
}

hid_t vol_list_member_new(vol_node *node, hid_t list_class) {
    hid_t list = vol_list_bare(node->file->lib, list_class);
    if (list >= 0)
        member_show(node, list);
    return list;
}

/* ---- The lists that nodes show ---- */

/*
 * An array's storage in HDF5's words: chunk shape, filters, fill value; and what groups were made
 * with.
 *
 * The chunk is the innermost one, the unit of decoding (or the shard: show=shards), cut to the
 * array where it is larger (HDF5 accepts no chunk that exceeds a fixed-size dataset, and h5repack
 * copies this list).
 */

/* With the option show=shards, programs that align to a dataset's chunks align to what can be
   written without a lock. */
static bool shows_shards(const vol_node *node) {
    return node->file->options.shows_shards;
}

/* False when HDF5 cannot express the chunk: 4 GiB and more. */
static bool chunk_shape(vol_node *node, const zb_array_info *info, hsize_t chunk[ZB_MAX_NDIM]) {
    uint64_t bytes = info->dtype.size;
    const uint64_t *max_shape = vol_max_shape(node);
    for (uint32_t d = 0; d < info->ndim; d++) {
        uint64_t longest = max_shape ? max_shape[d] : info->shape[d];
        chunk[d] = shows_shards(node) ? info->chunk_shape[d] : info->inner_shape[d];
        if (longest > 0 && chunk[d] > longest)
            chunk[d] = longest;
        if (__builtin_mul_overflow(bytes, chunk[d], &bytes) || bytes > UINT32_MAX)
            return false;
    }
    return true;
}

/* A text that stands for an element. HDF5 copies what that points at. */
static void set_nested_fill(vol_node *node, hid_t type, zb_slice text, hid_t dcpl) {
    h5_lib *lib = node->file->lib;
    vol_form *form;
    if (vol_form_new(node->file, type, &form, NULL) != ZB_OK)
        return;
    void *element = calloc(1, form->size);
    if (element && vol_element_parse(form, text, element, NULL) == ZB_OK)
        lib->H5Pset_fill_value(dcpl, type, element);
    vol_elements_free(form, 1, element);
    vol_form_free(form);
}

/* As the dataset's type has it. HDF5 copies the value, text included. */
static void set_fill_of(vol_node *node, const zb_array_info *info, hid_t type, hid_t dcpl) {
    h5_lib *lib = node->file->lib;
    if (vol_node_is_nested(node)) {
        set_nested_fill(node, type, *(const zb_slice *)info->fill_value, dcpl);
        return;
    }
    if (info->dtype.kind == ZB_KIND_STRING || info->dtype.kind == ZB_KIND_BYTES) {
        const zb_slice *fill = info->fill_value;
        vol_text_form form;
        char element[sizeof(hvl_t)]; /* the longest form of variable length */
        if (!vol_text_form_of(lib, type, &form) ||
            vol_text_put(&form, *fill, element, NULL) != ZB_OK)
            return;
        lib->H5Pset_fill_value(dcpl, type, element);
        vol_text_free(&form, element, 1);
        return;
    }
    const zb_dtype shown = vol_node_shown(node);
    void *fill = calloc(1, (size_t)shown.size + 1);
    if (fill && zb_dtype_convert(info->dtype, info->fill_value, shown, fill, 1))
        lib->H5Pset_fill_value(dcpl, type, fill);
    free(fill);
}

static void set_fill(vol_node *node, const zb_array_info *info, hid_t dcpl) {
    hid_t type = vol_node_type(node);
    set_fill_of(node, info, type, dcpl);
    vol_release_id(node->file->lib, type);
}

static hid_t new_dcpl(vol_node *node) {
    h5_lib *lib = node->file->lib;
    const zb_array_info *info = zb_node_array(node->zarr);
    hsize_t chunk[ZB_MAX_NDIM];
    const H5D_layout_t layout = vol_list_member_layout(node);
    hid_t dcpl = vol_list_member_new(node, *lib->H5P_CLS_DATASET_CREATE_ID_g);
    if (dcpl < 0)
        return -1;
    const bool is_null = vol_node_is_null(node), has_chunks = layout == H5D_CHUNKED;
    if (layout == H5D_COMPACT)
        lib->H5Pset_layout(dcpl, layout);
    if (has_chunks && chunk_shape(node, info, chunk)) {
        lib->H5Pset_chunk(dcpl, (int)info->ndim, chunk);
        if (!member_filters(node, dcpl))
            vol_filters_add(lib, dcpl, info);
    }
    /* netCDF-C takes the fill value of a text for a pointer, and writes all of it there. */
    if (!info->fill_is_default && !node->is_unreadable && !member_has_no_fill(node, dcpl))
        set_fill(node, info, dcpl);
    if (info->shard_depth > 0 && has_chunks && !shows_shards(node))
        vol_shards_add(lib, dcpl, info);
    if (!is_null && !node->is_unreadable && !node->is_dimension)
        vol_keys_add(lib, dcpl, node->zarr);
    if (has_chunks)
        vol_runs_add(lib, dcpl, node->zarr);
    if ((has_chunks || info->ndim == 0) && !is_null && !node->is_unreadable && !node->is_dimension)
        vol_pipeline_add(node, dcpl);
    return dcpl;
}

hid_t vol_node_dcpl(vol_node *node) {
    if (node->dcpl <= 0)
        node->dcpl = new_dcpl(node);
    return node->dcpl;
}

hid_t vol_group_list(vol_node *group, hid_t list_class) {
    hid_t list = vol_list_member_new(group, list_class);
    if (list >= 0)
        group->file->lib->H5Pset_link_creation_order(list, vol_order_flags(group));
    return list;
}
