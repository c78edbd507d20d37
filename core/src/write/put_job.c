/* SPDX-License-Identifier: MIT */
#include "write/put_job.h"

#include <stdlib.h>

#include "node/node.h"
#include "write/allowed.h"
#include "write/live.h"
#include "write/put_chunk.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* From this size on an object is looked for before it is sent. Bytes. */
#define SEEN_FIRST ((uint64_t)1 << 20)

/* A whole chunk that may wait for the flush needs no lock before; but erasing cannot wait, nor can
   a chunk with a journal, nor one on the array's edge: until then the array may have grown. */
static bool may_wait(const zb_writer *writer, const zb__job *job, const zb__encoded *units) {
    bool any = false;
    for (uint64_t i = 0; i < job->layout->units && !any; i++)
        any = units[i].size > 0;
    return any && !job->lock && !zb__chunk_is_cut(job->layout, job->index) && !job->layout->fixed &&
           writer->options.sync == ZB_SYNC_CLOSE;
}

/* A chunk may be whole only because the array ends in it. Where a lock keeps no program out,
   another one may make the array longer and write the rest of the chunk: so its put replaces what
   was there before the look at the document, and nothing that has come since. */
bool zb__chunk_is_open_edge(const zb_writer *writer, const zb__layout *layout,
                            const uint64_t *index) {
    return !zb__node_store(writer->node)->hints.is_local && zb__chunk_is_cut(layout, index);
}

static uint64_t bytes_of(const zb__layout *layout, const zb__encoded *units) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < layout->units; i++)
        sum += units[i].size;
    return sum;
}

static enum zb_code put_locked(zb_writer *writer, const zb__job *job, const char *key,
                               const zb__encoded *units, bool sees, enum zb__put_way way,
                               zb__scratch *scratch, zb_error *err) {
    zb_lock *lock = NULL;
    enum zb_code code = zb__chunk_lock(writer, key, true, &lock, err);
    if (!code && sees)
        code = zb__chunk_see(writer, key, err);
    if (!code)
        code = zb__chunk_put(writer, job->layout, key, units, way, scratch, err);
    zb_store_unlock(lock);
    return code;
}

/* The put was refused. For the sake of the array's document there is no use in another try. */
static enum zb_code check_again(zb_writer *writer, const char *key, zb_error *err) {
    zb_error why;
    const enum zb_code code = writer->batch.check ? writer->batch.check(writer, key, &why) : ZB_OK;
    if (code && err)
        *err = why;
    return code;
}

/* At first none is expected, which costs no request where that is so. A large object is not sent in
   vain, nor is there a condition for erasing what is not known. */
static enum zb_code put_on_edge(zb_writer *writer, const zb__job *job, const char *key,
                                const zb__encoded *units, zb__scratch *scratch, zb_error *err) {
    const uint64_t bytes = bytes_of(job->layout, units);
    bool sees = bytes == 0 || bytes >= SEEN_FIRST;
    for (unsigned tries = 1;; tries++) {
        enum zb_code code = put_locked(writer, job, key, units, sees,
                                       sees ? ZB__PUT_NOW : ZB__PUT_EXPECTS_NONE, scratch, err);
        if (code != ZB_ECONFLICT || (code = check_again(writer, key, err)) != ZB_OK ||
            !zb__chunk_pause(tries))
            return code;
        sees = true;
    }
}

enum zb_code zb__job_put(zb_writer *writer, zb__job *job, const zb__encoded *units,
                         zb__scratch *scratch, zb_error *err) {
    enum zb_code code;
    char *key = zb__array_chunk_key(writer->node, job->index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    const bool waits = may_wait(writer, job, units);
    if (job->live)
        code = zb__live_put(writer, key, job->open, job->live, units, scratch, err);
    else if (job->lock || waits)
        code = zb__chunk_put(writer, job->layout, key, units, waits ? ZB__PUT_WAITS : ZB__PUT_NOW,
                             scratch, err);
    else if (zb__chunk_is_open_edge(writer, job->layout, job->index))
        code = put_on_edge(writer, job, key, units, scratch, err);
    else
        code = put_locked(writer, job, key, units, false, ZB__PUT_NOW, scratch, err);
    job->stored = code == ZB_OK;
    if (waits && job->stored)
        atomic_store(&writer->waits, true);
    free(key);
    return code;
}
