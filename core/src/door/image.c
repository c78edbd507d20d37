/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 image of a door: see image.h. The oldest form of such files, as all versions of HDF5 and
 * other readers have it ("HDF5 File Format Specification", version 0 of the superblock). Its parts
 * stand one behind the other: the superblock, the local heap and the tree of a root group without
 * members, and the root's object header with the attributes.
 */
#include "door/image.h"

#include <stdint.h>
#include <string.h>

#define UNDEFINED UINT64_MAX /* an address of nothing */
#define SUPERBLOCK_BYTES 96u
#define HEAP_BYTES 32u
#define HEAP_DATA_BYTES 8u /* the empty name */
#define LEAF_K 4u          /* half of the symbols in a leaf */
#define TREE_K 16u         /* half of the children of a node in the tree */
#define TREE_BYTES (24 + 8 * (2 * TREE_K + 2 * TREE_K + 1))
#define HEADER_PREFIX_BYTES 16u
#define MESSAGE_PREFIX_BYTES 8u
#define HEAP_AT SUPERBLOCK_BYTES
#define TREE_AT (HEAP_AT + HEAP_BYTES + HEAP_DATA_BYTES)
#define HEADER_AT (TREE_AT + TREE_BYTES)

enum message { MESSAGE_ATTRIBUTE = 0x0c, MESSAGE_SYMBOL_TABLE = 0x11 };

static void put(zb__text *out, uint64_t value, unsigned bytes) {
    char little[8];
    for (unsigned i = 0; i < bytes; i++)
        little[i] = (char)(value >> (8 * i));
    zb__text_put(out, little, bytes);
}

static void put_zeros(zb__text *out, size_t count) {
    static const char zeros[64];
    for (; count > sizeof zeros; count -= sizeof zeros)
        zb__text_put(out, zeros, sizeof zeros);
    zb__text_put(out, zeros, count);
}

static size_t padded(size_t size) {
    return (size + 7) / 8 * 8;
}

/* A text with its NUL, and zeros up to a multiple of eight bytes. */
static void put_padded(zb__text *out, const char *text) {
    const size_t size = strlen(text) + 1;
    zb__text_put(out, text, size);
    put_zeros(out, padded(size) - size);
}

/* ---- Messages of the object header ---- */

static void begin_message(zb__text *out, enum message type, size_t size) {
    put(out, type, 2);
    put(out, size, 2);
    put(out, 0, 4); /* flags, and three bytes that are reserved */
}

static size_t attribute_size(const zb__door_attribute *attribute) {
    return 8 + padded(strlen(attribute->name) + 1) + 8 + 8 + padded(strlen(attribute->value) + 1);
}

/* Version 1 of an attribute: a scalar of a text that ends with NUL, in UTF-8. */
static void put_attribute(zb__text *out, const zb__door_attribute *attribute) {
    begin_message(out, MESSAGE_ATTRIBUTE, attribute_size(attribute));
    put(out, 1, 2);
    put(out, strlen(attribute->name) + 1, 2);
    put(out, 8, 2); /* bytes of the data type */
    put(out, 8, 2); /* and of the data space */
    put_padded(out, attribute->name);
    put(out, 0x13, 1); /* version 1 of a data type, class 3: text */
    put(out, 0x10, 3); /* NUL ends it, UTF-8 */
    put(out, strlen(attribute->value) + 1, 4);
    put(out, 1, 8); /* version 1 of a data space, no dimensions */
    put_padded(out, attribute->value);
}

/* ---- The parts ---- */

static void put_superblock(zb__text *out, uint64_t end) {
    zb__text_put(out, ZB__HDF5_SIGNATURE, 8);
    put(out, 0, 5); /* versions of the superblock and its parts, and a reserved byte */
    put(out, 8, 1); /* bytes of an address */
    put(out, 8, 1); /* and of a length */
    put(out, 0, 1);
    put(out, LEAF_K, 2);
    put(out, TREE_K, 2);
    put(out, 0, 4);
    put(out, 0, 8); /* the address that others are counted from */
    put(out, UNDEFINED, 8);
    put(out, end, 8);
    put(out, UNDEFINED, 8);
    put(out, 0, 8); /* the root's name */
    put(out, HEADER_AT, 8);
    put(out, 1, 8); /* the addresses of tree and heap follow */
    put(out, TREE_AT, 8);
    put(out, HEAP_AT, 8);
}

static void put_heap(zb__text *out) {
    zb__text_put(out, "HEAP", 4);
    put(out, 0, 4);
    put(out, HEAP_DATA_BYTES, 8);
    put(out, 1, 8); /* nothing is free */
    put(out, HEAP_AT + HEAP_BYTES, 8);
    put_zeros(out, HEAP_DATA_BYTES);
}

static void put_tree(zb__text *out) {
    zb__text_put(out, "TREE", 4);
    put(out, 0, 4); /* of a group; a leaf; without entries */
    put(out, UNDEFINED, 8);
    put(out, UNDEFINED, 8);
    put_zeros(out, TREE_BYTES - 24);
}

void zb__door_image(zb__text *out, const zb__door_attribute *attributes, unsigned count,
                    size_t behind) {
    size_t messages = MESSAGE_PREFIX_BYTES + 16;
    for (unsigned i = 0; i < count; i++)
        messages += MESSAGE_PREFIX_BYTES + attribute_size(&attributes[i]);
    put_superblock(out, HEADER_AT + HEADER_PREFIX_BYTES + messages + behind);
    put_heap(out);
    put_tree(out);
    put(out, 1, 2); /* version 1 of an object header */
    put(out, 1 + count, 2);
    put(out, 1, 4); /* one link leads here */
    put(out, messages, 4);
    put(out, 0, 4);
    begin_message(out, MESSAGE_SYMBOL_TABLE, 16);
    put(out, TREE_AT, 8);
    put(out, HEAP_AT, 8);
    for (unsigned i = 0; i < count; i++)
        put_attribute(out, &attributes[i]);
}
