/* SPDX-License-Identifier: MIT */
#include "util/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- Hash ---- */

static uint64_t key[2];

/* Without random numbers, as early in the start of a machine, the clock and the process serve. */
static void choose_key(void) {
    struct timespec now;
    if (getrandom(key, sizeof key, GRND_NONBLOCK) == (ssize_t)sizeof key)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    key[0] = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec;
    key[1] = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&now;
}

static inline uint64_t rotate(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

static inline void mix(uint64_t v[4]) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static inline void add_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
}

uint64_t zb__hash(const void *bytes, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned char *at = bytes;
    pthread_once(&once, choose_key);
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    uint64_t word, last = (uint64_t)size << 56;
    size_t left = size;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        add_word(v, word);
    }
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)at[i] << 8 * i;
    add_word(v, last);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- Table ---- */

static zb__map_link **bucket_of(const zb__map *map, uint64_t hash) {
    return &map->bucket[hash & (map->buckets - 1)];
}

static zb__map_link *with_hash(zb__map_link *link, uint64_t hash) {
    while (link && link->hash != hash)
        link = link->next;
    return link;
}

zb__map_link *zb__map_first(const zb__map *map, uint64_t hash) {
    return map->buckets ? with_hash(*bucket_of(map, hash), hash) : NULL;
}

zb__map_link *zb__map_next(const zb__map_link *link) {
    return with_hash(link->next, link->hash);
}

zb__map_link *zb__map_after(const zb__map *map, const zb__map_link *link) {
    size_t i = link ? (link->hash & (map->buckets - 1)) + 1 : 0;
    zb__map_link *after = link ? link->next : NULL;
    for (; !after && i < map->buckets; i++)
        after = map->bucket[i];
    return after;
}

bool zb__map_reserve(zb__map *map) {
    if (map->count < map->buckets)
        return true;
    zb__map grown = {.buckets = map->buckets ? 2 * map->buckets : 64};
    grown.bucket = calloc(grown.buckets, sizeof *grown.bucket);
    if (!grown.bucket)
        return false;
    for (zb__map_link *link = zb__map_after(map, NULL), *next; link; link = next) {
        next = zb__map_after(map, link);
        zb__map_add(&grown, link, link->hash);
    }
    free(map->bucket);
    *map = grown;
    return true;
}

void zb__map_add(zb__map *map, zb__map_link *link, uint64_t hash) {
    zb__map_link **bucket = bucket_of(map, hash);
    *link = (zb__map_link){.next = *bucket, .hash = hash};
    *bucket = link;
    map->count++;
}

void zb__map_remove(zb__map *map, zb__map_link *link) {
    zb__map_link **at = bucket_of(map, link->hash);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    map->count--;
}

void zb__map_free(zb__map *map) {
    free(map->bucket);
    *map = (zb__map){0};
}
