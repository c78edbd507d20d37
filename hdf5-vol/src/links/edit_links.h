/* SPDX-License-Identifier: MIT */
/* Changing links of all kinds; a node's place is changed with its node (edit.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_EDIT_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_EDIT_LINKS_H

#include "tree/edit.h"

/* Makes a soft link; its target need not exist. */
enum zb_code vol_edit_create_soft(const vol_place *place, const char *target, zb_error *err);

enum zb_code vol_edit_create_external(const vol_place *place, const char *file, const char *target,
                                      zb_error *err);

/* Makes a link that leads where another one does. */
enum zb_code vol_edit_copy_link(vol_link *link, const vol_place *place, zb_error *err);

enum zb_code vol_edit_move_link(vol_link *link, const vol_place *place, zb_error *err);

/* Deletes a link (NULL: that of the root). A node that has another hard link moves there, also when
   it lies below the link's node; other nodes are deleted with it, their ids stay valid but are of
   no use. */
enum zb_code vol_edit_delete_link(vol_link *link, zb_error *err);

/* Deletes a node that a call had begun to make and could not complete. No link to it may lie
   elsewhere than in its own place and below it: such a link would lead nowhere then. Nothing is
   stored for that, so that it works on a full disk, too. The error names what stays. */
enum zb_code vol_edit_discard(vol_node *node, zb_error *err);

#endif
