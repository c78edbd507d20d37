/* SPDX-License-Identifier: MIT */
#include "change/draft_note.h"

#include "hierarchy/notes.h"

enum zb_code zb__draft_lose(zb__draft *d, zb_error *err) {
    atomic_store(&d->is_lost, true);
    return zb_fail(err, ZB_ECONFLICT, "%s: another program makes a store there", d->base.label);
}

enum zb_code zb__draft_note_look(const zb__draft *d, bool *is_there, bool *is_ours, zb_error *err) {
    return zb__note_look(d->inner, ZB__NOTE_COPY, d->token, is_there, is_ours, err);
}

enum zb_code zb__draft_note_check(zb__draft *d, zb_error *err) {
    bool is_there, is_ours;
    enum zb_code code = zb__draft_note_look(d, &is_there, &is_ours, err);
    return code || is_ours ? code : zb__draft_lose(d, err);
}

/* Under the lock a put replaces what was read under it, and nothing else. */
static enum zb_code put_locked(zb__draft *d, bool takes_over, zb_error *err) {
    const zb_part token = {d->token, ZB__TOKEN_SIZE - 1};
    bool is_there, is_ours;
    enum zb_code code = zb__draft_note_look(d, &is_there, &is_ours, err);
    if (code || is_ours)
        return code;
    if (is_there && !takes_over)
        return zb__draft_lose(d, err);
    return zb_store_put(d->inner, ZB__NOTE_COPY, &token, 1, ZB_SYNC_NONE, err);
}

enum zb_code zb__draft_note_put(zb__draft *d, bool takes_over, zb_error *err) {
    zb_lock *lock;
    if (atomic_load(&d->is_lost))
        return zb__draft_lose(d, err);
    if (atomic_load(&d->is_noted))
        return ZB_OK;
    enum zb_code code = zb_store_lock(d->inner, ZB__NOTE_COPY, &lock, err);
    if (code)
        return code;
    if (!atomic_load(&d->is_noted))
        code = put_locked(d, takes_over, err);
    if (!code)
        atomic_store(&d->is_noted, true);
    zb_store_unlock(lock);
    return code;
}

void zb__draft_note_drop(zb__draft *d) {
    bool is_there, is_ours;
    if (zb__draft_note_look(d, &is_there, &is_ours, NULL) == ZB_OK && is_ours)
        (void)zb_store_erase(d->inner, ZB__NOTE_COPY, NULL);
}
