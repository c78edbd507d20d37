/* SPDX-License-Identifier: MIT */
/* The files that external links and virtual datasets name. */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_LINKED_FILE_H
#define ZARRBRIDGE_HDF5_VOL_FILE_LINKED_FILE_H

#include <stdbool.h>

/* The file that a name in another file (`holder`) means. HDF5's order: the environment variable,
   the access list's prefix (NULL: none), the directory of the holder, the current directory.
   malloc'ed; NULL when there is no such file. */
char *vol_linked_file(const char *variable, const char *prefix, const char *holder,
                      const char *name);

/* The same of places where there is a file, or where nobody can tell: in a directory that may not
   be searched. */
char *vol_linked_file_perhaps(const char *variable, const char *prefix, const char *holder,
                              const char *name);

#endif
