/* SPDX-License-Identifier: MIT */
/* Storing what waits: changes of attributes (waiting.h), and data (dataset/writers.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_WAITING_WAITING_STORE_H
#define ZARRBRIDGE_HDF5_VOL_WAITING_WAITING_STORE_H

#include "file/owners.h"
#include "tree/node.h"
#include "waiting/waiting.h"

/* Stores the changes of one node. */
enum zb_code vol_waiting_flush(vol_node *node, zb_error *err);

/* ---- A node and all below it ---- */

/* Stores their data and changes. */
enum zb_code vol_writer_flush_below(vol_node *node, zb_error *err);

/* Stores them, and frees the writers on success. */
enum zb_code vol_writer_close_below(vol_node *node, zb_error *err);

/* Forgets them. */
void vol_writer_abandon_below(vol_node *node);

/* ---- By owners ---- */

/* The same by the handles to which it belongs (file/owners.h). */

/* Stores data and attributes that wait below a node (links: link_store.h). All are tried. The error
   is the first one of a node that concerns the handle. */
enum zb_code vol_owners_flush_below(vol_node *node, vol_owners handle, zb_error *err);

/* Whether anything that concerns the handle waits below a node, links included. */
bool vol_owners_wait_below(vol_node *node, vol_owners handle);

/* These handles own nothing below a node any more. Data and attributes that were theirs alone are
   forgotten. Changed links of a group have others that lead to them: they go on waiting, and with
   them what else waits in their node, for everyone. */
void vol_owners_abandon_below(vol_node *node, vol_owners handles);

#endif
