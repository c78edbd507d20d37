/* SPDX-License-Identifier: MIT */
/* How far the locks of BeeGFS reach. */
#ifndef ZB_STORE_FS_BEEGFS_H
#define ZB_STORE_FS_BEEGFS_H

#include <stdbool.h>
#include <stddef.h>

/* True if locks keep out all machines, by the configuration that a mount's options name. options:
   separated by commas; NULL: not known. */
bool zb__fs_beegfs_is_shared(const char *options);

/* The same by the text of a configuration. */
bool zb__fs_beegfs_says_shared(const char *text, size_t size);

#endif
