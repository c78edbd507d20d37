/* SPDX-License-Identifier: MIT */
/* Open files as a whole: see open_files.h. */
#include "file/open_files.h"

#include "file/names.h"
#include "file/owners.h"
#include "links/link_store.h"
#include "netcdf/coordinate_names.h"
#include "netcdf/lengths.h"
#include "tree/loose.h"
#include "waiting/waiting_store.h"

#include <stdio.h>

/* ---- The list ---- */

void vol_file_enlist(vol_file *file) {
    file->next = file->lib->files;
    file->lib->files = file;
}

void vol_file_unlist(vol_file *file) {
    vol_file **link = &file->lib->files;
    while (*link && *link != file)
        link = &(*link)->next;
    if (*link)
        *link = file->next;
}

vol_file *vol_file_find(const h5_lib *lib, const char *path, bool for_writing) {
    const uint64_t number = vol_filename_number(path);
    vol_file *file = lib->files;
    while (file && (file->number != number || (for_writing && !file->writable)))
        file = file->next;
    return file;
}

/* ---- Waiting data ---- */

static enum zb_code store_waiting(vol_file *file, vol_owners of, zb_error *err) {
    zb_error why = {0};
    vol_owners_act(file, 0);
    enum zb_code links = vol_links_store_below(file->root, &why);
    enum zb_code code = vol_owners_flush_below(file->root, of, err);
    if (code || !links || !vol_owners_wait_below(file->root, of))
        return code;
    *err = why;
    return links;
}

/* After this has failed, stored data of any handle may be gone, and trying again would not tell. */
static enum zb_code make_durable(vol_file *file, zb_error *err) {
    enum zb_code code = zb_hierarchy_flush(file->hierarchy, err);
    for (vol_handle *handle = code ? file->handles : NULL; handle; handle = handle->next)
        if (!handle->lost.code)
            handle->lost = *err;
    return code;
}

enum zb_code vol_file_flush(vol_file *file, vol_handle *by, zb_error *err) {
    if (!file->writable)
        return ZB_OK;
    zb_error why = {0};
    const bool leads = h5_ranks_lead(file->ranks);
    enum zb_code scales = leads ? vol_coordinate_names_settle(file, &why) : ZB_OK;
    if (!scales && leads)
        scales = vol_lengths_settle(file, &why);
    enum zb_code code = store_waiting(file, by ? by->owner : VOL_OWNERS_ALL, err);
    if (!code && scales) {
        *err = why;
        return scales;
    }
    if (!code && by && by->lost.code) {
        *err = by->lost;
        return by->lost.code;
    }
    if (!code)
        code = zb_hierarchy_commit(file->hierarchy, err);
    if (!code && file->options.sync != ZB_SYNC_NONE)
        code = make_durable(file, err);
    return code;
}

void vol_report_lost(const vol_file *file, const zb_error *err) {
    fprintf(stderr, "zarrbridge: data written to '%s' are lost: %s\n", file->shown, err->message);
}

/* Whether no other handle could still store anything. */
static bool is_last(const vol_handle *handle) {
    const vol_handle *other = handle->file->handles;
    while (other && (other == handle || !other->writable || other->files == 0 || other->given_up))
        other = other->next;
    return !other;
}

vol_owners vol_handle_gives_up(const vol_handle *handle) {
    return is_last(handle) ? VOL_OWNERS_ALL : handle->owner & ~VOL_OWNERS_EVERYONE;
}

void vol_file_give_up(vol_handle *handle) {
    vol_file *file = handle->file;
    const vol_owners gone = vol_handle_gives_up(handle);
    vol_owners_abandon_below(file->root, gone);
    for (vol_node *node = NULL; (node = vol_loose_next(file, node)) != NULL;)
        vol_owners_abandon_below(node, gone);
    if (gone == VOL_OWNERS_ALL && file->options.sync != ZB_SYNC_NONE)
        (void)zb_hierarchy_flush(file->hierarchy, NULL); /* what it would tell of later is told */
    handle->lost = (zb_error){0};
    handle->given_up = true;
    vol_file_closed(handle);
}

void vol_file_closed(vol_handle *handle) {
    bool any = false;
    for (const vol_handle *one = handle->file->handles; one; one = one->next)
        any |= one->given_up;
    if (any && is_last(handle))
        vol_file_unlist(handle->file);
}
