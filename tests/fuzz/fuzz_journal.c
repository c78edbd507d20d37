/* SPDX-License-Identifier: MIT */
/*
 * A shard and the journal beside it, as a killed writer leaves them, then changed at will.
 *
 *     byte 0   1: in place, else append; 2: the journal keeps a right checksum; 4: no repair before
 *              the next writer
 *     byte 1   the call to the store at which the writer is killed
 *     then groups of four: 0: change a byte of the shard, 1: of the journal, 2: cut or extend the
 *     shard, 3: the journal; the place (two bytes); the byte for an exclusive or
 *
 * Repairing must do no more than docs/security.md says of it, and no state of a store afterwards
 * may keep a writer from replacing the shard.
 */
#include "fuzz.h"

#include "codec/shard_index.h"
#include "node/node.h"
#include "read/leaf.h"
#include "support/wrappers.h"
#include "util/crc32c.h"
#include "util/scratch.h"
#include "write/writer.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

#define ELEMENTS 8
#define UNITS 4
#define ROOM 4096 /* an object is never larger */

static const char shard_key[] = "c/0", journal_key[] = "c/.0.zb-journal";
static const zb_dtype dtype = {.kind = ZB_KIND_INT, .size = 4};

typedef struct bytes {
    uint8_t data[ROOM];
    size_t size;
    bool there;
} bytes;

static bytes get(zb_hierarchy *hierarchy, const char *key) {
    bytes out = {.there = false};
    char *data;
    if (zb_store_get(zb_hierarchy_store(hierarchy), key, ROOM, "ROOM", &data, &out.size, NULL,
                     NULL) == ZB_OK) {
        memcpy(out.data, data, out.size);
        out.there = true;
        free(data);
    }
    return out;
}

static void set(zb_hierarchy *hierarchy, const char *key, const bytes *content) {
    if (content->there)
        REQUIRE(zb_store_mem_set(zb_hierarchy_store(hierarchy), key, content->data, content->size,
                                 NULL) == ZB_OK);
}

static zb_node *open_array(zb_hierarchy *hierarchy) {
    zb_node *node;
    REQUIRE(zb_node_open(hierarchy, "", &node, NULL) == ZB_OK);
    return node;
}

/* Writes elements of this value through a store that may fail. */
static enum zb_code write_some(zb_hierarchy *hierarchy, enum zb_strategy strategy, uint64_t start,
                               uint64_t count, int32_t value, zb_error *err) {
    zb_node *node;
    zb_writer *writer;
    const int64_t strides[1] = {0};
    const zb_write_options options = {.strategy = strategy};
    const zb_write write = {
        .start = &start, .count = &count, .data = &value, .dtype = dtype, .strides = strides};
    enum zb_code code = zb_node_open(hierarchy, "", &node, err);
    if (code != ZB_OK)
        return code;
    code = zb_writer_open(node, &options, &writer, err);
    if (code == ZB_OK) {
        code = zb_writer_write(writer, &write, err);
        enum zb_code closed = zb_writer_close(writer, code ? NULL : err);
        code = code ? code : closed;
    }
    zb_node_release(node);
    return code;
}

/* An array with one shard, in the middle of being changed. */
static zb_hierarchy *make_store(bool in_place, uint8_t kill_at) {
    const uint64_t shape[1] = {ELEMENTS}, inner[1] = {ELEMENTS / UNITS};
    const zb_array_spec spec = {.ndim = 1,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = shape,
                                .dtype = dtype,
                                .codecs = in_place ? "[{\"name\":\"crc32c\"}]" : "[]"};
    zb_hierarchy *hierarchy, *fault;
    zb_store *failing;
    zb_node *node;
    REQUIRE(zb_hierarchy_new_mem("fuzz", &hierarchy, NULL) == ZB_OK);
    REQUIRE(zb_array_create(hierarchy, "", &spec, &node, NULL) == ZB_OK);
    zb_node_release(node);
    enum zb_strategy strategy = in_place ? ZB_INPLACE : ZB_APPEND;
    REQUIRE(write_some(hierarchy, strategy, 0, ELEMENTS, 11, NULL) == ZB_OK);
    REQUIRE(zb_store_new_fault(zb_hierarchy_store(hierarchy), &failing, NULL) == ZB_OK);
    REQUIRE(zb_hierarchy_over(failing, &fault, NULL) == ZB_OK);
    zb_store_fault_from(failing, kill_at);
    (void)write_some(fault, strategy, 1, 3, 22, NULL);
    zb_hierarchy_release(fault);
    return hierarchy;
}

static void resize(bytes *content, size_t size) {
    if (size > content->size)
        memset(content->data + content->size, 0, size - content->size);
    content->size = size;
}

static void damage(zb_hierarchy *hierarchy, bool right, const uint8_t *data, size_t size) {
    bytes content[2] = {get(hierarchy, shard_key), get(hierarchy, journal_key)};
    for (; size >= 4; data += 4, size -= 4) {
        bytes *of = &content[data[0] & 1];
        size_t at = (data[1] | (size_t)data[2] << 8) % ROOM;
        if (data[0] & 2)
            resize(of, at);
        else if (at < of->size)
            of->data[at] ^= data[3];
        of->there = true;
    }
    bytes *journal = &content[1];
    if (right && journal->size >= sizeof(uint32_t)) {
        uint32_t crc = zb__crc32c(journal->data, journal->size - sizeof crc);
        memcpy(journal->data + journal->size - sizeof crc, &crc, sizeof crc);
    }
    set(hierarchy, shard_key, &content[0]);
    set(hierarchy, journal_key, journal);
}

/* The inner chunks that can be read. */
static unsigned readable(zb_hierarchy *hierarchy, int32_t *values) {
    zb_node *node = open_array(hierarchy);
    unsigned out = 0;
    for (uint64_t i = 0; i < UNITS; i++) {
        const uint64_t count[1] = {ELEMENTS / UNITS}, start[1] = {i * count[0]};
        zb_read read = {.node = node, .start = start, .count = count};
        read.view = (zb_view){.data = values + start[0], .dtype = dtype};
        zb_error err;
        enum zb_code code = zb_array_read(&read, 1, &err);
        fuzz_check_error(code, &err);
        out |= (unsigned)(code == ZB_OK) << i;
    }
    zb_node_release(node);
    return out;
}

/* True if a byte lies in two inner chunks. No writer makes such a shard. */
static bool overlap(const uint64_t *entries) {
    for (unsigned i = 0; i < UNITS; i++) {
        for (unsigned j = 0; j < i; j++) {
            const uint64_t *a = &entries[2 * i], *b = &entries[2 * j];
            if (a[0] != ZB__INDEX_EMPTY && b[0] != ZB__INDEX_EMPTY &&
                (a[0] >= b[0] ? a[0] - b[0] < b[1] : b[0] - a[0] < a[1]))
                return true;
        }
    }
    return false;
}

/* True if the object has an index that can be read. */
static bool load_index(zb_hierarchy *hierarchy, uint64_t *entries) {
    zb_node *node = open_array(hierarchy);
    zb_object *object;
    zb_object_info info;
    zb__write_layout layout;
    bool loaded = false;
    REQUIRE(zb__write_layout_init(&layout, node->array, NULL) == ZB_OK);
    zb__scratch *scratch = zb__scratch_take();
    REQUIRE(scratch);
    if (zb_object_open(zb_hierarchy_store(hierarchy), shard_key, &object, &info, NULL) == ZB_OK) {
        zb__source source = {.object = object, .size = info.size};
        loaded = zb__index_read(layout.shard, &source, scratch, entries, NULL) == ZB_OK;
        zb_object_close(object);
    }
    zb__scratch_put(scratch);
    free(layout.fill);
    zb_node_release(node);
    return loaded;
}

static int on_finding(void *context, const zb_finding *finding) {
    (void)context;
    REQUIRE(*finding->message && !strchr(finding->message, '\n'));
    return 0;
}

static void check_repair(zb_hierarchy *hierarchy) {
    bytes before = get(hierarchy, shard_key);
    int32_t old_values[ELEMENTS], values[ELEMENTS];
    uint64_t entries[2 * UNITS];
    unsigned old_readable = readable(hierarchy, old_values);
    zb_error err;
    enum zb_code code = zb_hierarchy_repair(hierarchy, on_finding, NULL, &err);
    fuzz_check_error(code, &err);
    REQUIRE(code == ZB_OK && !get(hierarchy, journal_key).there);
    bytes after = get(hierarchy, shard_key);
    REQUIRE(after.there == before.there && after.size <= before.size);
    if (after.size < before.size) { /* an append undone */
        REQUIRE(memcmp(after.data, before.data, after.size) == 0);
        REQUIRE(load_index(hierarchy, entries));
    } else if (memcmp(after.data, before.data, after.size) != 0) { /* old inner chunks put back */
        REQUIRE(load_index(hierarchy, entries));
        unsigned now = readable(hierarchy, values);
        for (unsigned i = 0; i < ELEMENTS && !overlap(entries); i++) {
            unsigned inner = i / (ELEMENTS / UNITS);
            if (old_readable >> inner & 1)
                REQUIRE(now >> inner & 1 && values[i] == old_values[i]);
        }
    }
}

/* A write of a part needs the rest of its inner chunks; one of the whole shard needs nothing. */
static void check_writes(zb_hierarchy *hierarchy, enum zb_strategy strategy) {
    int32_t values[ELEMENTS];
    zb_error err;
    enum zb_code code = write_some(hierarchy, strategy, 1, 3, 33, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        REQUIRE((readable(hierarchy, values) & 3) == 3);
        REQUIRE(values[1] == 33 && values[2] == 33 && values[3] == 33);
    }
    REQUIRE_OK(write_some(hierarchy, strategy, 0, ELEMENTS, 44, &err), err);
    REQUIRE(readable(hierarchy, values) == (1u << UNITS) - 1);
    for (unsigned i = 0; i < ELEMENTS; i++)
        REQUIRE(values[i] == 44);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    bool in_place = data[0] & 1;
    zb_hierarchy *hierarchy = make_store(in_place, data[1] % 32);
    damage(hierarchy, data[0] & 2, data + 2, size - 2);
    if (!(data[0] & 4))
        check_repair(hierarchy);
    check_writes(hierarchy, in_place ? ZB_INPLACE : ZB_APPEND);
    zb_hierarchy_release(hierarchy);
    return 0;
}
