/* SPDX-License-Identifier: MIT */
/*
 * Groups and datasets.
 *
 * The first members of the struct say what a node is. All sources read them; node.c, node_life.c
 * and tree.c set them, and the one that is named beside a member. Each member below is the part of
 * one owner, of which nobody else touches anything: other sources ask the functions of its header.
 * node_life.c has all of them freed.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_NODE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_NODE_H

#include "attributes/attribute_list.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "file/owners.h"
#include "hdf5/library.h"
#include "links/link_order.h"
#include "links/links.h"
#include "tree/loose.h"

#include "zarrbridge/zarrbridge.h"

struct vol_aliases;
struct vol_dimension_set;
struct vol_link_entry_set;
struct vol_object;
struct vol_stored_chunks;
struct vol_waiting;

/* A datatype is a group of the store that holds nothing, with the type in side.h. */
enum vol_node_kind { VOL_GROUP, VOL_DATASET, VOL_DATATYPE };

struct vol_node {
    vol_file *file;   /* the owner */
    vol_node *parent; /* NULL for the root */
    char *path;       /* absolute: "/", "/g/b" */
    const char *name; /* its last part; "" for the root */
    enum vol_node_kind kind;
    zb_node *zarr;     /* NULL for a synthetic root */
    uint64_t token;    /* tokens.c */
    bool has_moved;    /* objects/tokens.c: its token is not that of its path */
    bool loose;        /* in no group: deleted, or made without a name; tokens.c */
    bool is_dimension; /* a dataset made for a dimension (dimensions.h), not in the store; edit.c */
    bool is_doubted;   /* reading or writing it failed: another may be at its place; deleted.c */
    bool is_unreadable; /* a dataset of unreadable.h, in place of the store's node */
    uint32_t reading;   /* aliases_anew.c: the one that has read this group last */
    size_t pins; /* of this node, and, in files that are only read, of those below (vol_node_pin) */

    /* Nodes of any kind. */
    vol_node *next_by_token;     /* objects/tokens.c */
    struct vol_aliases *aliases; /* links/aliases.c; NULL until asked for */
    struct vol_waiting *waiting; /* waiting/waiting.c; NULL when nothing waits */
    vol_owners owners;           /* file/owners.c: of what waits here; old ones when nothing does */
    uint64_t document_bytes; /* waiting/waiting.c: of the stored document, about; 0 until needed */
    zb_hdf5_extension *side; /* tree/side.c: parsed; NULL when there is none */
    bool side_is_known;      /* tree/side.c: it is that of the node's document */
    vol_node_attributes attrs;   /* attributes/attribute_list.c */
    struct vol_object *attr_ids; /* objects/object.c: open ids of its attributes */
    vol_loose outside;           /* tree/loose.c: while it is loose */
    uint64_t deleted_bytes; /* dataset/deleted.c: what a deleted one takes of the memory for such */

    /* Groups. */
    vol_links links;                         /* links/links.c */
    vol_order order;                         /* links/link_order.c */
    struct vol_link_entry_set *link_entries; /* links/link_entries.c; NULL until asked for */
    uint64_t all_stated;                     /* scales/back_references.c */
    char *records;                           /* scales/dimension_records.c: as read or printed */
    struct vol_dimension_set *uses;          /* scales/dimension_uses.c; NULL until asked for */

    /* Datasets. */
    vol_dataset dataset;                     /* dataset/dataset.c */
    vol_writing writing;                     /* dataset/writers.c */
    struct vol_stored_chunks *stored_chunks; /* dataset/stored_chunks.c; NULL until asked for */
    uint64_t *max_shape;                     /* dataset/max_shape.c: [ndim]; NULL until known */
    uint64_t dimension_number;               /* netcdf/netcdf_numbers.c: one more; 0: none */
    bool is_renumbered;        /* netcdf/netcdf_numbers.c: what is stored of numbers is wrong */
    uint64_t dimension_length; /* netcdf/lengths.c: of the dimension that it is the scale of */
    hid_t dcpl;                /* create/creation_list.c; 0 until asked for */
};

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

/* Three parts of a path as one text; malloc'ed, or NULL. Each node has several paths, and printf
   takes long. */
char *vol_path_join(const char *above, const char *between, const char *name);

/* The store's path of a child called `name` (zb_name_stored); malloc'ed. */
enum zb_code vol_node_child_path(const vol_node *group, const char *name, char **out,
                                 zb_error *err);

/* The member of side.h with the type (type_json.h) of a committed datatype, and a new one of that
   type: -1 when there is none, or (*lacks_memory) that cannot be told. */
hid_t vol_node_datatype(vol_node *node, bool *lacks_memory);

/* What waits in a node, for all who ask before they change it: data in its writer (writers.c), and
   a changed order of its links (link_order.c). */
static inline bool vol_writer_is_dirty(const vol_node *dataset) {
    return dataset->writing.dirty;
}
static inline bool vol_order_is_changed(const vol_node *group) {
    return group->order.changed;
}

#endif
