/* SPDX-License-Identifier: MIT */
#include "change/copy_note.h"

#include <stdlib.h>

#include "change/hierarchy.h"
#include "node/document.h"
#include "node/notes.h"
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
