/* SPDX-License-Identifier: MIT */
/*
 * See pipeline.h. What a pipeline comes to is asked of the core, by an array in memory that is made
 * as the dataset would be: whether it can be made at all, where its innermost chunks are, which
 * filters it shows.
 */
#include "create/pipeline.h"

#include "create/zarr_properties.h"

#include "create/codecs_to_filters.h"
#include "dataset/dataset.h"
#include "types/stored_type.h"
#include "hdf5/errors.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- Trials ---- */

static enum zb_code make_trial(const zb_array_spec *spec, zb_node **out, zb_error *err) {
    zb_hierarchy *hierarchy;
    enum zb_code code = zb_hierarchy_new_mem("(trial)", &hierarchy, err);
    if (code)
        return code;
    code = zb_array_create(hierarchy, "", spec, out, err);
    zb_hierarchy_release(hierarchy);
    return code;
}

static const zb_json *pipeline_of(const zb_node *array) {
    return zb_json_get(zb_node_document(array), "codecs");
}

/* ---- Comparing pipelines ---- */

/* A missing configuration is an empty one. */
static bool is_same_codec(const zb_codec_info *a, const zb_codec_info *b) {
    if (strcmp(a->name, b->name) != 0 || a->shard_level != b->shard_level)
        return false;
    if (zb_json_count(a->configuration) == 0 && zb_json_count(b->configuration) == 0)
        return true;
    return zb_json_same(a->configuration, b->configuration);
}

static bool is_same_pipeline(const zb_array_info *a, const zb_array_info *b) {
    bool same = a->codec_count == b->codec_count;
    for (size_t i = 0; same && i < a->codec_count; i++)
        same = is_same_codec(&a->codecs[i], &b->codecs[i]);
    return same;
}

/* ---- Lists of opened arrays ---- */

static zb_array_spec spec_of(const zb_array_info *info, const char *codecs) {
    return (zb_array_spec){.ndim = info->ndim,
                           .shape = info->shape,
                           .inner_shape = info->inner_shape,
                           .shard_shape = info->shard_depth > 0 ? info->chunk_shape : NULL,
                           .dtype = info->dtype,
                           .codecs = codecs};
}

/* Is a new dataset of the type that HDF5 programs see stored in the other byte order than the
   host's? */
static bool is_swapped(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    vol_element element;
    hid_t type = vol_node_type(dataset);
    const bool swapped =
        vol_element_make(lib, type, &element, NULL) == ZB_OK && element.dtype.swapped;
    vol_element_clear(&element);
    vol_release_id(lib, type);
    return swapped;
}

/* True if a dataset of this list, with these codecs, would have the array's pipeline. */
static bool makes_pipeline(vol_node *dataset, const char *codecs) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    zb_array_spec spec = spec_of(info, codecs);
    zb_node *trial;
    zb_error err;
    spec.dtype.swapped = is_swapped(dataset);
    if (make_trial(&spec, &trial, &err) != ZB_OK)
        return false;
    const bool same = is_same_pipeline(zb_node_array(trial), info);
    zb_node_release(trial);
    return same;
}

bool vol_pipeline_is_plain(vol_node *dataset) {
    return makes_pipeline(dataset, "[]");
}

bool vol_pipeline_is_of_filters(vol_node *dataset, hid_t dcpl) {
    const zb_dtype dtype = zb_node_array(dataset->zarr)->dtype;
    char *codecs = NULL;
    zb_error err;
    const bool same =
        vol_codecs_of_filters(dataset->file->lib, dcpl, dtype, &codecs, &err) == ZB_OK &&
        makes_pipeline(dataset, codecs);
    free(codecs);
    return same;
}

/* The codecs in the shards of an array, without the one that makes bytes: the core puts the same
   one there, or the pipelines differ. NULL without memory. */
static char *inner_codecs(const zb_array_info *info) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_array(out);
    for (size_t i = 0; i < info->codec_count; i++) {
        const zb_codec_info *codec = &info->codecs[i];
        if (codec->shard_level != info->shard_depth || strcmp(codec->name, "bytes") == 0 ||
            strcmp(codec->name, "vlen-utf8") == 0 || strcmp(codec->name, "vlen-bytes") == 0)
            continue;
        zb_codec_print(out, codec);
    }
    zb_json_end_array(out);
    return zb_json_writer_end(out, NULL);
}

/* The whole pipeline, if a new array can have it: of chunks, or shards, as one codec takes them. */
static char *whole_pipeline(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    char *codecs = zb_json_print(pipeline_of(array));
    zb_array_spec spec = spec_of(info, codecs);
    zb_node *trial;
    zb_error err;
    spec.inner_shape = info->chunk_shape;
    spec.shard_shape = NULL;
    if (codecs && make_trial(&spec, &trial, &err) == ZB_OK) {
        zb_node_release(trial);
        return codecs;
    }
    free(codecs);
    return NULL;
}

/* In shards that a list has words for, the inner codecs alone: such a list can get other chunks. */
static char *describe(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    char *codecs = info->shard_depth > 0 ? inner_codecs(info) : NULL;
    if (codecs && makes_pipeline(dataset, codecs))
        return codecs;
    free(codecs);
    return whole_pipeline(dataset->zarr);
}

/* Without memory the list lacks the property, as it lacks filters that HDF5 does not have. */
void vol_pipeline_add(vol_node *dataset, hid_t dcpl) {
    h5_lib *lib = dataset->file->lib;
    char *codecs = vol_pipeline_is_of_filters(dataset, dcpl) ? NULL : describe(dataset);
    if (!codecs)
        return;
    vol_text_property_add(lib, dcpl, VOL_CODECS_PROPERTY, codecs);
    vol_text_property_add(lib, dcpl, VOL_CODECS_SHOWN_PROPERTY, codecs);
    free(codecs);
}

/* ---- Lists of new datasets ---- */

/* A pipeline that makes bytes itself is that of whole chunks, which the core leaves as it is;
   behind any other list it puts the codec that makes bytes. Chunks are those of zarr:shard_shape,
   where the list has that. */
static enum zb_code place_pipeline(const char *codecs, vol_spec *out, zb_error *err) {
    zb_array_spec whole = out->spec;
    zb_json *list = NULL;
    zb_node *trial = NULL;
    if (whole.shard_shape)
        whole.inner_shape = whole.shard_shape;
    whole.shard_shape = NULL;
    whole.codecs = codecs;
    enum zb_code code = zb_json_parse(codecs, strlen(codecs), &list, err);
    if (!code)
        code = make_trial(&whole, &trial, err);
    if (!code && zb_json_count(pipeline_of(trial)) == zb_json_count(list))
        out->spec = whole;
    out->spec.codecs = codecs;
    zb_node_release(trial);
    zb_json_free(list);
    return code;
}

/* Is the chunk of the list the innermost one of the pipeline? It may be cut to the dataset, as
   creation_list.c does it. */
static bool has_its_chunk(const vol_spec *spec, const zb_array_info *info) {
    for (uint32_t d = 0; d < info->ndim; d++) {
        const bool is_cut = info->inner_shape[d] > spec->shape[d];
        if (spec->chunk[d] != info->inner_shape[d] && !(is_cut && spec->chunk[d] == spec->shape[d]))
            return false;
    }
    return true;
}

/* The chunk of the list counts where it is not that of the pipeline: with zarr:shard_shape beside a
   pipeline that has shards of its own. */
static enum zb_code check_chunk(const vol_spec *out, const zb_array_info *info, zb_error *err) {
    if (out->spec.inner_shape == out->chunk || out->layout != H5D_CHUNKED ||
        has_its_chunk(out, info))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL,
                   "the chunk shape of the creation list is not that of the innermost chunks in "
                   "the property %s; make them equal, or take the property off the list",
                   VOL_CODECS_PROPERTY);
}

/* Whether the program has changed the filters of a list that described an array. Lists without
   chunks have no filters to compare. */
static enum zb_code check_filters(h5_lib *lib, hid_t dcpl, const char *codecs,
                                  const zb_array_info *info, bool *replaced, zb_error *err) {
    char *shown = NULL;
    *replaced = false;
    if (lib->H5Pget_layout(dcpl) != H5D_CHUNKED || vol_filters_are_of(lib, dcpl, info))
        return ZB_OK;
    enum zb_code code = vol_text_property_read(lib, dcpl, VOL_CODECS_SHOWN_PROPERTY, &shown, err);
    *replaced = !code && shown && strcmp(shown, codecs) == 0;
    free(shown);
    if (code || *replaced || lib->H5Pget_nfilters(dcpl) == 0)
        return code;
    return zb_fail(err, ZB_EINVAL,
                   "the creation list has filters that are not those of the property %s; set one "
                   "of the two",
                   VOL_CODECS_PROPERTY);
}

/* *replaced: the pipeline of the property does not count. */
static enum zb_code take_property(h5_lib *lib, hid_t dcpl, const char *codecs, vol_spec *out,
                                  bool *replaced, zb_error *err) {
    zb_node *trial = NULL;
    enum zb_code code = place_pipeline(codecs, out, err);
    if (!code)
        code = make_trial(&out->spec, &trial, err);
    if (code)
        return zb_error_prefix(err, code, "property %s", VOL_CODECS_PROPERTY);
    code = check_filters(lib, dcpl, codecs, zb_node_array(trial), replaced, err);
    if (!code && !*replaced)
        code = check_chunk(out, zb_node_array(trial), err);
    zb_node_release(trial);
    return code;
}

enum zb_code vol_pipeline_take(h5_lib *lib, hid_t dcpl, vol_spec *out, zb_error *err) {
    const zb_array_spec before = out->spec;
    bool replaced = true;
    enum zb_code code = vol_text_property_read(lib, dcpl, VOL_CODECS_PROPERTY, &out->codecs, err);
    if (!code && out->codecs)
        code = take_property(lib, dcpl, out->codecs, out, &replaced, err);
    if (code || !replaced)
        return code;
    free(out->codecs);
    out->codecs = NULL;
    out->spec = before;
    code = vol_codecs_of_filters(lib, dcpl, out->spec.dtype, &out->codecs, err);
    out->spec.codecs = out->codecs;
    return code;
}
