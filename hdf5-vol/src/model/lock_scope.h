/* SPDX-License-Identifier: MIT */
/* Changes of several nodes as one lock scope (zb_lock_scope_begin of zarrbridge/change.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_LOCK_SCOPE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_LOCK_SCOPE_H

#include "model/tree.h"

typedef enum zb_code vol_lock_scope_act(void *context, zb_error *err);

/* Calls `act` in a turn of the store. Others wait meanwhile, so that data are stored before. */
enum zb_code vol_in_lock_scope(const vol_file *file, vol_lock_scope_act *act, void *context,
                               zb_error *err);

#endif
