/* SPDX-License-Identifier: MIT */
/*
 * A Zarr store as HDF5 wants to see it: a file whose root is a group, with links, objects, tokens.
 *
 * A vol_file is one H5Fopen. It owns its vol_nodes, which are made on first sight and kept until
 * the file and all objects opened through it are closed: an open file shows the hierarchy
 * that it found, reopening it shows what has changed since. No HDF5 call happens in h5_tree.c
 * except for closing the ids that other rooms have stored in a node.
 *
 * - An array store gets a synthetic root group, in which the array has a name made of the path.
 * - A node whose metadata cannot be read is kept with its reason: HDF5 sees it as a dangling link.
 * - A token is a 63-bit hash of the path, so that references stay valid when the store is reopened.
 *   Two paths with one hash would be confused; the second one met is made unreadable instead.
 */
#ifndef ZARRBRIDGE_H5_TREE_H
#define ZARRBRIDGE_H5_TREE_H

#include "h5_api.h"
#include "zarrbridge/zarrbridge.h"

struct vol_attrs;

/* What the user can choose when opening a file; see vol_info.c. */
typedef struct vol_options {
    bool native_compat; /* claim to be native, for HDF5's old calls; default on */
    bool
        netcdf_dimensions; /* show dimensions without a coordinate array as datasets; default off */
} vol_options;

enum vol_node_kind { VOL_GROUP, VOL_DATASET, VOL_UNREADABLE };

typedef struct vol_node vol_node;
typedef struct vol_file vol_file;

struct vol_node {
    vol_file *file;   /* the owner */
    vol_node *parent; /* NULL for the root */
    char *path;       /* absolute: "/", "/g/b" */
    const char *name; /* its last part; "" for the root */
    enum vol_node_kind kind;
    zb_node *zarr; /* NULL for a synthetic root and for unreadable nodes */
    char *reason;  /* of an unreadable node */
    uint64_t token;
    vol_node *next_by_token;

    vol_node **child; /* groups: what is known so far, sorted by name */
    size_t child_count, child_room;
    bool listed;       /* all children are known */
    bool is_dimension; /* a dataset that h5_dims.c made for a dimension, not in the store */

    struct vol_attrs *attrs; /* h5_attrs.h; NULL until asked for */
    hid_t type, dcpl;        /* datasets: prepared by h5_type.c and h5_dcpl.c; 0 until asked for */
};

#define VOL_TOKEN_BUCKETS 1024

struct vol_file {
    h5_lib *lib;
    size_t refs;     /* the open objects */
    char *path;      /* as the user gave it */
    uint64_t number; /* the same for every open of one store, different from native files */
    vol_options options;
    zb_store *store;
    zb_store *dimensions; /* where h5_dims.c keeps its datasets; NULL until it has some */
    vol_node *root;
    uint64_t node_count;
    vol_node *by_token[VOL_TOKEN_BUCKETS];
};

/* True when path names a Zarr v3 node: a directory with a zarr.json. One system call. */
bool vol_path_is_zarr(const char *path);

/* Opens a store, or a node inside one, as a file. Released with vol_file_release. */
enum zb_code vol_file_open_path(h5_lib *lib, const char *path, vol_options options, vol_file **out,
                                zb_error *err);
vol_file *vol_file_retain(vol_file *file);
void vol_file_release(vol_file *file);

/* The node at an HDF5 path, relative to `from` unless it begins with '/'. NULL with ZB_ENOTFOUND
   when there is none. May return an unreadable node, but does not look below one. */
vol_node *vol_node_find(vol_node *from, const char *path, zb_error *err);

/* Makes sure that all children of a group are known. */
enum zb_code vol_node_list(vol_node *group, zb_error *err);

/* Adds a dataset that is not in the store to a group which has no child of that name; takes over
   `zarr`. */
enum zb_code vol_node_add_dimension(vol_node *group, const char *name, zb_node *zarr,
                                    zb_error *err);

/* The node with a token; looks through the whole store when it has not been met yet. */
vol_node *vol_node_by_token(vol_file *file, uint64_t token, zb_error *err);

/* Why a node is unreadable: the text, and the same in err. */
const char *vol_node_reason_text(const vol_node *node);
enum zb_code vol_node_reason(const vol_node *node, zb_error *err);

#endif
