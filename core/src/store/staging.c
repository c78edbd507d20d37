/* SPDX-License-Identifier: MIT */
/* See sys/staging.h. */
#include "zarrbridge/sys/staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "util/clock.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

#define LONGEST_NAME 150 /* of the place: longer ones are cut, so that the whole fits */
#define MOST_NAMES 100000
#define YOUNG_SECONDS 60 /* what is younger may not be locked yet */

/* ---- Removing ---- */

static int pass_over(void *context, const zb_list_entry *entry) {
    (void)context;
    (void)entry;
    return 0;
}

/* What a killed maker has left beside the objects has no other remover. */
static void remove_at(const char *path, bool is_directory) {
    zb_store *store;
    if (!is_directory) {
        unlink(path);
        return;
    }
    if (zb_store_open_fs(path, &store, NULL) == ZB_OK) {
        (void)zb_store_erase_below(store, "", NULL);
        (void)zb_store_sweep(store, "", ZB_SWEEP_REMOVE, pass_over, NULL, NULL);
        zb_store_release(store);
    }
    rmdir(path);
}

static bool is_directory(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

void zb_staging_close(zb_staging *staging) {
    if (staging->fd >= 0)
        close(staging->fd);
    free(staging->path);
    free(staging->place);
    *staging = (zb_staging){.path = NULL, .fd = -1};
}

void zb_staging_remove(zb_staging *staging) {
    if (staging->path)
        remove_at(staging->path, is_directory(staging->fd));
    zb_staging_close(staging);
}

/* ---- What is left of killed processes ---- */

/* What is open may have been removed by now, and another one have its name. */
static bool is_called(const struct stat *info, const char *path) {
    struct stat now;
    return lstat(path, &now) == 0 && now.st_dev == info->st_dev && now.st_ino == info->st_ino;
}

/* Unless its maker lives. Whoever removes it holds the lock from the last look at its name on.
   False: there is nothing. */
static bool remove_stale(const char *path) {
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) &&
        info.st_mtime + YOUNG_SECONDS < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_called(&info, path))
        remove_at(path, S_ISDIR(info.st_mode));
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* ---- Making ---- */

/* -1 with errno; EEXIST: the name is taken. */
static int open_new(const char *path, bool is_directory) {
    if (!is_directory)
        return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return mkdir(path, 0777) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* ".../.NAME.7.zarrbridge-new"; malloc'ed, NULL: no memory. */
static char *numbered(const char *directory, const char *prefix, unsigned number) {
    char *path;
    return asprintf(&path, "%s/%s%u%s", directory[1] ? directory : "", prefix, number,
                    ZB__FS_ASIDE) < 0
               ? NULL
               : path;
}

/* What lies under the numbers from that one on, up to the first that is free. */
static void remove_following(const char *directory, const char *prefix, unsigned number) {
    for (bool is_there = true; is_there && number < MOST_NAMES; number++) {
        char *path = numbered(directory, prefix, number);
        is_there = path && remove_stale(path);
        free(path);
    }
}

/* The first name that is free, so that what is left of a killed process is met by its name: nobody
   lists the directory, which may be large. */
static enum zb_code make_in(const char *directory, const char *prefix, bool is_directory,
                            zb_staging *out, zb_error *err) {
    unsigned number = 0;
    do {
        zb_staging_close(out);
        out->path = numbered(directory, prefix, number++);
        if (!out->path)
            return zb_fail(err, ZB_ENOMEM, "no memory for a path");
        out->fd = open_new(out->path, is_directory);
        if (out->fd < 0 && errno == EEXIST) {
            remove_stale(out->path);
            out->fd = open_new(out->path, is_directory);
        }
    } while (out->fd < 0 && errno == EEXIST && number < MOST_NAMES);
    if (out->fd >= 0 && flock(out->fd, LOCK_EX | LOCK_NB) == 0) {
        remove_following(directory, prefix, number);
        return ZB_OK;
    }
    const enum zb_code code = zb_fail_errno(err, errno, "cannot make '%s'", out->path);
    if (out->fd >= 0)
        zb_staging_remove(out);
    else
        zb_staging_close(out);
    return code;
}

enum zb_code zb_staging_make(const char *place, bool is_directory, zb_staging *out, zb_error *err) {
    *out = (zb_staging){.path = NULL, .fd = -1};
    size_t end = strlen(place), start;
    while (end > 1 && place[end - 1] == '/')
        end--;
    for (start = end; start > 0 && place[start - 1] != '/';)
        start--;
    char *above = start ? strndup(place, start) : strdup("."), *prefix = NULL;
    char *directory = above ? realpath(above, NULL) : NULL;
    enum zb_code code = ZB_OK;
    if (!directory)
        code = zb_fail_errno(err, errno, "the directory of '%s'", place);
    else if (asprintf(&prefix, ".%.*s.",
                      (int)(end - start < LONGEST_NAME ? end - start : LONGEST_NAME),
                      place + start) < 0)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a path");
    if (!code) {
        code = make_in(directory, prefix, is_directory, out, err);
        free(prefix);
    }
    if (!code && asprintf(&out->place, "%s/%.*s", directory[1] ? directory : "", (int)(end - start),
                          place + start) < 0) {
        out->place = NULL;
        zb_staging_remove(out);
        code = zb_fail(err, ZB_ENOMEM, "no memory for a path");
    }
    free(directory);
    free(above);
    return code;
}

/* ---- The directory of a store that was deleted ---- */

static bool has_ours_alone(const char *path) {
    DIR *dir = zb__fs_open_dir(AT_FDCWD, path);
    bool ours = dir != NULL;
    const struct dirent *entry;
    while (ours && (entry = readdir(dir)) != NULL)
        ours = zb__fs_is_dots(entry->d_name) || zb__fs_is_ours(entry->d_name);
    if (dir)
        closedir(dir);
    return ours;
}

static bool sweep_root(const char *path) {
    zb_store *store;
    if (zb_store_open_fs(path, &store, NULL) != ZB_OK)
        return false;
    const enum zb_code code = zb_store_sweep(store, "", ZB_SWEEP_REMOVE, pass_over, NULL, NULL);
    zb_store_release(store);
    return code == ZB_OK;
}

bool zb_store_remove_directory(const char *path) {
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    const int64_t begin = zb__now();
    while (rmdir(path) != 0) {
        const uint64_t seconds = (uint64_t)(zb__now() - begin) / 1000000000;
        if ((errno != ENOTEMPTY && errno != EEXIST) || seconds >= zb_limits_get()->lock_seconds ||
            !has_ours_alone(path) || !sweep_root(path))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}
