/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy between stores and HDF5 files, in all directions: one walk over what is copied. What
 * holds for every copy is said here and in walk.c.
 *
 * - An object is copied once. What leads to it again, another hard link or one that is expanded,
 *   becomes a hard link to its copy.
 * - Links are copied in the order in which they were made, where the source keeps that.
 * - Soft and external links are copied as they are. With H5O_COPY_EXPAND_..._LINK_FLAG an object is
 *   copied in the place of the link that leads to it; a link that leads nowhere stays.
 * - With H5O_COPY_SHALLOW_HIERARCHY_FLAG groups below the top are copied without their links.
 * - In a store each object has one place, and programs that know nothing of hard links see it there
 *   alone: the place of a copy is where the source has the object. So links that are expanded, and
 *   hard links of a store that are no places, are copied after all others.
 * - What leads from one object to another besides links (references, scales, committed datatypes)
 *   is copied at the end, when all copies are there.
 *
 * Both sides are tables of functions: sources are stores or HDF5 files (sources.c), targets are
 * HDF5 files (to_hdf5.c), stores for what an HDF5 file has (from_hdf5.c), and stores for what a
 * store has (store_to_store.c), where nodes are copied as they are stored.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_WALK_H
#define ZARRBRIDGE_HDF5_VOL_COPY_WALK_H

#include "copy/imported.h"
#include "copy/links.h"
#include "objects/object.h"
#include "tree/map.h"
#include "tree/tree.h"

typedef struct vol_copy vol_copy;

/* What is to be copied where, but for the source. */
typedef struct vol_copy_request {
    const vol_object *to; /* where the copy goes: below this object, */
    const H5VL_loc_params_t *loc;
    const char *name; /* under this name */
    hid_t ocpypl, lcpl, dxpl;
} vol_copy_request;

/* An object of the source. */
typedef struct vol_copy_object {
    enum vol_node_kind kind;
    vol_node *node;          /* of a store; NULL: of an HDF5 file, */
    hid_t id;                /* which is open, */
    vol_imported_file *file; /* one of vol_copy.files */
    vol_map *copies;         /* the vol_copied of the objects of its store or file, */
    uint64_t key;            /* by tokens or addresses */
} vol_copy_object;

/* What has been made of one. */
typedef struct vol_copied {
    struct vol_copied *next; /* in the order of copying */
    vol_node *node;          /* the original, where it is a node */
    vol_node *copy;          /* in a store */
    bool refers_later;       /* it has references that are not final (references.h) */
    char *path;              /* in an HDF5 file, seen from the top's copy: "." for that; owned */
    void *object;            /* there, while its links are copied; the top's until the end */
    H5I_type_t type;
} vol_copied;

/* A link of the source. */
typedef struct vol_copy_link {
    const char *name;
    H5L_type_t type;      /* hard: it leads to an object */
    bool is_place;        /* a hard one, unless it is one of a store that is not its node's place */
    vol_link_value value; /* of one that is not hard */
    vol_link *stored;     /* of a store; NULL: of an HDF5 file, */
    hid_t group;          /* in this group */
} vol_copy_link;

/* Where a copy or a link comes. */
typedef struct vol_copy_place {
    vol_copied *group; /* NULL: where the request says, for the top */
    const char *name;
} vol_copy_place;

/* All functions push errors. */
typedef struct vol_copy_source {
    /* Calls vol_copy_meet for the links of a group, whose copy is `to`. */
    herr_t (*each_link)(vol_copy *copy, const vol_copy_object *group, vol_copied *to);
    /* The object that a link leads to, which the walk releases; *there: false where it leads
       nowhere. */
    herr_t (*follow)(vol_copy *copy, const vol_copy_link *link, vol_copy_object *out, bool *there);
} vol_copy_source;

typedef struct vol_copy_target {
    bool has_places; /* it is a store */
    /* Whether a link of the source needs nothing done. NULL: none. */
    bool (*passes)(const vol_copy *copy, const vol_copy_link *link);
    /* Makes a copy, with its elements, where all of them can be had by now: `copy` of *out, or the
       three members below. None is left where another process has deleted the object. */
    herr_t (*make)(vol_copy *copy, const vol_copy_object *object, const vol_copy_place *at,
                   vol_copied *out);
    /* Its comment, and its attributes if they are wanted. */
    herr_t (*complete)(vol_copy *copy, const vol_copy_object *object, vol_copied *copied,
                       bool attributes);
    /* Makes another hard link to a copy. */
    herr_t (*link_again)(vol_copy *copy, const vol_copy_place *at, const vol_copied *copied);
    herr_t (*make_link)(vol_copy *copy, const vol_copy_place *at, const vol_link_value *value);
    /* All links of a copy are there. NULL: that is nothing to it. */
    void (*leave)(vol_copy *copy, vol_copied *copied);
    /* All copies are there, from vol_copy.first on. */
    herr_t (*finish)(vol_copy *copy);
} vol_copy_target;

/* A copy under way: the first member of what the functions of a target need besides. */
struct vol_copy {
    const vol_copy_source *from;
    const vol_copy_target *to;
    const vol_copy_request *request;
    const vol_place *place; /* the request's, in a store; NULL in an HDF5 file */
    h5_lib *lib;
    unsigned flags;                            /* H5O_COPY_... */
    vol_map nodes;                             /* the vol_copied of nodes, by their tokens */
    vol_imported files;                        /* the HDF5 files of the source */
    vol_copied *first, *last;                  /* all; the first is the top's */
    struct vol_copy_later *later, *later_last; /* links that are copied after all others */
};

/* Begins a copy whose tables and place are set. After it, also when it fails, vol_copy_end is
   due. */
herr_t vol_copy_begin(vol_copy *copy, const vol_copy_request *request);
herr_t vol_copy_run(vol_copy *copy, const vol_copy_object *top);
void vol_copy_end(vol_copy *copy);

/* For sources: copies a link of a group. */
herr_t vol_copy_meet(vol_copy *copy, vol_copied *group, const vol_copy_link *link);

/* The copy of a node; NULL when there is none. */
const vol_copied *vol_copy_of(const vol_copy *copy, const vol_node *node);

/* ---- For targets that are HDF5 files ---- */

/* Where a copy is, seen from that of the top; and its address, 0 where a node has no copy. */
H5VL_loc_params_t vol_copy_from_top(const vol_copy *copy, const vol_copied *copied);
uint64_t vol_copy_address(const vol_copy *copy, const vol_node *node);

/* ---- For targets that are stores ---- */

vol_place vol_copy_store_place(const vol_copy *copy, const vol_copy_place *at);
herr_t vol_copy_link_in_store(vol_copy *copy, const vol_copy_place *at, const vol_copied *copied);
herr_t vol_copy_value_in_store(vol_copy *copy, const vol_copy_place *at,
                               const vol_link_value *value);

/* Pushes what kept an object called so from being copied; -1. */
herr_t vol_copy_failed(h5_lib *lib, const char *name, zb_error *err);

/* ---- The sources (sources.c) ---- */

extern const vol_copy_source vol_copy_store, vol_copy_hdf5;

vol_copy_object vol_copy_node(vol_copy *copy, vol_node *node);

/* An open object of an HDF5 file. Pushes errors. */
herr_t vol_copy_opened(vol_copy *copy, hid_t id, vol_copy_object *out);

/* ---- The directions ---- */

/* H5Ocopy of an object to a place that has been found for the request. Pushes errors. *begun (NULL
   before) is the copy; after an error it is what there is of it, for vol_edit_discard, or NULL. */

/* Of an open object of an HDF5 file, into a store (from_hdf5.c). */
herr_t vol_import_object(hid_t source, const vol_place *place, const vol_copy_request *request,
                         vol_node **begun);

/* Of a node, in its store or into another one (store_to_store.c). */
herr_t vol_copy_in_stores(vol_node *node, const vol_place *place, const vol_copy_request *request,
                          vol_node **begun);

/* Of a node, into an HDF5 file, where nothing stays after an error (to_hdf5.c). */
herr_t vol_export_node(vol_node *node, const vol_copy_request *request);

/* An id for the native object called `name`, seen from `from`; -1 with an error pushed. The caller
   drops it with vol_release_id. */
hid_t vol_import_open(const vol_object *from, const H5VL_loc_params_t *from_loc, const char *name,
                      hid_t dxpl);

#endif
