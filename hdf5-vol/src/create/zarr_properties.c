/* SPDX-License-Identifier: MIT */
/* Properties of creation lists that Zarr alone has: see zarr_properties.h. */
#include "create/zarr_properties.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

enum zb_code vol_text_property_read(h5_lib *lib, hid_t dcpl, const char *name, char **out,
                                    zb_error *err) {
    size_t size = 0;
    *out = NULL;
    if (lib->H5Pexist(dcpl, name) <= 0)
        return ZB_OK;
    if (lib->H5Pget_size(dcpl, name, &size) < 0 || size > zb_limits_get()->document_bytes)
        return zb_fail(err, ZB_EINVAL, "the property %s must hold JSON text", name);
    *out = calloc(1, size + 1);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for the property %s", name);
    if (size == 0 || lib->H5Pget(dcpl, name, *out) >= 0)
        return ZB_OK;
    free(*out);
    *out = NULL;
    return zb_fail(err, ZB_EINVAL, "the property %s cannot be read", name);
}

void vol_text_property_add(h5_lib *lib, hid_t dcpl, const char *name, char *text) {
    lib->H5Pinsert2(dcpl, name, strlen(text) + 1, text, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* ---- Shards ---- */

/* The property wins over the option; 0 in its first place means no shards. */
enum zb_code vol_shards_take(h5_lib *lib, hid_t dcpl, vol_spec *out, bool *sharded, zb_error *err) {
    hsize_t shard[ZB_MAX_NDIM];
    const uint32_t ndim = out->spec.ndim;
    size_t size = 0;
    if (lib->H5Pget_size(dcpl, VOL_SHARD_PROPERTY, &size) < 0 || size != ndim * sizeof shard[0] ||
        lib->H5Pget(dcpl, VOL_SHARD_PROPERTY, shard) < 0)
        return zb_fail(err, ZB_EINVAL, "the property %s must hold %u values of type hsize_t",
                       VOL_SHARD_PROPERTY, ndim);
    *sharded = ndim > 0 && shard[0] > 0;
    for (uint32_t d = 0; d < ndim; d++)
        out->shard[d] = shard[d];
    return ZB_OK;
}

void vol_shards_add(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
    hsize_t shape[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++)
        shape[d] = info->chunk_shape[d];
    lib->H5Pinsert2(dcpl, VOL_SHARD_PROPERTY, info->ndim * sizeof shape[0], shape, NULL, NULL, NULL,
                    NULL, NULL, NULL);
}

/* ---- Keys of chunks ---- */

/* By enum vol_chunk_keys. */
static const char *const encodings[] = {
    NULL, "{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}",
    "{\"name\": \"v2\", \"configuration\": {\"separator\": \".\"}}"};

/* The property wins over the option. The core says what is wrong with a text. */
enum zb_code vol_keys_take(h5_lib *lib, hid_t dcpl, const vol_options *options, vol_spec *out,
                           zb_error *err) {
    enum zb_code code = vol_text_property_read(lib, dcpl, VOL_KEYS_PROPERTY, &out->keys, err);
    out->spec.key_encoding = out->keys ? out->keys : encodings[options->chunk_keys];
    return code;
}

void vol_keys_add(h5_lib *lib, hid_t dcpl, const zb_node *array) {
    char *keys = zb_array_key_encoding(array);
    if (keys)
        vol_text_property_add(lib, dcpl, VOL_KEYS_PROPERTY, keys);
    free(keys);
}

/* ---- Chunks of several extents ---- */

static enum zb_code malformed(zb_error *err) {
    return zb_fail(err, ZB_EINVAL,
                   "the property %s must hold for each dimension the number of its runs, then that "
                   "many pairs of extent and count, all of type hsize_t",
                   VOL_RUNS_PROPERTY);
}

/* Finds the runs in the row; the core checks extents and counts. A pair is as large as a run, so
   that the row, taken apart, needs no memory beyond its own size. */
static enum zb_code take_apart(const hsize_t *row, size_t size, vol_spec *out, zb_error *err) {
    size_t at = 0, used = 0;
    bool any = false;
    for (uint32_t d = 0; d < out->spec.ndim; d++) {
        if (at == size || row[at] > (size - at - 1) / 2)
            return malformed(err);
        const size_t count = (size_t)row[at++];
        out->runs[d] = (zb_chunk_runs){.run = &out->run[used], .count = count};
        for (size_t i = 0; i < count; i++, at += 2)
            out->run[used++] = (zb_chunk_run){.extent = row[at], .count = row[at + 1]};
        any = any || count > 0;
    }
    if (at != size)
        return malformed(err);
    out->spec.chunk_runs = any ? out->runs : NULL;
    return ZB_OK;
}

enum zb_code vol_runs_take(h5_lib *lib, hid_t dcpl, vol_spec *out, zb_error *err) {
    size_t size = 0;
    if (lib->H5Pexist(dcpl, VOL_RUNS_PROPERTY) <= 0)
        return ZB_OK;
    if (lib->H5Pget_size(dcpl, VOL_RUNS_PROPERTY, &size) < 0 || size == 0 ||
        size % sizeof(hsize_t) != 0)
        return malformed(err);
    hsize_t *row = malloc(size);
    out->run = malloc(size);
    enum zb_code code = ZB_OK;
    if (!row || !out->run)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the property %s", VOL_RUNS_PROPERTY);
    else if (lib->H5Pget(dcpl, VOL_RUNS_PROPERTY, row) < 0)
        code = malformed(err);
    else
        code = take_apart(row, size / sizeof *row, out, err);
    free(row);
    return code;
}

/* Without memory the list lacks the property, as it lacks filters that HDF5 does not have. */
void vol_runs_add(h5_lib *lib, hid_t dcpl, const zb_node *array) {
    const uint32_t ndim = zb_node_array(array)->ndim;
    size_t size = ndim, at = 0;
    for (uint32_t d = 0; d < ndim; d++)
        size += 2 * zb_array_run_count(array, d);
    hsize_t *row = size > ndim ? malloc(size * sizeof *row) : NULL;
    if (!row)
        return;
    for (uint32_t d = 0; d < ndim; d++) {
        const size_t count = zb_array_run_count(array, d);
        row[at++] = count;
        for (size_t i = 0; i < count; i++) {
            const zb_chunk_run run = zb_array_run_at(array, d, i);
            row[at++] = run.extent;
            row[at++] = run.count;
        }
    }
    lib->H5Pinsert2(dcpl, VOL_RUNS_PROPERTY, size * sizeof *row, row, NULL, NULL, NULL, NULL, NULL,
                    NULL);
    free(row);
}
