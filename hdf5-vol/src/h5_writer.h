/* SPDX-License-Identifier: MIT */
/*
 * The writers of datasets: one for each, shared by all its ids, from the first H5Dwrite until the
 * last id is closed. What waits in one is stored before anything reads the dataset.
 *
 * A writer that cannot store what waits keeps it, and the call that asked for it fails; only
 * closing the dataset does not (vol_dataset.c says why): then closing the file fails, and can be
 * tried again.
 */
#ifndef ZARRBRIDGE_H5_WRITER_H
#define ZARRBRIDGE_H5_WRITER_H

#include "h5_tree.h"

/* The writer, opened if need be; the caller is about to write with it. Borrowed. */
enum zb_code vol_writer_get(vol_node *dataset, zb_writer **out, zb_error *err);

/* Stores what waits for one node, or for it and all below it. */
enum zb_code vol_writer_flush(vol_node *node, zb_error *err);
enum zb_code vol_writer_flush_below(vol_node *node, zb_error *err);

/* The same, and frees the writers on success. */
enum zb_code vol_writer_close(vol_node *node, zb_error *err);
enum zb_code vol_writer_close_below(vol_node *node, zb_error *err);

/* Forgets what waits for a node and all below it. */
void vol_writer_abandon_below(vol_node *node);

/* Stores all that waits in a file and, if the user wants that, makes it durable. */
enum zb_code vol_file_flush(vol_file *file, zb_error *err);

#endif
