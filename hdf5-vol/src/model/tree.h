/* SPDX-License-Identifier: MIT */
/*
 * A Zarr store as HDF5 wants to see it: a file whose root is a group, with links, objects, tokens.
 *
 * A vol_file is an open store. It owns its vol_nodes, which are made on first sight and kept until
 * the file and all objects opened through it are closed: an open file shows the hierarchy
 * that it found and what it changed itself; reopening it shows what others have changed since. No
 * HDF5 call happens in tree.c except for closing the ids that other rooms have stored in a node.
 *
 * Each H5Fopen makes a vol_handle, which says whether it may write. A store that is open for
 * writing has one vol_file in the process, so that all handles see one state; those that are only
 * read have one for each handle.
 *
 * - A node that was deleted, or is not linked yet, lives on outside the hierarchy while it has ids.
 * - An array store gets a synthetic root group, in which the array has a name made of the path.
 * - A node whose metadata cannot be read is kept with its reason: HDF5 sees it as a dangling link.
 * - A token is a 63-bit hash of the path, so that references stay valid when the store is reopened.
 *   Two paths with one hash would be confused; the second one met is made unreadable instead.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_TREE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_TREE_H

#include "hdf5/library.h"
#include "model/options.h"
#include "zarrbridge/zarrbridge.h"

struct vol_attrs;
struct vol_object;

enum vol_node_kind { VOL_GROUP, VOL_DATASET, VOL_UNREADABLE };

typedef struct vol_node vol_node;
typedef struct vol_file vol_file;
typedef struct vol_handle vol_handle;

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
    bool is_dimension; /* a dataset that dimensions.c made for a dimension, not in the store */

    struct vol_attrs *attrs;       /* attributes/attributes.h; NULL until asked for */
    uint64_t attrs_change;         /* file->changes when they were made */
    struct vol_object *open_attrs; /* attributes/ids.c */
    hid_t type, dcpl; /* datasets: of hdf5/types.c and create/creation_list.c; 0 until asked for */

    bool loose; /* in no group: deleted, or made without a name */
    vol_node *next_loose;
    zb_store *own_store; /* in memory: of a dataset made without a name until it gets one */
    size_t opened;       /* datasets: open ids */
    zb_writer *writer;   /* datasets: NULL until the first write; see writers.h */
    bool dirty;          /* written since the writer was flushed */
    uint64_t *max_shape; /* datasets created since the file was opened: [ndim]; else NULL */
    uint64_t *told;      /* datasets: the shape that the program knows, [ndim]; NULL until opened */
};

#define VOL_TOKEN_BUCKETS 1024

struct vol_file {
    h5_lib *lib;
    vol_file *next;   /* of lib->files */
    size_t refs;      /* the handles */
    char *path;       /* as the user gave it */
    bool writable;    /* opened or created by a handle that may write */
    uint64_t changes; /* counts what we changed: anything derived from several nodes may be stale */
    zb_error lost;    /* of a flush that cannot be tried again: of no code until then */
    uint64_t number;  /* the same for every open of one store, different from native files */
    vol_options options;
    zb_store *store;
    zb_store *dimensions; /* where dimensions.c keeps its datasets; NULL until it has some */
    vol_node *root;
    vol_node *loose; /* nodes outside the hierarchy */
    uint64_t node_count;
    uint64_t last_loose_token;
    vol_node *by_token[VOL_TOKEN_BUCKETS];
};

/* One H5Fopen or H5Fcreate, H5Freopen included. */
struct vol_handle {
    size_t refs;  /* the open objects */
    size_t files; /* those among them that are files: H5Iget_file_id gives ids besides H5Fopen's */
    vol_file *file;
    bool writable;
};

/* ---- Nodes -------------------------------------------------------------------------------- */

/* The node at an HDF5 path, relative to `from` unless it begins with '/'. NULL with ZB_ENOTFOUND
   when there is none. May return an unreadable node, but does not look below one. */
vol_node *vol_node_find(vol_node *from, const char *path, zb_error *err);

/* Makes sure that all children of a group are known. */
enum zb_code vol_node_list(vol_node *group, zb_error *err);

/* The hash of bytes, begun with VOL_HASH_START: for tokens and file numbers. Stable for good, since
   tokens are stored in references. */
#define VOL_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t vol_hash(uint64_t hash, const void *data, size_t size);

/* Makes the root of a file (zarr: NULL for a synthetic one, which has no children but those that
   are added). Takes over `zarr`, as the two below. */
enum zb_code vol_node_new_root(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Adds a child that is in the store to a group which does not know one of that name. */
enum zb_code vol_node_add(vol_node *group, const char *name, zb_node *zarr, vol_node **out,
                          zb_error *err);

/* Makes a node outside the hierarchy. */
enum zb_code vol_node_new_loose(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Takes a node, with all below it, out of its group: it has been deleted from the store. */
void vol_node_detach(vol_node *node);

/* Gives a node another place: it, with all below it, lies at `name` of `group` in the store now.
   What of it cannot be opened there becomes loose. */
enum zb_code vol_node_relink(vol_node *node, vol_node *group, const char *name, zb_error *err);

/* Puts a changed core node in place of the old one; takes it over. False when another process has
   made a node there that open ids cannot follow to: of another kind or number of dimensions. */
bool vol_node_replace(vol_node *node, zb_node *zarr);

/* The shape that a dataset has now is the one for which the program makes its buffers from now on.
   The second: is it still? A change of the document may have brought another process's shape. */
void vol_node_tell_shape(vol_node *dataset);
bool vol_node_shape_is_told(const vol_node *dataset);

/* Frees a node and all below it. */
void vol_node_free(vol_node *node);

/* The store's path of a child called `name` (NULL: of the group itself); malloc'ed. */
char *vol_node_store_path(const vol_node *group, const char *name);

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
