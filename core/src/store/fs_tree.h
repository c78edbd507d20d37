/* SPDX-License-Identifier: MIT */
/* Removing trees from the disk. */
#ifndef ZB_STORE_FS_TREE_H
#define ZB_STORE_FS_TREE_H

/* Unlinks anything but a directory; links are not followed. 0, EISDIR, or another errno. */
int zb__fs_unlink_file(int dir, const char *name);

/* Removes a file, a link or a whole directory; errno. A missing one is not an error: another
   process was faster. */
int zb__fs_remove_tree(int at, const char *name);

#endif
