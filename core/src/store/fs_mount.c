/* SPDX-License-Identifier: MIT */
/*
 * The file system that a store is on. Whether other machines use it cannot be found out by trying:
 * a lock that keeps out the processes of one machine alone looks like any other. The kind of the
 * file system tells, and for some the options with which it is mounted; the user may know more
 * (ZARRBRIDGE_LOCKS).
 */
#include "store/fs_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "util/locks.h"

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
    fs->base.hints.shares_blocks =
        type == XFS_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC || type == BCACHEFS_MAGIC;
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

/* ---- BeeGFS ------------------------------------------------------------------------------- */

/*
 * BeeGFS keeps locks on each machine, unless its client is told to take them at the server
 * (tuneUseGlobalFileLocks). The options of the mount do not say so, but the client's configuration
 * does, whose path is among them (cfgFile). In doubt locks keep out one machine alone: parts of
 * chunks are refused then where several write, and nothing is lost.
 */

#define MOST_BYTES (64 * 1024)

/* Part of a text, without blanks at its ends. */
typedef struct piece {
    const char *at;
    size_t size;
} piece;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static piece trim(const char *at, size_t size) {
    for (; size > 0 && is_blank(*at); size--)
        at++;
    while (size > 0 && is_blank(at[size - 1]))
        size--;
    return (piece){at, size};
}

/* Names and words count in any case. */
static bool is_word(piece p, const char *word) {
    return p.size == strlen(word) && strncasecmp(p.at, word, p.size) == 0;
}

static bool is_true(piece value) {
    static const char *const words[] = {"true", "yes", "on", "y", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(value, words[i]))
            return true;
    }
    return false;
}

/* A line is "NAME = VALUE", or a comment behind "#". Of several of one name the last one counts. */
bool zb__fs_beegfs_says_shared(const char *text, size_t size) {
    bool is_shared = false;
    for (const char *end = text + size; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((stop ? stop : end) - text);
        const char *equals = memchr(text, '=', length);
        if (equals && is_word(trim(text, (size_t)(equals - text)), "tuneUseGlobalFileLocks"))
            is_shared = is_true(trim(equals + 1, length - (size_t)(equals + 1 - text)));
        text += length + 1;
    }
    return is_shared;
}

/* Reads the file up to its end; bytes, or -1 for one that is no file or has too many. */
static ssize_t read_file(const char *path, char *text) {
    struct stat st;
    ssize_t got = -1, size = 0;
    const int fd =
        zb__fs_open_name(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        while (size <= MOST_BYTES &&
               (got = ZB__UNINTERRUPTED(read(fd, text + size, MOST_BYTES + 1 - (size_t)size))) > 0)
            size += got;
    }
    close(fd);
    return got == 0 ? size : -1;
}

/* The value of the option, whose length it sets; or NULL. */
static const char *find_option(const char *options, const char *name, size_t *length) {
    const size_t size = strlen(name);
    while (options && *options) {
        *length = strcspn(options, ",");
        if (*length > size && memcmp(options, name, size) == 0) {
            *length -= size;
            return options + size;
        }
        options += *length + (options[*length] == ',');
    }
    return NULL;
}

bool zb__fs_beegfs_is_shared(const char *options) {
    char path[PATH_MAX];
    size_t length;
    const char *value = find_option(options, "cfgFile=", &length);
    if (!value || *value != '/' || length >= sizeof path)
        return false;
    memcpy(path, value, length);
    path[length] = '\0';
    char *text = malloc(MOST_BYTES + 1);
    const ssize_t size = text ? read_file(path, text) : -1;
    const bool is_shared = size > 0 && zb__fs_beegfs_says_shared(text, (size_t)size);
    free(text);
    return is_shared;
}
