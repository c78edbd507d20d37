/* SPDX-License-Identifier: MIT */
/*
 * Listing directories.
 *
 * Whether a name holds an object costs a system call for each name, four times as long as the name
 * itself takes. So entries come in small blocks, and threads take turns: while the kernel fills the
 * block of one, others ask about the names of theirs. A round of blocks is then handed on by the
 * caller; its size bounds the memory, whatever the directory has.
 */
#include "store/fs_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "util/pool.h"

/* About 128 short names. To ask about them takes twice as long as to wake a thread. */
#define BLOCK_BYTES 4096
#define ROUND_BLOCKS 128

/* The shortest entry has a name of one byte. */
#define ENTRY_BYTES (offsetof(struct dirent64, d_name) + 2)

typedef struct block {
    struct block *next;
    size_t size;                           /* bytes used */
    bool holds[BLOCK_BYTES / ENTRY_BYTES]; /* of each entry */
    _Alignas(struct dirent64) char bytes[BLOCK_BYTES];
} block;

typedef struct listing {
    const zb__fs *fs;
    const char *prefix;
    const char *const *objects; /* to ask for, with NULL at the end; or NULL */
    int dir;

    pthread_mutex_t lock; /* guards all below */
    block *first, **end;  /* of this round */
    block *untaken;       /* one of them about which nobody asks yet, or NULL */
    size_t count;         /* of them */
    bool is_over;
    int failed; /* errno */
} listing;

static const struct dirent64 *entry_at(const block *b, size_t at) {
    return (const struct dirent64 *)(const void *)&b->bytes[at];
}

/* glibc has the function from 2.30 on, and the wheel is built for 2.28. */
static ssize_t getdents(int dir, void *bytes, size_t size) {
    return syscall(SYS_getdents64, dir, bytes, size);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

/* Adds a block to the round; NULL at the end of the directory. Called with the lock, which costs
   nothing: the kernel lets one thread alone read a descriptor. */
static block *read_block(listing *l) {
    if (l->is_over)
        return NULL;
    block *b = malloc(sizeof *b);
    const ssize_t got = b ? getdents(l->dir, b->bytes, sizeof b->bytes) : -1;
    if (got <= 0) {
        /* ENOENT: it was removed meanwhile, and has no more names. */
        l->failed = got < 0 && errno != ENOENT ? errno : 0;
        l->is_over = true;
        free(b);
        return NULL;
    }
    b->next = NULL;
    b->size = (size_t)got;
    *l->end = b;
    l->end = &b->next;
    l->count++;
    return b;
}

static block *take_block(listing *l) {
    pthread_mutex_lock(&l->lock);
    block *b = l->untaken;
    l->untaken = NULL;
    if (!b && l->count < ROUND_BLOCKS)
        b = read_block(l);
    pthread_mutex_unlock(&l->lock);
    return b;
}

/* ---- Questions ---------------------------------------------------------------------------- */

static bool holds_any(const zb__fs *fs, int dir, const char *name, const char *const *objects) {
    char path[2 * NAME_MAX + 2];
    const size_t length = strlen(name);
    if (length > NAME_MAX)
        return false;
    memcpy(path, name, length);
    strcpy(path + length, "/");
    zb__fs_refresh_way(fs, dir, path, "");
    for (; *objects; objects++) {
        const size_t size = strlen(*objects) + 1;
        if (size > NAME_MAX)
            continue;
        memcpy(path + length + 1, *objects, size);
        if (faccessat(dir, path, F_OK, 0) == 0)
            return true;
    }
    return false;
}

/* What is behind a link is asked for by those who know where it leads. */
static void ask_about(const listing *l, int dir, block *b) {
    size_t i = 0;
    for (size_t at = 0; at < b->size; at += entry_at(b, at)->d_reclen, i++) {
        const struct dirent64 *entry = entry_at(b, at);
        b->holds[i] = l->objects && entry->d_type == DT_DIR && !zb__fs_is_dots(entry->d_name) &&
                      holds_any(l->fs, dir, entry->d_name, l->objects);
    }
}

/* A task of the pool: all of them do the same, until nothing is left of the round. Threads that
   share a descriptor count its users in the same memory, twice for each name. */
static enum zb_code ask_for_blocks(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    listing *l = context;
    const int own = i > 0 ? openat(l->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    (void)scratch;
    (void)err;
    for (block *b; (b = take_block(l)) != NULL;)
        ask_about(l, own >= 0 ? own : l->dir, b);
    if (own >= 0)
        close(own);
    return ZB_OK;
}

/* Reads the next round. A first block that is not half full is the last one most likely. */
static enum zb_code read_round(listing *l, zb_error *err) {
    l->first = NULL;
    l->end = &l->first;
    l->count = 0;
    block *b = read_block(l);
    if (!b)
        return ZB_OK;
    if (!l->objects || b->size < BLOCK_BYTES / 2) {
        ask_about(l, l->dir, b);
        return ZB_OK;
    }
    l->untaken = b;
    return zb__pool_run(ask_for_blocks, l, zb__pool_width(), 0, err);
}

static void free_round(listing *l) {
    for (block *b = l->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

/* ---- Entries ------------------------------------------------------------------------------ */

/* True if the directory `st` is the one at prefix, or above it up to the root. */
static bool is_above(const zb__fs *fs, const char *prefix, const struct stat *st) {
    char path[PATH_MAX];
    struct stat above;
    size_t length = strlen(prefix);
    memcpy(path, prefix, length);
    for (;; length--) {
        path[length] = '\0';
        int fd = zb__fs_open_read(fs->root, length ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        bool found = fd >= 0 && fstat(fd, &above) == 0 && zb__fs_same_file(&above, st);
        if (fd >= 0)
            close(fd);
        if (found || length == 0)
            return found;
        while (length > 1 && path[length - 1] != '/')
            length--;
    }
}

/* A link is a prefix when it leads to a directory inside the root, but not to one that it lies
   in. */
static void follow(const zb__fs *fs, const char *prefix, zb_list_entry *entry) {
    char path[PATH_MAX];
    struct stat st;
    int length = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "/" : "", entry->name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    int fd = zb__fs_open_read(fs->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0) {
        entry->leads_back = is_above(fs, prefix, &st);
        entry->is_prefix = !entry->leads_back;
    }
    close(fd);
}

static zb_list_entry describe(const listing *l, const struct dirent64 *entry, bool holds) {
    unsigned char type = entry->d_type;
    struct stat st;
    if (type == DT_UNKNOWN && fstatat(l->dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
    zb_list_entry described = {.name = entry->d_name,
                               .is_prefix = type == DT_DIR,
                               .is_link = type == DT_LNK,
                               .holds = holds};
    if (described.is_link)
        follow(l->fs, l->prefix, &described);
    return described;
}

/* Hands the round on to the caller of the store; false when he has had enough. */
static bool tell_round(const listing *l, zb_list_fn fn, void *context) {
    for (const block *b = l->first; b; b = b->next) {
        size_t i = 0;
        for (size_t at = 0; at < b->size; at += entry_at(b, at)->d_reclen, i++) {
            const char *name = entry_at(b, at)->d_name;
            if (zb__fs_is_dots(name) || zb__fs_is_ours(name))
                continue;
            zb_list_entry described = describe(l, entry_at(b, at), b->holds[i]);
            if (fn(context, &described) != 0)
                return false;
        }
    }
    return true;
}

/* ---- The whole ---------------------------------------------------------------------------- */

enum zb_code zb__fs_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err) {
    const zb__fs *fs = (const zb__fs *)store;
    const char *prefix = list->prefix;
    listing l = {.fs = fs, .prefix = prefix, .objects = list->objects};
    if (list->is_recursive)
        return ZB_EUNSUPPORTED;
    zb__fs_refresh_way(fs, fs->root, prefix, NULL);
    l.dir = zb__fs_open_read(fs->root, *prefix ? prefix : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l.dir < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ZB_OK;
    if (l.dir < 0)
        return zb__fs_fail(err, errno, "list", prefix);
    zb__fs_refresh(fs, l.dir);
    pthread_mutex_init(&l.lock, NULL);
    enum zb_code code = ZB_OK;
    for (bool more = true; more && !code && !l.is_over;) {
        code = read_round(&l, err);
        more = !code && tell_round(&l, fn, context);
        l.failed = more ? l.failed : 0;
        free_round(&l);
    }
    pthread_mutex_destroy(&l.lock);
    close(l.dir);
    return l.failed ? zb_fail_errno(err, l.failed, "cannot list '%s'", prefix) : code;
}
