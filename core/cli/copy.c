/* SPDX-License-Identifier: MIT */
/* `copy`: a store or a node of one, to another place or into an archive. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "place.h"
#include "progress.h"
#include "report.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/door.h"

enum { OPTION_DOOR = 'd', OPTION_VERBOSE = 'v', OPTION_SHARDS = 256 };

static bool choose_default(void *context, const zb_node *array, uint64_t *shape) {
    const zb_array_info *info = zb_node_array(array);
    (void)context;
    return info->ndim > 0 && zb_default_shard(info->ndim, info->shape, info->dtype.size, NULL,
                                              info->inner_shape, shape);
}

static void tell_way(void *context, const char *path, const char *way) {
    progress *const *shown = context;
    progress_pause(*shown);
    fprintf(stderr, "/%s: %s\n", path, way);
    progress_resume(*shown);
}

/* "auto", "none", or extents with commas between. `shape`: ZB_MAX_NDIM of them. */
static bool parse_shards(const char *text, zb_copy_options *out, uint64_t *shape) {
    *out = (zb_copy_options){.reshards = true, .shard_shape = shape};
    if (strcmp(text, "none") == 0)
        return true;
    if (strcmp(text, "auto") == 0) {
        out->choose = choose_default;
        return true;
    }
    for (;; text++) {
        if (out->ndim == ZB_MAX_NDIM || *text == '0' ||
            !cli_take_number(&text, &shape[out->ndim++]))
            return false;
        if (*text != ',')
            return *text == '\0';
    }
}

static int remove_if_empty(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)at;
    if (type == FTW_DP)
        (void)rmdir(path);
    return 0;
}

/* Directories that were made for a copy go with the failure; those with content stay. */
static void take_back(place *where, const char *target, bool is_new) {
    zb_hierarchy_release(where->hierarchy);
    where->hierarchy = NULL;
    if (is_new)
        (void)nftw(target, remove_if_empty, 16, FTW_DEPTH | FTW_PHYS);
}

/* A node with all below it becomes the root of an archive. */
static enum zb_code pack(const cli_call *call, zb_error *err) {
    const char *source = call->arguments[0], *target = call->arguments[1];
    zb_hierarchy *hierarchy;
    zb_node *root = NULL;
    if (access(target, F_OK) == 0)
        return zb_fail(err, ZB_ECONFLICT, "there is a file '%s' already", target);
    enum zb_code code = store_open(source, &hierarchy, err);
    if (code)
        return code;
    code = zb_node_open(hierarchy, "", &root, err);
    if (!code) {
        progress *shown = progress_begin(call, hierarchy, "");
        code = cli_option(call, OPTION_DOOR) ? zb_door_pack(hierarchy, target, err)
                                             : zb_hierarchy_pack(hierarchy, target, err);
        progress_end(shown);
    }
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
    return code;
}

static enum zb_code copy_node(const cli_call *call, zb_copy_options *options, zb_error *err) {
    const char *source = call->arguments[0], *target = call->arguments[1];
    place from, to = {.hierarchy = NULL};
    progress *shown = NULL;
    const bool is_new = access(target, F_OK) != 0;
    enum zb_code code = place_find(source, NULL, &from, err);
    if (!code)
        code = place_find(target, &from, &to, err);
    if (!code) {
        zb_hierarchy_set_sync(to.hierarchy, ZB_SYNC_CLOSE);
        shown = progress_begin(call, from.hierarchy, from.node);
        options->context = &shown;
        if (cli_option(call, OPTION_VERBOSE))
            options->tell = tell_way;
        code = zb_node_copy_as(from.hierarchy, from.node, to.hierarchy, to.node, options, err);
    }
    if (!code)
        code = zb_hierarchy_commit(to.hierarchy, err);
    if (!code)
        code = zb_hierarchy_flush(to.hierarchy, err);
    progress_end(shown);
    if (!code && !zb_hierarchy_can_list(from.hierarchy))
        fprintf(stderr,
                "zarrbridge: %s cannot be listed: files besides nodes and chunks are not "
                "known, and not copied\n",
                source);
    if (code)
        take_back(&to, target, is_new);
    place_clear(&to);
    place_clear(&from);
    return code;
}

static int copy(const cli_call *call) {
    const char *source = call->arguments[0], *target = call->arguments[1];
    const char *shards = cli_option(call, OPTION_SHARDS);
    zb_error err;
    uint64_t shape[ZB_MAX_NDIM];
    zb_copy_options options = {.reshards = false};
    const bool to_zip = !zb_name_is_url(target) && zb_path_becomes_zip(target);
    if (!to_zip && cli_option(call, OPTION_DOOR))
        return cli_misuse(call, "--door makes an archive: NEW ends in .zip");
    if (shards && !parse_shards(shards, &options, shape))
        return cli_misuse(call, "--shards is '%s', expected auto, none, or numbers as 2048,2048",
                          shards);
    if (shards && to_zip)
        return cli_misuse(call, "an archive is made of a store as it is: copy the store with "
                                "--shards first");
    report doc = report_begin(call, NULL);
    if (to_zip ? pack(call, &err) : copy_node(call, &options, &err))
        return report_fail(&doc, &err);
    zb_json_writer *w = report_object(call);
    report_text(w, "source", source);
    report_text(w, "copy", target);
    const int status = report_end(&doc, w, CLI_FINE);
    cli_say(call, "%s is a copy of %s\n", target, source);
    return status;
}

const cli_command command_copy = {
    .name = "copy",
    .arguments = "STORE[/NODE] NEW",
    .least = 2,
    .most = 2,
    .summary = "copy a store or a node of one",
    .description =
        "Documents, chunks and all other files are copied as they are, also of nodes that this "
        "version cannot read. What is Zarr version 2 becomes version 3: chunks that version 3 has "
        "in the same form stay, others are decoded and encoded. With --shards arrays get other "
        "shards, or none: their inner chunks move as they are, compared with the checksums that "
        "they carry. NEW is a directory, a node in a store, a URL in S3, or, where it ends in .zip "
        "or .ozx, a zip archive of the node. Nothing is overwritten. The copy appears when all of "
        "it is there; in a store that is there already, one of version 2, or with --shards, "
        "appears node by node.",
    .options =
        (const struct argp_option[]){
            {"shards", OPTION_SHARDS, "SHAPE", 0,
             "extents of shards, up to whole inner chunks, for all arrays of so many dimensions; "
             "none: arrays without; auto: 32 to 64 MiB each for arrays above 256 MiB",
             0},
            {"verbose", OPTION_VERBOSE, NULL, 0,
             "tell of each array which way its chunks went, and why not a shorter one", 0},
            {"door", OPTION_DOOR, NULL, 0,
             "make an archive that is a door to itself: an HDF5 file in its first bytes, so that "
             "netCDF's programs open it, too",
             0},
            {0}},
    .examples =
        (const cli_example[]){
            {"zarrbridge copy old.zarr new.zarr", "a store of version 2 as one of version 3"},
            {"zarrbridge copy x.zarr/a y.zarr/b", "one node"},
            {"zarrbridge copy --shards 2048,2048 x.zarr y.zarr", "fewer and larger files"},
            {"zarrbridge copy x.zarr x.zarr.zip", "an archive"},
            {"zarrbridge copy --door x.zarr x.zarr.zip",
             "one that ncdump opens, where HDF5_VOL_CONNECTOR is set"},
            {0}},
    .keys = (const cli_example[]){{"source", "as given"}, {"copy", "as given"}, {0}},
    .run = copy,
};
