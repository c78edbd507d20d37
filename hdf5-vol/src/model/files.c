/* SPDX-License-Identifier: MIT */
/* Open files as a whole: see files.h. */
#include "model/files.h"

#include "model/link_store.h"
#include "model/loose.h"
#include "model/names.h"
#include "model/writers_below.h"

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
    const uint64_t number = vol_name_number(path);
    vol_file *file = lib->files;
    while (file && (file->number != number || (for_writing && !file->writable)))
        file = file->next;
    return file;
}

/* ---- Waiting data ---- */

enum zb_code vol_file_flush(vol_file *file, zb_error *err) {
    if (!file->writable)
        return ZB_OK;
    zb_error other;
    enum zb_code links = vol_links_store_below(file->root, err);
    enum zb_code data = vol_writer_flush_below(file->root, links ? &other : err);
    enum zb_code code = links ? links : data;
    if (!code && file->lost.code) {
        *err = file->lost;
        return file->lost.code;
    }
    if (!code)
        code = zb_store_seal(file->store, err);
    /* After this has failed, stored data may be gone, and trying again would not tell. */
    if (!code && file->options.sync != ZB_SYNC_NONE) {
        code = zb_store_flush(file->store, err);
        if (code)
            file->lost = *err;
    }
    return code;
}

void vol_report_lost(const vol_file *file, const zb_error *err) {
    fprintf(stderr, "zarrbridge: data written to '%s' are lost: %s\n", file->shown, err->message);
}

void vol_file_give_up(vol_file *file) {
    vol_writer_abandon_below(file->root);
    for (vol_node *node = NULL; (node = vol_loose_next(file, node)) != NULL;)
        vol_writer_abandon_below(node);
    file->lost = (zb_error){0};
    vol_file_unlist(file);
}
