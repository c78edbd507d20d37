/* SPDX-License-Identifier: MIT */
/*
 * A Zarr store as HDF5 wants to see it: a file whose root is a group, with links, objects, tokens.
 *
 * A vol_file is an open store. It owns its nodes. A group is listed once, by names; each node is
 * opened when it is asked for, and kept until the file and all objects opened through it are
 * closed: an open file shows the names that it found, the nodes as they were when they were opened,
 * and what it changed itself; reopening it shows what others have changed since, and so does
 * refreshing an object. A dataset that another program has replaced, by which a read or write has
 * failed, is another one when its name is opened again. A file that is
 * only read forgets nodes when it has many, and opens them again (forget.h). No HDF5 call happens
 * in the tree except for closing the ids that other layers have stored in a node.
 *
 * Each H5Fopen makes a vol_handle, which says whether it may write. A store that is open for
 * writing has one vol_file in the process, so that all handles see one state; those that are only
 * read have one for each handle.
 *
 * - A node that was deleted, or is not linked yet, lives on outside the hierarchy while it has ids.
 * - An array store gets a synthetic root group, in which the array has a name made of the path.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_TREE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_TREE_H

#include "file/options.h"
#include "hdf5/mpi.h"
#include "hdf5/property_lists.h"
#include "tree/map.h"
#include "tree/moved.h"
#include "tree/node.h"
#include "tree/side.h"

#include "zarrbridge/zarrbridge.h"

typedef struct vol_handle vol_handle;

#define VOL_TOKEN_BUCKETS 1024

/* What groups show besides the nodes and links of the store: datasets of dimensions, which take no
   part in the order of links (link_order.h) unless a program has made them. They are made above the
   tree (dimension_records.h), which calls that by this table. */
typedef struct vol_extras {
    /* Whether the group's whole list has to be known before a name is looked for in it. */
    bool (*need_list)(vol_node *group);
    /* Adds to a group that is listed the ones that it keeps. */
    enum zb_code (*show_kept)(vol_node *group, zb_error *err);
    /* Adds the ones that follow of what it shows. */
    enum zb_code (*show_made)(vol_node *group, zb_error *err);
} vol_extras;

struct vol_file {
    h5_lib *lib;
    char *path;      /* as the user gave it, in its plain form (names.h) */
    char *shown;     /* the same for messages */
    uint64_t number; /* the same for every open of one store, different from native files */
    pid_t process;   /* the one that opened it */
    bool writable;   /* opened or created by a handle that may write */
    h5_ranks *ranks; /* that have it open together; NULL: none. Rank 0 alone changes documents */
    vol_options options;
    const vol_extras *extras;
    zb_hierarchy *hierarchy;
    zb_hierarchy *dimensions; /* where dimensions.c keeps its datasets; NULL until it has some */
    vol_node *root;
    uint64_t changes; /* counts what we changed: anything derived from several nodes may be stale */
    uint64_t attribute_changes; /* the same of lists of attributes */
    bool links_changed;         /* links wait to be stored (link_store.h) */
    uint32_t reading;           /* aliases_anew.c: of links, the last one's number */
    uint64_t node_count;        /* in memory; node_life.c */
    uint64_t link_count;        /* in memory, of those that are places; links.c */
    /* Paths of objects that a copy is still to make, by the tokens that they will have: references
       may lead there already. Borrowed; NULL but while something is copied into the file. */
    const vol_map *to_come;

    /* Parts of one owner each, as in node.h. */
    size_t refs;               /* file/handle.c: the handles */
    vol_handle *handles;       /* file/open_files.c: all of them; handle.c lists them */
    vol_owners owners;         /* file/owners.c: the handles */
    vol_owners acting;         /* file/owners.c: whose call it is that goes on; 0: none */
    vol_file *next;            /* file/open_files.c: of lib->files */
    vol_node *loose;           /* tree/loose.c: nodes outside the hierarchy */
    uint64_t deleted_bytes;    /* dataset/deleted.c: of deleted datasets that are in memory */
    uint64_t nodes_left;       /* file/forget.c: node_count when it last looked; 0 before */
    uint64_t links_left;       /* file/forget.c: link_count likewise */
    size_t holds;              /* file/forget.c: callers that keep nodes */
    uint64_t last_loose_token; /* objects/tokens.c */
    uint64_t token_salt;       /* objects/tokens.c: 0 until needed */
    vol_moved moved;           /* tree/moved.c: names that stay */
    uint64_t named_dimensions; /* scales/scales.c: counts changes of what has any */
    bool numbers_settled;      /* netcdf/netcdf_numbers.c: all are known */
    uint64_t scale_changes;    /* scales/scale_names.c: counts statements */
    uint64_t names_settled;    /* netcdf/coordinate_names.c: that count, then */
    bool lengths_settled;      /* netcdf/lengths.c: datasets are as long as their dimensions */
    vol_map dead_tokens;       /* objects/tokens.c: of nodes that have gone */
    vol_side_last side_last; /* tree/side.c: the text of its kind that was parsed last, if short */
    vol_map type_users;      /* objects/type_users.c: numbers, by the hash of a type's name */
    uint64_t type_users_change; /* objects/type_users.c: see there; 0 before the first count */
    vol_node *by_token[VOL_TOKEN_BUCKETS]; /* objects/tokens.c */
};

/* The file of one H5Fopen or H5Fcreate, H5Freopen included. */
struct vol_handle {
    size_t refs;  /* the open objects */
    size_t files; /* those among them that are files: H5Iget_file_id gives ids besides H5Fopen's */
    vol_file *file;
    bool writable;
    bool is_collective; /* all ranks of the file have it, and close it together */
    bool is_atomic;     /* H5Fset_mpi_atomicity: what is written is stored at once */
    vol_owners owner;   /* itself, as a set (owners.h) */
    zb_error lost;      /* open_files.c: by a flush that cannot be tried again; no code: nothing */
    bool given_up;      /* open_files.c: closing it has failed */
    vol_handle *next;   /* of file->handles */
    unsigned swmr;      /* H5_ACC_SWMR_... of the open, or from H5Fstart_swmr_write: see native.c */
    vol_manners manners; /* of the access list that it was opened with */
};

/* A name for a new node: its group, and the last part of its path. Freed with vol_place_clear of
   edit.h. */
typedef struct vol_place {
    vol_node *group;
    char *name;
} vol_place;

/* ---- Finding ---- */

/* The link of that name in a group. ZB_ENOTFOUND when there is none. */
enum zb_code vol_child_find(vol_node *group, const char *name, vol_link **out, zb_error *err);

/* Opens the node whose place a link is, unless that was done before. Nothing happens for a link
   that is no place. ZB_ENOTFOUND when the node has gone since the group was listed. */
enum zb_code vol_link_open(vol_link *link, zb_error *err);

/* True if there is surely no such link: the cheap question before a new one is made. False says
   nothing. */
bool vol_child_is_absent(vol_node *group, const char *name);
/* True if there is none but where the store has a node of that name, which was not asked: making
   that node tells. */
bool vol_child_is_unknown(vol_node *group, const char *name);

/* The link that is a node's place; NULL for the root and for loose nodes. */
vol_link *vol_link_of(const vol_node *node);

/* Makes sure that all links of a group are known. Nodes are not opened. */
enum zb_code vol_node_list(vol_node *group, zb_error *err);

/* Counts the nodes of one walk, from 0; ZB_ELIMIT at the limit `nodes`. */
enum zb_code vol_walk_count(const vol_file *file, uint64_t *count, zb_error *err);

/* ---- Changing the tree; the store is the caller's business ---- */

/* Makes the root of a file (zarr: NULL for a synthetic one, which has no children but those that
   are added). Takes over `zarr`, as the three below. */
enum zb_code vol_tree_new_root(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Adds a child that is in the store to a group which does not know one of that name. */
enum zb_code vol_tree_add(vol_node *group, const char *name, zb_node *zarr, vol_node **out,
                          zb_error *err);

/* Adds a dataset that is not in the store likewise. */
enum zb_code vol_tree_add_dimension(vol_node *group, const char *name, zb_node *zarr,
                                    zb_error *err);

/* Makes a node outside the hierarchy. */
enum zb_code vol_tree_add_loose(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err);

/* Takes a link out of its group: its node has been deleted from the store. The node, with all
   below it, becomes loose. */
void vol_tree_remove(vol_link *link);

/* Forgets the node of a link, which is opened anew when it is needed. The node, with all below it,
   becomes loose. */
void vol_tree_close(vol_link *link);

/* Whether this is the name in the store of what a link is the place of. */
bool vol_link_is_stored_as(const vol_link *link, const char *stored);

/* Gives a link another place: its node, with all below it, lies at `name` of `group` in the store
   now. After an error but ZB_ENOMEM it has that place, and nodes that could not be opened there are
   loose. Nodes below that have been deleted are so, too. */
enum zb_code vol_tree_move(vol_link *link, vol_node *group, const char *name, zb_error *err);

/* Gives a loose node a place likewise. After an error it has none. */
enum zb_code vol_tree_place(vol_node *loose, vol_node *group, const char *name, zb_error *err);

#endif
