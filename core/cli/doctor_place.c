/* SPDX-License-Identifier: MIT */
/*
 * `doctor PATH`: the store at a path, and what its file system can do. The trials are made with
 * files of a name that no store uses, which are removed at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor.h"
#include "place.h"
#include "zarrbridge/conventions.h"

/* ---- Kinds of file systems ----------------------------------------------------------------- */

typedef struct kind {
    unsigned long magic;
    const char *name;
    bool is_shared; /* several machines write to it */
} kind;

static const kind kinds[] = {
    {0x6969, "nfs", true},        {0xff534d42, "cifs", true},     {0xfe534d42, "smb2", true},
    {0x0bd00bd0, "lustre", true}, {0x47504653, "gpfs", true},     {0x19830326, "beegfs", true},
    {0x00c36400, "ceph", true},   {0x65735546, "fuse", true},     {0xef53, "ext4", false},
    {0x58465342, "xfs", false},   {0x9123683e, "btrfs", false},   {0x01021994, "tmpfs", false},
    {0x2fc12fc1, "zfs", false},   {0x794c7630, "overlay", false}, {0xf2f52010, "f2fs", false},
};

static const kind *kind_of(const char *directory) {
    struct statfs info;
    if (statfs(directory, &info) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].magic == ((unsigned long)info.f_type & 0xffffffffUL))
            return &kinds[i];
    }
    return NULL;
}

/* A line of /proc/self/mountinfo as far as it is of use: the longest mount point that the directory
   is below of. The options are those of the mount and of the file system. malloc'ed, or NULL. */
static char *mount_options(const char *directory) {
    char *line = NULL, *found = NULL, *real = realpath(directory, NULL);
    size_t size = 0, longest = 0;
    FILE *mounts = fopen("/proc/self/mountinfo", "r");
    while (real && mounts && getline(&line, &size, mounts) > 0) {
        char point[4096] = "", options[1024] = "", rest[2048] = "";
        if (sscanf(line, "%*s %*s %*s %*s %4095s %1023s %2047[^\n]", point, options, rest) < 3)
            continue;
        const size_t length = strcmp(point, "/") == 0 ? 0 : strlen(point);
        if (strncmp(real, point, length) != 0 || (real[length] != '/' && real[length] != '\0') ||
            (found && length < longest))
            continue;
        longest = length;
        free(found);
        const char *own = strrchr(rest, ' ');
        found = doctor_print("%s,%s", options, own ? own + 1 : "");
    }
    free(line);
    free(real);
    if (mounts)
        fclose(mounts);
    return found;
}

static bool has_option(const char *options, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = options; at && (at = strstr(at, name)) != NULL; at += length) {
        if ((at == options || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    }
    return false;
}

/* ---- Trials -------------------------------------------------------------------------------- */

typedef struct trial {
    const char *directory;
    int error; /* the errno of what failed, or 0 */
    const char *what;
    bool is_nanosecond;
} trial;

static struct flock whole_file(short type) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static void fail(trial *t, const char *what) {
    t->error = errno ? errno : EIO;
    t->what = what;
}

/* Two descriptors of one file: what one has locked, the other must not get. */
static void try_locks(trial *t, int first, const char *path) {
    struct flock lock = whole_file(F_WRLCK), again = whole_file(F_WRLCK);
    const int second = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (second < 0 || fcntl(first, F_OFD_SETLK, &lock) != 0) {
        fail(t, "a lock is refused");
    } else if (fcntl(second, F_OFD_SETLK, &again) == 0) {
        errno = EIO;
        fail(t, "a lock that one has is given to another");
    }
    if (second >= 0)
        close(second);
}

static void try_names(trial *t, const char *path) {
    char *other = doctor_print("%s-2", path), *moved = doctor_print("%s-3", path);
    errno = 0;
    if (link(path, other) != 0)
        fail(t, "a second name for a file (link) is refused");
    else if (renameat2(AT_FDCWD, other, AT_FDCWD, moved, RENAME_NOREPLACE) != 0 &&
             errno != EINVAL && errno != ENOSYS)
        fail(t, "a file cannot be renamed");
    unlink(other);
    unlink(moved);
    free(other);
    free(moved);
}

static void try_times(trial *t, int file) {
    const struct timespec wanted[2] = {{1000000000, 123456789}, {1000000000, 123456789}};
    struct stat info;
    t->is_nanosecond =
        futimens(file, wanted) == 0 && fstat(file, &info) == 0 && info.st_mtim.tv_nsec == 123456789;
}

static trial try_directory(const char *directory) {
    trial t = {.directory = directory};
    char *path = doctor_print("%s/.zb-doctor-%ld", directory, (long)getpid());
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        fail(&t, "no file can be made");
        free(path);
        return t;
    }
    try_locks(&t, file, path);
    if (!t.error)
        try_names(&t, path);
    try_times(&t, file);
    close(file);
    unlink(path);
    free(path);
    return t;
}

/* ---- What is found ------------------------------------------------------------------------- */

static void check_mount(doctor *d, const kind *k, const char *options) {
    if (k && strcmp(k->name, "nfs") == 0 &&
        (has_option(options, "nolock") || has_option(options, "local_lock=all") ||
         has_option(options, "local_lock=posix")))
        doctor_find(d, DOCTOR_WARN,
                    "this NFS is mounted with locks that other machines do not see (%s): writers "
                    "on two of them lose data of each other -> mount it without nolock and "
                    "local_lock, or write from one machine at a time",
                    options);
    if (has_option(options, "localflock"))
        doctor_find(d, DOCTOR_WARN,
                    "this Lustre is mounted with localflock: locks are of one node -> mount it "
                    "with flock");
    if (k && k->is_shared)
        doctor_find(d, DOCTOR_NOTE,
                    "several machines can write here; that their locks work nobody can see from "
                    "one of them -> srun -N 2 -n 2 zarrbridge doctor --peers 2 DIRECTORY");
}

static void check_trial(doctor *d, const trial *t) {
    if (t->error == EACCES || t->error == EROFS || t->error == EPERM)
        doctor_find(d, DOCTOR_NOTE,
                    "%s cannot be written by this user (%s), so that locks are not tried -> run "
                    "doctor as the user who writes, if somebody does",
                    t->directory, strerror(t->error));
    else if (t->error)
        doctor_find(d, DOCTOR_ERROR,
                    "%s: %s (%s): stores here can be read but not written safely -> write to "
                    "another file system, and copy the store here",
                    t->directory, t->what, strerror(t->error));
    else if (!t->is_nanosecond)
        doctor_find(d, DOCTOR_WARN,
                    "%s keeps times of files by more than a nanosecond: a reader may take an "
                    "object for unchanged that was just replaced -> write to another file system "
                    "while others read",
                    t->directory);
}

static void check_space(doctor *d, const char *directory) {
    struct statvfs info;
    if (statvfs(directory, &info) != 0)
        return;
    const uintmax_t free_mib = (uintmax_t)info.f_bavail * info.f_frsize >> 20;
    doctor_fact(d, "free: %ju MiB, %ju files", free_mib, (uintmax_t)info.f_favail);
    if (info.f_files > 0 && info.f_favail < 1000)
        doctor_find(d, DOCTOR_WARN,
                    "the file system has room for %ju more files alone -> shards need fewer files "
                    "than chunks; or remove files",
                    (uintmax_t)info.f_favail);
    if (free_mib < 64)
        doctor_find(d, DOCTOR_WARN, "the file system has %ju MiB left -> make room", free_mib);
}

static void check_store(doctor *d, const char *path) {
    zb_error err;
    zb_node *node = NULL;
    place where;
    if (place_open(path, &where, &node, &err))
        doctor_find(d, zb_name_is_zarr(path) || access(path, F_OK) ? DOCTOR_WARN : DOCTOR_NOTE,
                    "no node opens here: %s -> name a store, or a group or an array in one",
                    err.message);
    else
        doctor_fact(d, "%s of version %d, in the store %s",
                    zb_node_array(node) ? "an array" : "a group", zb_node_format(node), where.root);
    zb_node_release(node);
    place_clear(&where);
}

void doctor_place(doctor *d) {
    const char *path = d->path;
    struct stat info;
    doctor_begin(d, "path");
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        check_store(d, path);
        return;
    }
    const kind *k = kind_of(path);
    char *options = mount_options(path);
    doctor_fact(d, "%s   %s (%s)", path, k ? k->name : "a file system of another kind",
                options ? options : "");
    const trial t = try_directory(path);
    check_mount(d, k, options);
    check_trial(d, &t);
    if (!t.error)
        doctor_fact(d, "locks, links and renaming work; times of files: %s",
                    t.is_nanosecond ? "1 ns" : "coarser");
    check_space(d, path);
    check_store(d, path);
    free(options);
}
