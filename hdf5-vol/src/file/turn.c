/* SPDX-License-Identifier: MIT */
/* Turns: see turn.h. */
#include "file/turn.h"

#include "zarrbridge/change.h"

enum zb_code vol_in_turn(const vol_file *file, vol_turn_act *act, void *context, zb_error *err) {
    zb_turn turn;
    enum zb_code code = zb_turn_begin(file->hierarchy, &turn, err);
    if (code)
        return code;
    code = act(context, err);
    return zb_turn_end(file->hierarchy, &turn, code, err);
}
