/* SPDX-License-Identifier: MIT */
/*
 * Groups and datasets.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_NODE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_NODE_H

#include "hdf5/library.h"
#include "model/dataset.h"
#include "model/link_order.h"
#include "model/links.h"
#include "model/loose.h"
#include "model/node_attrs.h"
#include "model/writers.h"

#include "zarrbridge/zarrbridge.h"

struct vol_named;
struct vol_object;
struct vol_waiting;
struct vol_uses;
struct vol_stored_chunks;
/* A datatype is a group of the store that holds nothing, with the type in side.h. */
enum vol_node_kind { VOL_GROUP, VOL_DATASET, VOL_DATATYPE };

struct vol_node {
    vol_file *file;   /* the owner */
    vol_node *parent; /* NULL for the root */
    char *path;       /* absolute: "/", "/g/b" */
    const char *name; /* its last part; "" for the root */
    enum vol_node_kind kind;
    zb_node *zarr; /* NULL for a synthetic root */
    uint64_t token;
    vol_node *next_by_token;

    /* Groups: */
    vol_links links;
    vol_order order;
    struct vol_named *named; /* named_links.h; NULL until asked for */
    struct vol_uses *uses;   /* dimension_uses.h; NULL until asked for */

    struct vol_named *names; /* aliases.h: its aliases; NULL until asked for */

    /* Datasets: */
    vol_dataset dataset;
    vol_writing writing;

    bool is_dimension;  /* a dataset that dimensions.c made for a dimension, not in the store */
    bool is_unreadable; /* a dataset of unreadable.c, in place of the store's node */

    struct vol_waiting *waiting; /* model/waiting.h; NULL when nothing waits */
    uint64_t document_bytes;     /* of the stored document, about; 0 until waiting.h needs it */
    zb_json *side; /* model/side.h: parsed; NULL until asked for, or when there is none */
    vol_node_attributes attrs;
    struct vol_object *open_attrs; /* attributes/ids.c */
    hid_t dcpl;                    /* datasets: of create/creation_list.c; 0 until asked for */

    bool loose;          /* in no group: deleted, or made without a name */
    vol_loose outside;   /* while it is loose */
    uint64_t kept_bytes; /* kept.h: of its own store, what it takes of the memory for such */
    size_t
        pins; /* see vol_node_pin: of this node, and, in files that are only read, of those below */
    struct vol_stored_chunks *stored_chunks; /* datasets: NULL until asked for */
    uint64_t *max_shape;                     /* datasets, max_shape.h: [ndim]; NULL until known */
};

/* A new node without a place. Takes over `zarr` (NULL for a synthetic root), also on failure. */
enum zb_code vol_node_new(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Frees a node and all below it. */
void vol_node_free(vol_node *node);

/* Keeps the node, and so those above it, in memory until vol_node_unpin: each open id does, each
   walk for the groups that it is in, and (until the file is closed) each alias for its group and
   its node. */
void vol_node_pin(vol_node *node);
void vol_node_unpin(vol_node *node);

/* Acts on a node and on all opened ones below it. All are tried; the first error is returned. */
enum zb_code vol_node_each_below(vol_node *node, enum zb_code (*act)(vol_node *, zb_error *),
                                 zb_error *err);

/* Gives the node its path: `name` in `parent` (NULL: the root). False when memory runs out; the
   node has its old path then. */
bool vol_node_set_path(vol_node *node, const vol_node *parent, const char *name);

/* The store's path of a child called `name` (stored_names.h); malloc'ed. */
enum zb_code vol_node_child_path(const vol_node *group, const char *name, char **out,
                                 zb_error *err);

/* Puts a changed core node in place of the old one; takes it over. False when another process has
   made a node there that open ids cannot follow to: of another kind or number of dimensions. The
   list of attributes stays as it is, unless names or lengths of dimensions have changed. */
bool vol_node_replace(vol_node *node, zb_node *zarr);

/* The member of side.h with the type (type_json.h) of a named datatype, and a new one of that type:
   -1 when there is none. */
#define VOL_SIDE_DATATYPE "datatype"
hid_t vol_node_datatype(vol_node *node);

#endif
