/* SPDX-License-Identifier: MIT */
#include "change/copy_note.h"

#include <stdlib.h>

#include "change/change.h"
#include "change/remove.h"
#include "node/document.h"
#include "node/notes.h"
#include "node/walk.h"
#include "zarrbridge/sys/store.h"

enum zb_code zb__copy_note(zb_store *store, const char *path, bool put, zb_error *err) {
    char *key = zb__path_join(path, ZB__NOTE_COPY);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code =
        put ? zb__document_put(store, key, "", 0, err) : zb_store_erase(store, key, err);
    free(key);
    return code;
}

enum zb_code zb__killed_copy_erase(zb_store *store, const char *path, zb_error *err) {
    zb__names there;
    zb_object_info info;
    char *key = zb__path_join(path, ZB__NOTE_COPY);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(store, key, &info, err);
    free(key);
    if (code || !store->hints.can_list)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    code = zb__nodes_owned(store, path, &there, err);
    if (!code)
        code = zb__nodes_erase_below(store, &there, path, err);
    zb__names_free(&there);
    return code ? code : zb__copy_note(store, path, false, err);
}
