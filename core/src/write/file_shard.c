/* SPDX-License-Identifier: MIT */
/*
 * See zarrbridge/file_shard.h.
 *
 * The shard gets its name before the file gets the index: of two programs that take one file, at
 * most one then finds that it has two names, and goes on. Until the index is there, readers of the
 * array find none, which is an error, and never fill values.
 */
#include "zarrbridge/file_shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array.h"
#include "codec/shard_index.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "util/scratch.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/sys/store.h"

typedef struct taking {
    const zb_node *node;
    const zb_file_shard *file;
    const zb__shard *shard;
    char *key;
    uint8_t *index; /* encoded */
} taking;

/* ---- The index ---------------------------------------------------------------------------- */

static enum zb_code check_array(const zb_node *node, const zb__shard **out, zb_error *err) {
    zb_chain *chain = NULL;
    enum zb_code code = zb_chain_of(node, &chain, err);
    if (code)
        return code;
    zb_chain_free(chain);
    *out = node->array->layout->shard;
    if (!*out || (*out)->index_at_start || (*out)->is_draft ||
        zb__array_count_chunks(node->array) != 1)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "array /%s has not one shard with the index at its end", node->path);
    return ZB_OK;
}

static enum zb_code fill_entries(const taking *t, uint64_t *entries, zb_error *err) {
    const zb_file_shard *file = t->file;
    for (uint64_t i = 0; i < 2 * t->shard->count; i++)
        entries[i] = ZB__INDEX_EMPTY;
    for (size_t i = 0; i < file->count; i++) {
        const zb_file_chunk *chunk = &file->chunks[i];
        if (chunk->number >= t->shard->count || entries[2 * chunk->number] != ZB__INDEX_EMPTY ||
            chunk->size == 0 || chunk->size > file->length ||
            chunk->offset > file->length - chunk->size)
            return zb_fail(err, ZB_EINVAL,
                           "chunk %llu (offset %llu, %llu bytes) leaves the file, or the array, or "
                           "is there twice",
                           (unsigned long long)chunk->number, (unsigned long long)chunk->offset,
                           (unsigned long long)chunk->size);
        entries[2 * chunk->number] = chunk->offset;
        entries[2 * chunk->number + 1] = chunk->size;
    }
    return ZB_OK;
}

static enum zb_code make_index(taking *t, zb_error *err) {
    uint64_t *entries = calloc((size_t)t->shard->count, 2 * sizeof *entries);
    zb__scratch *scratch = zb__scratch_take();
    t->index = malloc(t->shard->index_size);
    enum zb_code code = entries && scratch && t->index
                            ? fill_entries(t, entries, err)
                            : zb_fail(err, ZB_ENOMEM, "no memory for the index of a shard");
    if (!code)
        code = zb__shard_index_encode(t->shard, scratch, entries, t->index, err);
    if (scratch)
        zb__scratch_put(scratch);
    free(entries);
    return code;
}

/* ---- The file ----------------------------------------------------------------------------- */

static enum zb_code put(const taking *t, enum zb_file_use use, zb_error *err) {
    const zb_put_file file = {.fd = t->file->fd, .use = use, .size = t->file->length};
    const zb_part index = {.data = t->index, .size = t->shard->index_size};
    const zb_put put = {.key = t->key,
                        .parts = &index,
                        .count = use == ZB_FILE_NAME ? 0 : 1,
                        .file = &file,
                        .sync = zb__hierarchy_sync(t->node->hierarchy),
                        .expected = ZB_EXPECT_FREE,
                        .home = zb__node_home(t->node)};
    return zb__hierarchy_put(t->node->hierarchy, &put, err);
}

/* Whether the index is there from before, of a store that has gone or has another shard by now. */
static bool has_index(const taking *t, int fd, uint64_t size) {
    const size_t length = t->shard->index_size;
    uint8_t *end = size - t->file->length == length ? malloc(length) : NULL;
    const bool has = end && pread(fd, end, length, (off_t)t->file->length) == (ssize_t)length &&
                     memcmp(end, t->index, length) == 0;
    free(end);
    return has;
}

/* The file as it has to be, with so many names; else the reason why it may not be changed. */
static const char *why_not_whole(const taking *t, int fd, nlink_t names) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "it is no regular file";
    if (st.st_nlink != names)
        return "it has other names (hard links), and may be the shard of another array already";
    if ((uint64_t)st.st_size != t->file->length && !has_index(t, fd, (uint64_t)st.st_size))
        return "there are bytes behind those of its own format, as the index of another dataset: "
               "HDF5 cuts them off when a program has opened the file for writing";
    return NULL;
}

/* errno */
static int append_index(const taking *t, int fd) {
    size_t done = 0;
    while (done < t->shard->index_size) {
        const ssize_t n = pwrite(fd, t->index + done, t->shard->index_size - done,
                                 (off_t)(t->file->length + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? EIO : errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return fdatasync(fd) == 0 ? 0 : errno;
}

/* With the new name of the file. */
static enum zb_code complete(const taking *t, int fd, zb_error *err) {
    if (why_not_whole(t, fd, 2))
        return zb_fail(err, ZB_ECONFLICT, "another program takes or writes the file");
    const int failed = append_index(t, fd);
    if (failed && ftruncate(fd, (off_t)t->file->length) != 0)
        return zb_fail_errno(err, errno, "its end cannot be cut off again");
    return failed ? zb_fail_errno(err, failed, "the index cannot be appended") : ZB_OK;
}

/* *reason: why the file does not become the shard itself, and nothing was done. */
static enum zb_code take_name(const taking *t, char reason[ZB_MESSAGE_SIZE], zb_error *err) {
    char path[64];
    zb_error why;
    snprintf(path, sizeof path, "/proc/self/fd/%d", t->file->fd);
    const char *whole =
        t->file->is_kept ? "it is to stay as it is" : why_not_whole(t, t->file->fd, 1);
    const int fd = whole ? -1 : open(path, O_RDWR | O_CLOEXEC);
    *reason = '\0';
    if (fd < 0) {
        snprintf(reason, ZB_MESSAGE_SIZE, "%s", whole ? whole : strerror(errno));
        return ZB_OK;
    }
    enum zb_code code = put(t, ZB_FILE_NAME, &why);
    if (code == ZB_EUNSUPPORTED) {
        snprintf(reason, ZB_MESSAGE_SIZE, "%s", why.message);
        code = ZB_OK;
    } else if (code && err) {
        *err = why;
    } else if (!code && (code = complete(t, fd, err))) {
        (void)zb__hierarchy_erase(t->node->hierarchy, t->key, NULL);
    }
    close(fd);
    return code;
}

static enum zb_code take(const taking *t, zb_error *err) {
    char reason[ZB_MESSAGE_SIZE];
    enum zb_code code = take_name(t, reason, err);
    if (code || !*reason)
        return code;
    code = put(t, ZB_FILE_SHARE, err);
    if (code != ZB_EUNSUPPORTED)
        return code;
    return zb_fail(err, code,
                   "the file cannot be the shard of /%s: %s; and it shares no blocks with the "
                   "store: put both on one file system with reflinks (btrfs, XFS), or index a "
                   "copy of the file",
                   t->node->path, reason);
}

enum zb_code zb_array_take_file(const zb_node *array, const zb_file_shard *shard, zb_error *err) {
    const uint64_t first[ZB_MAX_NDIM] = {0};
    taking t = {.node = array, .file = shard};
    enum zb_code code = check_array(array, &t.shard, err);
    if (!code)
        code = make_index(&t, err);
    if (!code && !(t.key = zb__array_chunk_key(array, first)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for a key");
    if (!code)
        code = take(&t, err);
    free(t.key);
    free(t.index);
    return code;
}
