/* SPDX-License-Identifier: MIT */
/*
 * The indexes of shared messages that a file is created with (H5Pset_shared_mesg_index), as the
 * member "messages" of an object: a list of [kinds of messages, least size in bytes].
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_MESSAGES_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_MESSAGES_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* Writes the member for a file's creation list, where it has such; *any becomes true then. */
void vol_list_messages_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any);

/* Sets what the member of `object` says, where that is of this form. May leave errors on the
   stack. */
void vol_list_messages_set(h5_lib *lib, hid_t list, const zb_json *object);

#endif
