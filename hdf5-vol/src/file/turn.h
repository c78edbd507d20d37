/* SPDX-License-Identifier: MIT */
/* Changes of several nodes as one turn (zb_turn_begin of zarrbridge/change.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_TURN_H
#define ZARRBRIDGE_HDF5_VOL_FILE_TURN_H

#include "tree/tree.h"

typedef enum zb_code vol_turn_act(void *context, zb_error *err);

/* Calls `act` in a turn of the store. Others wait meanwhile, so that data are stored before. */
enum zb_code vol_in_turn(const vol_file *file, vol_turn_act *act, void *context, zb_error *err);

#endif
