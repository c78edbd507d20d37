/* SPDX-License-Identifier: MIT */
/* Putting the object of a chunk that is made of its units. */
#ifndef ZB_WRITE_PUT_CHUNK_H
#define ZB_WRITE_PUT_CHUNK_H

#include "base/scratch.h"
#include "write/layout.h"
#include "write/writer.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* An encoded unit; size 0: all fill, not stored. */
typedef struct zb__encoded {
    const uint8_t *data;
    size_t size;
} zb__encoded;

/* The way of a put: as in zb_put. Without ZB__PUT_WAITS the caller has the key's lock. */
enum zb__put_way { ZB__PUT_NOW, ZB__PUT_WAITS, ZB__PUT_EXPECTS_NONE };

/* Puts a chunk made of its units (one for each of layout->units) under the key, or erases the key
   when none is stored, if the batch's check allows it. */
enum zb_code zb__chunk_put(zb_writer *writer, const zb__layout *layout, const char *key,
                           const zb__encoded *units, enum zb__put_way way, zb__scratch *scratch,
                           zb_error *err);

/* Looks at the object of a chunk that is written as a whole, under the key's lock and before the
   batch's check: where a lock keeps no program out, the put then replaces this object, or none, and
   nothing that comes later. */
enum zb_code zb__chunk_see(const zb_writer *writer, const char *key, zb_error *err);

/* Erases the chunk as it was read (zb_erase), if the batch's check allows it, as safe as the
   writer's puts are. The caller has the key's lock. */
enum zb_code zb__chunk_erase(zb_writer *writer, const char *key, zb_error *err);

/* Takes the key's lock. *lock stays NULL where none can be had and that is allowed: for whole
   chunks, or when the writer promised to be alone. */
enum zb_code zb__chunk_lock(const zb_writer *writer, const char *key, bool whole, zb_lock **lock,
                            zb_error *err);

/* Before another try of a chunk that other programs have replaced since it was read: a pause of
   random length, so that two programs do not go on in step. tries: so far. False: those were
   all. */
bool zb__chunk_pause(unsigned tries);

enum zb_code zb__chunk_blame(const zb_writer *writer, const uint64_t *index, enum zb_code code,
                             zb_error *err);

#endif
