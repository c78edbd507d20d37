/* SPDX-License-Identifier: MIT */
/*
 * The file system that a store is on. Whether other machines use it cannot be found out by trying:
 * a lock that keeps out the processes of one machine alone looks like any other. The kind of the
 * file system tells, and for some the options with which it is mounted; the user may know more
 * (ZARRBRIDGE_LOCKS).
 */
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/locks.h"
#include "store/fs_beegfs.h"
#include "store/fs_mount.h"
#include "store/fs_store.h"

/* Numbers that the kernel's headers do not have. */
#define ZFS_MAGIC 0x2fc12fc1u
#define BCACHEFS_MAGIC 0xca451a4eu
#define NTFS3_MAGIC 0x7366746eu
#define LUSTRE_MAGIC 0x0bd00bd0u
#define GPFS_MAGIC 0x47504653u
#define CEPH_MAGIC 0x00c36400u
#define GFS2_MAGIC 0x01161970u
#define BEEGFS_MAGIC 0x19830326u

bool zb__fs_is_local_type(unsigned type) {
    static const unsigned local[] = {
        EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC,    TMPFS_MAGIC,
        RAMFS_MAGIC,       OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,     MSDOS_SUPER_MAGIC,
        EXFAT_SUPER_MAGIC, SQUASHFS_MAGIC,        ISOFS_SUPER_MAGIC,    REISERFS_SUPER_MAGIC,
        NILFS_SUPER_MAGIC, UDF_SUPER_MAGIC,       EROFS_SUPER_MAGIC_V1, ECRYPTFS_SUPER_MAGIC,
        ZFS_MAGIC,         BCACHEFS_MAGIC,        NTFS3_MAGIC};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        if (type == local[i])
            return true;
    }
    return false;
}

static bool has_option(const char *options, const char *wanted) {
    const size_t length = strlen(wanted);
    while (options && *options) {
        const size_t size = strcspn(options, ",");
        if (size == length && memcmp(options, wanted, length) == 0)
            return true;
        options += size + (options[size] == ',');
    }
    return false;
}

/* Where nothing is known of a file system, its locks are trusted on one machine. Lustre without
   locks refuses them, which is seen when one is asked for. */
enum zb__fs_reach zb__fs_reach_of(unsigned type, const char *options) {
    if (zb__fs_is_local_type(type))
        return ZB__FS_LOCAL;
    bool is_kept_here = true;
    if (type == NFS_SUPER_MAGIC)
        is_kept_here = has_option(options, "nolock") || has_option(options, "local_lock=all") ||
                       has_option(options, "local_lock=posix");
    else if (type == LUSTRE_MAGIC)
        is_kept_here = has_option(options, "localflock");
    else if (type == BEEGFS_MAGIC)
        is_kept_here = !zb__fs_beegfs_is_shared(options);
    else if (type == GPFS_MAGIC || type == CEPH_MAGIC || type == GFS2_MAGIC)
        is_kept_here = false;
    return is_kept_here ? ZB__FS_NODE : ZB__FS_SHARED;
}

/* A line is "ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS [MORE...] - KIND SOURCE OPTIONS"; blanks in
   names are escaped. */
const char *zb__fs_mount_options(const char *line, dev_t device) {
    unsigned number_major, number_minor;
    if (sscanf(line, "%*d %*d %u:%u ", &number_major, &number_minor) != 2 ||
        makedev(number_major, number_minor) != device)
        return NULL;
    const char *word = strstr(line, " - ");
    if (!word)
        return NULL;
    word += 3;
    for (int i = 0; i < 2; i++) { /* kind and source */
        word += strcspn(word, " ");
        if (*word == '\0')
            return NULL;
        word++;
    }
    return *word && !strchr(word, ' ') ? word : NULL;
}

/* The file system's own answer. The kernel bounds its table of mounts. */
static enum zb__fs_reach find_reach(unsigned type, dev_t device) {
    FILE *table = fopen("/proc/self/mountinfo", "re");
    const char *options = NULL;
    char *line = NULL;
    size_t size = 0;
    while (table && !options && getline(&line, &size, table) > 0) {
        line[strcspn(line, "\n")] = '\0';
        options = zb__fs_mount_options(line, device);
    }
    if (table)
        fclose(table);
    const enum zb__fs_reach reach = zb__fs_reach_of(type, options);
    free(line);
    return reach;
}

void zb__fs_look_at_system(zb__fs *fs) {
    struct statfs info = {.f_type = 0};
    struct stat st;
    const unsigned type = fstatfs(fs->root, &info) == 0 ? (unsigned)info.f_type : 0;
    fs->is_remote = !zb__fs_is_local_type(type);
    switch (zb__locks_stated()) {
    case ZB__LOCKS_NONE: /* all alone */
    case ZB__LOCKS_LOCAL:
        fs->reach = ZB__FS_LOCAL;
        break;
    case ZB__LOCKS_NODE:
        fs->reach = ZB__FS_NODE;
        break;
    case ZB__LOCKS_SHARED:
        fs->reach = ZB__FS_SHARED;
        break;
    case ZB__LOCKS_UNKNOWN:
        fs->reach = !fs->is_remote              ? ZB__FS_LOCAL
                    : fstat(fs->root, &st) == 0 ? find_reach(type, st.st_dev)
                                                : ZB__FS_NODE;
        break;
    }
    fs->base.hints.may_lack_locks = fs->is_remote || fs->reach != ZB__FS_LOCAL;
}
