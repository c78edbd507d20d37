/* SPDX-License-Identifier: MIT */
/* Lock scopes: see lock_scope.h. */
#include "model/lock_scope.h"

#include "zarrbridge/change.h"

enum zb_code vol_in_lock_scope(const vol_file *file, vol_lock_scope_act *act, void *context,
                               zb_error *err) {
    zb_lock_scope lock_scope;
    enum zb_code code = zb_lock_scope_begin(file->hierarchy, &lock_scope, err);
    if (code)
        return code;
    code = act(context, err);
    return zb_lock_scope_end(file->hierarchy, &lock_scope, code, err);
}
