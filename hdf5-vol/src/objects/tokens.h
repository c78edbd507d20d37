/* SPDX-License-Identifier: MIT */
/*
 * Tokens: the addresses of nodes. A token is a 63-bit hash of the node's name (moved.h), which is
 * its path for most, so that a program can keep it while the store is closed. Two names with one
 * hash would be confused, so the second node that is met cannot be opened.
 *
 * While a file is open a node keeps its token, wherever it moves, and nobody gets that of a node
 * that has gone. What is made at the path of such a node has the next token that is free, and a
 * node without a name one that counts until the file is closed.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_TOKENS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_TOKENS_H

#include "hdf5/hash.h"
#include "tree/tree.h"

/* The token of the node behind a hard link, whether it is opened or not. */
uint64_t vol_token_of_link(const vol_link *link);

/* The token of the node that has that path. */
uint64_t vol_token_of_path(const char *path);

/* Gives a node the token of its name, by which it is found from now on; one that has been in the
   file before keeps its token. False when another node has it. */
bool vol_token_register(vol_node *node);
void vol_token_unregister(vol_node *node);
void vol_token_clear(vol_file *file);

/* The node in memory that has it; NULL when there is none. */
vol_node *vol_token_known(const vol_file *file, uint64_t token);

/* Marks a node as being in no group, with a token that no reference keeps. */
void vol_token_loosen(vol_node *node);

#endif
