/* SPDX-License-Identifier: MIT */
/*
 * Names of objects that stay when objects move (zarrbridge/moved.h), as an open file has them: a
 * name is written like a path of the file. References are stored as names, and the tokens of
 * objects are made of them.
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

/* The name that a reference to the object at a path is stored as (malloc'ed): the root keeps track
   of it from now on. A root that cannot be changed keeps nothing, and the name is the path then. */
enum zb_code vol_moved_refer(vol_file *file, const char *path, char **name, zb_error *err);

void vol_moved_clear(vol_file *file);

#endif
