/* SPDX-License-Identifier: MIT */
/*
 * Names of objects that stay when objects move (zarrbridge/moved.h), as an open file has them.
 * References to objects and to committed datatypes are stored as names that are written like paths
 * of the file; hard links and dimension scales as ways from the name of one node to that of another
 * (links/places.h). The tokens of objects are made of names.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_MOVED_H
#define ZARRBRIDGE_HDF5_VOL_TREE_MOVED_H

#include "tree/structs.h"
#include "zarrbridge/moved.h"

/* What the root group says. All zeros until somebody asks. */
typedef struct vol_moved {
    zb_moved *names; /* NULL: all names are paths */
    bool is_known;   /* what follows and `names` are those of the root as it was read */
    bool is_kept;    /* the root keeps track of what moves */
    bool is_old;     /* the root may have changed since */
} vol_moved;

/* Reads it anew at the next question: something has moved, or another program may have moved
   something. */
void vol_moved_outdate(vol_file *file);

/* Whether all names are paths, as far as is known. */
bool vol_moved_is_plain(vol_file *file);

/* The name of the object at a path, as far as is known: malloc'ed. NULL when there is none, and
   when memory runs out. For tokens: references are stored by vol_moved_refer. */
char *vol_moved_name(vol_file *file, const char *path);

/* The path of the object that has a name likewise. NULL with an error when the root, which may have
   changed, cannot be read. */
char *vol_moved_path(vol_file *file, const char *name, zb_error *err);

/* What of a path of the store follows the file's root: "g/d"; NULL when it is not below it. */
const char *vol_moved_below_root(const vol_file *file, const char *path);

/* The name that a reference to the object at a path is stored as (malloc'ed): the root keeps track
   of it from now on. A root that cannot be changed keeps nothing, and the name is the path then.
   is_node: the object is a node of the store, and no dimension without a variable, nor one that is
   still to come. */
enum zb_code vol_moved_refer(vol_file *file, const char *path, bool is_node, char **name,
                             zb_error *err);

/* The same of a node that is in the store, with names of the store below the file's root: "g/d". */
enum zb_code vol_moved_refer_node(const vol_node *node, char **name, zb_error *err);

/* The name of such a node as far as is known, and the place that a name leads to: malloc'ed. NULL
   when there is none, when the root cannot be read, and when memory runs out. */
char *vol_moved_name_of(const vol_node *node);
char *vol_moved_place(vol_file *file, const char *name);

/* A dimension without a variable has gone from one path of the store to another (NULL: it was
   deleted). Nodes tell it themselves. */
enum zb_code vol_moved_tell(vol_file *file, const char *from, const char *to, zb_error *err);

/* Whether the root keeps track of what moves; and has it do so, where it can. */
bool vol_moved_is_kept(vol_file *file);
enum zb_code vol_moved_keep_track(vol_file *file, zb_error *err);

void vol_moved_clear(vol_file *file);

#endif
