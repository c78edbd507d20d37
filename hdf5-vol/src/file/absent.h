/* SPDX-License-Identifier: MIT */
/*
 * Programs that start together. "Open it, and make it where it is not there" is two calls in HDF5:
 * h5py's mode "a" opens and then creates, require_dataset and require_group ask and then create.
 * Between the two another process may do the same, and natively the slower one fails.
 *
 * A thread keeps the last name that it was told not to be there. Where it then creates that one,
 * and another process was faster, it gets what that process has made, if it is just what would have
 * been made. A creation without such a question is exclusive, as ever, and so is the second one of
 * a name by the same thread.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_ABSENT_H
#define ZARRBRIDGE_HDF5_VOL_FILE_ABSENT_H

#include "tree/tree.h"

/* Keeps the name of a link, relative to a node as in HDF5's calls; or of a file (base NULL). */
void vol_absent_tell(const vol_node *base, const char *name);

/* Whether what is there by now is another process's: the name, or one on the way to it, was the
   last that this thread was told not to be there, and it has made nothing at the name since. */
bool vol_absent_is_others(const vol_node *base, const char *name);

/* This thread has made it, or has got what another process has made. */
void vol_absent_made(const vol_node *base, const char *name);

/* Ends a creation by name, with its outcome: where it has met something (ZB_ECONFLICT) that another
   process has made in the meantime, *out is that array, or group (spec NULL), and all is well.
   Other outcomes stay as they are. */
enum zb_code vol_absent_end(vol_node *base, const char *name, const zb_array_spec *spec,
                            enum zb_code code, vol_node **out, zb_error *err);

#endif
