/* SPDX-License-Identifier: MIT */
/* The array that a new dataset becomes: see spec.h. */
#include "create/spec.h"

#include "attributes/elements.h"
#include "create/creation_list.h"
#include "create/codecs_to_filters.h"
#include "create/pipeline.h"
#include "create/zarr_properties.h"
#include "dataset/dataset.h"
#include "dataset/max_shape.h"
#include "hdf5/errors.h"
#include "hdf5/text.h"
#include "types/type_json.h"
#include "types/types.h"
#include "objects/committed_types.h"
#include "tree/side.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

void vol_spec_clear(vol_spec *spec) {
    free(spec->fill);
    free(spec->fill_text);
    free(spec->codecs);
    free(spec->keys);
    free(spec->attributes);
    free(spec->run);
    vol_element_clear(&spec->element);
    vol_changes_clear(&spec->side);
    spec->fill = spec->fill_text = spec->codecs = spec->keys = spec->attributes = NULL;
    spec->run = NULL;
}

static enum zb_code take_space(h5_lib *lib, hid_t space, vol_spec *out, zb_error *err) {
    hsize_t dims[ZB_MAX_NDIM];
    if (lib->H5Sget_simple_extent_type(space) == H5S_NULL) {
        out->spec.ndim = 1;
        out->shape[0] = out->max_shape[0] = 0;
        return vol_side_put(&out->side, ZB_HDF5_SPACE, VOL_SPACE_NULL, err);
    }
    int ndim = lib->H5Sget_simple_extent_ndims(space);
    if (ndim < 0 || lib->H5Sget_simple_extent_dims(space, dims, out->max_shape) < 0)
        return zb_fail(err, ZB_EINVAL, "the dataspace cannot be used");
    out->spec.ndim = (uint32_t)ndim;
    for (uint32_t d = 0; d < out->spec.ndim; d++)
        out->shape[d] = dims[d];
    return vol_max_shape_describe(out->spec.ndim, out->shape, out->max_shape,
                                  out->layout == H5D_CHUNKED, &out->side, err);
}

/* What HDF5's own files do not take, so that every dataset of a store copies to one: their compact
   data are in the header from the beginning, and elements of any length are not in the chunk. */
static enum zb_code check_list(h5_lib *lib, hid_t type, hid_t dcpl, const vol_spec *spec,
                               zb_error *err) {
    H5D_alloc_time_t when;
    if (spec->layout == H5D_COMPACT && lib->H5Pget_alloc_time(dcpl, &when) >= 0 &&
        when != H5D_ALLOC_TIME_DEFAULT && when != H5D_ALLOC_TIME_EARLY)
        return zb_fail(
            err, ZB_EINVAL,
            "a dataset of the layout H5D_COMPACT is allocated early: take another layout "
            "or time (H5Pset_alloc_time)");
    const bool is_variable =
        lib->H5Tget_class(type) == H5T_VLEN || lib->H5Tis_variable_str(type) > 0;
    for (int i = 0; is_variable && i < lib->H5Pget_nfilters(dcpl); i++) {
        const vol_filter filter = vol_filter_at(lib, dcpl, (unsigned)i);
        if (filter.id == H5Z_FILTER_FLETCHER32 && !(filter.flags & H5Z_FLAG_OPTIONAL))
            return zb_fail(err, ZB_EINVAL,
                           "fletcher32 does not suit elements of variable length: set it as an "
                           "optional filter (H5Pset_filter with H5Z_FLAG_OPTIONAL)");
    }
    return ZB_OK;
}

static enum zb_code take_chunk(h5_lib *lib, const vol_options *options, hid_t dcpl, vol_spec *out,
                               zb_error *err) {
    const uint32_t ndim = out->spec.ndim;
    hsize_t chunk[ZB_MAX_NDIM];
    switch (out->layout) {
    case H5D_CHUNKED:
        if (lib->H5Pget_chunk(dcpl, ZB_MAX_NDIM, chunk) != (int)ndim)
            return zb_fail(err, ZB_EINVAL, "the chunk shape has not the dataset's %u dimensions",
                           ndim);
        for (uint32_t d = 0; d < ndim; d++)
            out->chunk[d] = chunk[d];
        return ZB_OK;
    case H5D_VIRTUAL:
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "Zarr has no virtual datasets; write the data, or keep the dataset in an "
                       ".h5 file");
    default:
        break;
    }
    if (lib->H5Pget_external_count(dcpl) > 0)
        return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no datasets in external files");
    if (options->chunks.cut == VOL_CUT_SHAPE && options->chunks.ndim == ndim)
        memcpy(out->chunk, options->chunks.shape, sizeof out->chunk);
    else
        zb_default_chunk(ndim, out->shape, out->spec.dtype.size, NULL, out->chunk);
    return ZB_OK;
}

/* Shapes from an option are rounded up to whole chunks. */
static void shard_of_option(const vol_cutting *cutting, vol_spec *out) {
    for (uint32_t d = 0; d < out->spec.ndim; d++) {
        uint64_t rest = cutting->shape[d] % out->chunk[d];
        if (__builtin_add_overflow(cutting->shape[d], rest ? out->chunk[d] - rest : 0,
                                   &out->shard[d]))
            out->shard[d] = out->chunk[d];
    }
}

/* Extents and pipelines are those of shards where the property of shards says so, never by an
   option: the chunks that were asked for stay what they are. */
static enum zb_code take_shard(h5_lib *lib, const vol_options *options, hid_t dcpl, vol_spec *out,
                               zb_error *err) {
    const vol_cutting *cutting = &options->shards;
    const uint32_t ndim = out->spec.ndim;
    bool sharded = false;
    enum zb_code code = ZB_OK;
    if (lib->H5Pexist(dcpl, VOL_SHARD_PROPERTY) > 0) {
        code = vol_shards_take(lib, dcpl, out, &sharded, err);
    } else if (out->spec.chunk_runs || lib->H5Pexist(dcpl, VOL_CODECS_PROPERTY) > 0) {
        return ZB_OK;
    } else if (cutting->cut == VOL_CUT_SHAPE && cutting->ndim == ndim) {
        shard_of_option(cutting, out);
        sharded = true;
    } else if (cutting->cut != VOL_CUT_OFF) {
        sharded =
            zb_default_shard(ndim, out->shape, out->spec.dtype.size, NULL, out->chunk, out->shard);
    }
    if (sharded)
        out->spec.shard_shape = out->shard;
    return code;
}

/* HDF5 knows no conversion between character sets, so the text is asked for in the dataset's own
   type. It makes the text, or bytes, by malloc; a null pointer is the empty text. */
static enum zb_code take_fill_text(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *out,
                                   zb_error *err) {
    zb_slice *fill = out->fill = calloc(1, sizeof *fill);
    char element[sizeof(hvl_t)] = {0}; /* the longest form of variable length */
    vol_text_form form;
    if (!fill)
        return zb_fail(err, ZB_ENOMEM, "no memory for a fill value");
    if (!vol_text_form_of(lib, type, &form) || lib->H5Pget_fill_value(dcpl, type, element) < 0)
        return zb_fail(err, ZB_EINVAL, "the fill value does not fit the dataset's type");
    *fill = vol_text_get(&form, element);
    out->fill_text = vol_text_memory(&form, element);
    out->spec.fill_value = out->fill;
    return ZB_OK;
}

/* HDF5 gives an element with all that it points at. */
static enum zb_code take_fill_nested(vol_file *file, hid_t type, hid_t dcpl, vol_spec *out,
                                     zb_error *err) {
    vol_form *form;
    zb_slice *fill = out->fill = calloc(1, sizeof *fill);
    enum zb_code code = fill ? vol_form_new(file, type, &form, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for a fill value");
    if (code)
        return code;
    void *element = calloc(1, form->size);
    if (!element || file->lib->H5Pget_fill_value(dcpl, type, element) < 0)
        code = zb_fail(err, ZB_EINVAL, "the fill value does not fit the dataset's type");
    else
        code = vol_element_print(form, element, fill, err);
    out->fill_text = (char *)(uintptr_t)fill->data;
    out->spec.fill_value = fill;
    vol_elements_free(form, 1, element);
    vol_form_free(form);
    return code;
}

/* HDF5 gives the fill value as an element of the dataset's type. */
static enum zb_code take_fill_element(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *out,
                                      zb_error *err) {
    zb_dtype host = out->spec.dtype;
    host.swapped = false;
    void *element = calloc(1, out->element.view.size);
    out->fill = calloc(1, host.size);
    const bool good = element && out->fill && lib->H5Pget_fill_value(dcpl, type, element) >= 0 &&
                      zb_dtype_convert(out->element.view, element, host, out->fill, 1);
    free(element);
    if (!good)
        return zb_fail(err, ZB_EINVAL, "the fill value does not fit the dataset's type");
    out->spec.fill_value = out->fill;
    return ZB_OK;
}

/* Undefined and default fill values are both zero. HDF5 makes no dataset, and so no copy of one,
   that has to be filled with an undefined value. */
static enum zb_code take_fill(vol_file *file, hid_t type, hid_t dcpl, vol_spec *out,
                              zb_error *err) {
    h5_lib *lib = file->lib;
    H5D_fill_value_t status;
    H5D_fill_time_t time;
    if (lib->H5Pfill_value_defined(dcpl, &status) < 0)
        return ZB_OK;
    if (status == H5D_FILL_VALUE_UNDEFINED && lib->H5Pget_fill_time(dcpl, &time) >= 0 &&
        time == H5D_FILL_TIME_ALLOC)
        return zb_fail(err, ZB_EINVAL,
                       "an undefined fill value cannot be written when chunks are allocated: give "
                       "a fill value, or another time (H5Pset_fill_time)");
    if (status != H5D_FILL_VALUE_USER_DEFINED)
        return ZB_OK;
    if (out->element.nested)
        return take_fill_nested(file, type, dcpl, out, err);
    return zb_dtype_is_variable(out->spec.dtype) ? take_fill_text(lib, type, dcpl, out, err)
                                                 : take_fill_element(lib, type, dcpl, out, err);
}

/* ---- What only HDF5 knows ---- */

/* In HDF5's own files elements that point at others have to be filled. */
static enum zb_code check_fill_time(h5_lib *lib, hid_t dcpl, bool points, zb_error *err) {
    H5D_fill_time_t time;
    if (!points || lib->H5Pget_fill_time(dcpl, &time) < 0 || time != H5D_FILL_TIME_NEVER)
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL,
                   "elements of variable length are always filled: take another time than "
                   "H5D_FILL_TIME_NEVER (H5Pset_fill_time)");
}

/* What nested elements are made of is not looked at before. */
static enum zb_code check_elements(vol_file *file, hid_t type, hid_t dcpl, const vol_spec *spec,
                                   zb_error *err) {
    vol_form *form = NULL;
    enum zb_code code = spec->element.nested ? vol_form_new(file, type, &form, err) : ZB_OK;
    if (form && form->size > VOL_ATTR_LARGEST)
        code = zb_fail(err, ZB_ELIMIT, "an element can take %zu bytes", VOL_ATTR_LARGEST);
    const bool points = form ? vol_form_points(form) : zb_dtype_is_variable(spec->element.dtype);
    vol_form_free(form);
    return code ? code : check_fill_time(file->lib, dcpl, points, err);
}

/* The type as a member of side.h, unless a reader of the array alone shows the same one. */
static enum zb_code keep_type(h5_lib *lib, hid_t type, vol_spec *out, zb_error *err) {
    if (vol_type_shows(lib, type, out->element.dtype))
        return ZB_OK;
    zb_json_writer *text = zb_json_writer_new();
    enum zb_code code = vol_type_print(lib, type, text, err);
    char *json = zb_json_writer_end(text, NULL);
    if (!code)
        code = json ? vol_side_put(&out->side, ZB_HDF5_TYPE, json, err)
                    : zb_fail(err, ZB_ENOMEM, "no memory for the text of a type");
    free(json);
    return code;
}

/* The name of the committed datatype that the type is, as a member of side.h. */
static enum zb_code keep_named(const vol_file *file, hid_t type, vol_spec *out, zb_error *err) {
    char *name;
    enum zb_code code = vol_committed_refer(file, type, &name, err);
    if (code || !name)
        return code;
    zb_json_writer *text = zb_json_writer_new();
    zb_json_write_string(text, name);
    free(name);
    char *json = zb_json_writer_end(text, NULL);
    code = json ? vol_side_put(&out->side, ZB_HDF5_NAMED, json, err)
                : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    free(json);
    return code;
}

static enum zb_code print_attributes(vol_spec *out, zb_error *err) {
    if (out->side.count == 0)
        return ZB_OK;
    out->spec.attributes = out->attributes = vol_side_print_new(&out->side);
    return out->attributes ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for attributes");
}

enum zb_code vol_spec_make(vol_file *file, hid_t type, hid_t space, hid_t dcpl, vol_spec *out,
                           zb_error *err) {
    h5_lib *lib = file->lib;
    const vol_options *options = &file->options;
    *out = (vol_spec){.layout = lib->H5Pget_layout(dcpl)};
    out->spec.shape = out->shape;
    out->spec.inner_shape = out->chunk;
    enum zb_code code = vol_element_make(lib, type, &out->element, err);
    out->spec.dtype = out->element.dtype;
    if (!code)
        code = check_elements(file, type, dcpl, out, err);
    if (!code)
        code = check_list(lib, type, dcpl, out, err);
    if (!code)
        code = keep_type(lib, type, out, err);
    if (!code)
        code = keep_named(file, type, out, err);
    if (!code)
        code = take_space(lib, space, out, err);
    if (!code)
        code = take_chunk(lib, options, dcpl, out, err);
    if (!code)
        code = vol_runs_take(lib, dcpl, out, err);
    if (!code)
        code = take_shard(lib, options, dcpl, out, err);
    if (!code)
        code = vol_keys_take(lib, dcpl, options, out, err);
    if (!code)
        code = take_fill(file, type, dcpl, out, err);
    if (!code)
        code = vol_pipeline_take(lib, dcpl, out, err);
    if (!code)
        code = vol_list_member_of_dataset(lib, type, dcpl, out, err);
    if (!code)
        code = print_attributes(out, err);
    return code;
}

/* ---- Committed datatypes ---- */

/* Of its group; *out is malloc'ed. */
static enum zb_code datatype_attributes(h5_lib *lib, const char *type, hid_t tcpl, char **out,
                                        zb_error *err) {
    vol_changes members = {.count = 0};
    *out = NULL;
    enum zb_code code = vol_side_put(&members, ZB_HDF5_DATATYPE, type, err);
    if (!code)
        code = vol_list_member_add(lib, tcpl, &members, err);
    if (!code && !(*out = vol_side_print_new(&members)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the attributes of a committed datatype");
    vol_changes_clear(&members);
    return code;
}

enum zb_code vol_datatype_make(vol_file *file, hid_t type, hid_t tcpl, const vol_place *place,
                               vol_node **out, zb_error *err) {
    zb_json_writer *text = zb_json_writer_new();
    enum zb_code code = vol_type_print(file->lib, type, text, err);
    char *json = zb_json_writer_end(text, NULL), *attributes = NULL;
    if (!code && !json)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a committed datatype");
    if (!code)
        code = datatype_attributes(file->lib, json, tcpl, &attributes, err);
    free(json);
    if (!code)
        code = place ? vol_edit_create_group(place, attributes, out, err)
                     : vol_edit_create_loose_group(file, attributes, out, err);
    free(attributes);
    return code;
}
