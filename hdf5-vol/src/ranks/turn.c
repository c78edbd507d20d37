/* SPDX-License-Identifier: MIT */
/* One call of all ranks: see turn.h. */
#include "ranks/turn.h"

#include "links/link_store.h"

vol_turn vol_turn_begin(const vol_object *object, const char *call, const void *what, size_t size) {
    vol_turn turn = {.lib = object ? object->lib : NULL};
    if (!object || object->under || !object->file)
        return turn;
    turn.file = object->file;
    if (!object->lib->stopping)
        turn.ranks = turn.file->ranks;
    if (turn.ranks)
        turn.call = h5_ranks_call(call, what, size);
    return turn;
}

bool vol_turn_acts(const vol_turn *turn) {
    return h5_ranks_lead(turn->ranks);
}

/* The others find links in documents alone. */
static herr_t store_links(const vol_turn *turn) {
    zb_error err = {0};
    if (!turn->file || vol_links_store_below(turn->file->root, &err) == ZB_OK)
        return 0;
    return VOL_PUSH_ZB(turn->lib, SYM, CANTFLUSH, &err);
}

herr_t vol_turn_led(vol_turn *turn, herr_t result) {
    h5_verdict verdict = {0};
    if (!turn->ranks)
        return result;
    if (vol_turn_acts(turn)) {
        result = result >= 0 ? store_links(turn) : result;
        h5_verdict_take(turn->lib, result < 0, &verdict);
    }
    h5_ranks_hear(turn->ranks, &verdict);
    if (verdict.failed && !vol_turn_acts(turn))
        h5_verdict_push(turn->lib, &verdict);
    return verdict.failed ? -1 : 0;
}

herr_t vol_turn_looks(vol_turn *turn, enum zb_code (*look)(vol_file *file, zb_error *err)) {
    zb_error err = {0};
    return look(turn->file, &err) == ZB_OK ? 0 : VOL_PUSH_ZB(turn->lib, SYM, READERROR, &err);
}

herr_t vol_turn_meet(vol_turn *turn, herr_t ready) {
    return vol_turn_end(turn, ready);
}

herr_t vol_turn_end(vol_turn *turn, herr_t result) {
    return h5_ranks_result(turn->ranks, turn->call, result);
}
