/* SPDX-License-Identifier: MIT */
/*
 * Two writers and a reader of one shard of a directory store, by all strategies, in each step that
 * a kill or another program can come between. The shard's lock is one step here: lock.pml tells it
 * in full.
 *
 * An object that is put is a new file, which takes the name of the old one. `append` makes the file
 * longer, so that it has a generation for each append: the index at the end of a generation, and
 * what it leads to, is never touched once it is complete. `inplace` overwrites inner chunks.
 *
 * Promises:
 *   - what was acknowledged, or was read, is there until another write replaces it
 *   - a reader gets the elements of one moment of its read, inner chunk by inner chunk, or an error
 *   - what a kill has left half done is undone by the next writer of a part, or by repair
 */
#include "promises.pml"

/* Shards whose inner chunks have fixed sizes can be changed in place, and their objects never wait
   for a flush. */
#ifndef FIXED
#define FIXED 0
#endif

#define FILES 4 /* 1: of the beginning, 2 and 3: put by the writers */
#define GENERATIONS 3

/* What is at the end of a file. */
#define INDEX 0 /* of its last generation, complete */
#define ZEROS 1
#define COPY 2 /* of the index of the generation before */
#define HALF 3 /* an index that is half written */

byte stored = 1;       /* the file of that name, or 0 */
byte generation[FILES]; /* the last one */
byte tail[FILES];
byte unit[24];         /* the inner chunks that a generation's index leads to */
byte locked;           /* 1 and the number of the writer */

/* The journal, or 0: 1 and the number of the inner chunk that it is about; the content before. */
byte journal, old_generation, old_unit;
bit is_in_place;
bit has_failed; /* one call fails, as on a full disk */

#define UNIT(f, g, u) unit[6 * (f) + 2 * (g) + (u)]
#define LAST(f, u) UNIT(f, generation[f], u)

inline no_journal() {
    journal = 0; old_generation = 0; old_unit = 0; is_in_place = 0
}

inline end() {
    if
    :: locked == me + 1 -> locked = 0
    :: else
    fi;
    f = 0; first = 0; second = 0;
    ended[me] = 1
}

/* ---- A writer ---- */

/* core/src/write/journal.c: zb__journal_replay, core/src/write/journal.c: undo */
inline replay() {
    d_step {
        if
        :: journal && stored && is_in_place -> /* core/src/write/journal.c: undo_in_place */
            if
#ifndef NO_COMPARISON_WITH_JOURNALS
            :: LAST(stored, journal - 1) != TORN
#endif
            :: LAST(stored, journal - 1) == TORN -> LAST(stored, journal - 1) = old_unit
#ifdef NO_COMPARISON_WITH_JOURNALS
            :: else -> LAST(stored, journal - 1) = old_unit
#endif
            fi
        :: journal && stored && !is_in_place -> /* core/src/write/journal.c: undo_append */
            if
#ifdef NO_COMPARISON_WITH_JOURNALS
            :: generation[stored] == old_generation + 1 ->
#else
            :: generation[stored] == old_generation + 1 && tail[stored] != INDEX ->
#endif
                LAST(stored, 0) = 0; LAST(stored, 1) = 0;
                generation[stored] = old_generation; tail[stored] = INDEX
            :: else
            fi
        :: else
        fi
    }
    d_step { no_journal() } /* core/src/write/journal.c: zb__journal_erase */
}

inline fill_in() {
    if
    :: IS_WHOLE(kind[me]) -> first = VALUE(me); second = VALUE(me)
    :: else ->
        if
        :: me == 0 -> first = VALUE(me)
        :: else -> second = VALUE(me)
        fi
    fi
}

inline write_file() {
    UNIT(2 + me, 0, 0) = first; UNIT(2 + me, 0, 1) = second
}

proctype writer(byte me) {
    byte f, first, second;
    {
        atomic {
            later[me] = ended[1 - me];
            if
            :: kind[me] == WAITS -> fill_in(); write_file() /* core/src/store/fs_flush.c: zb__fs_wait */
            :: else
            fi
        }
        if
#ifdef NO_LOCK_OF_FLUSHES
        :: kind[me] == WAITS
#endif
#ifdef NO_LOCKS
        :: true
#endif
        /* core/src/write/put_chunk.c: lock_in_place, core/src/store/fs_flush.c: publish,
           core/src/store/fs_flush.c: zb__fs_flush */
        :: atomic { !locked -> locked = me + 1 }
        fi;
        if
        :: IS_WHOLE(kind[me]) -> goto put
        :: else
        fi;
#ifndef NO_REPLAY
        if
        :: journal -> replay()
        :: else
        fi;
#endif
        if
        :: kind[me] == LIVE && stored -> goto change /* core/src/write/live.c: zb__live_begin */
        :: else
        fi;
        d_step { /* core/src/write/reused_inner.c: zb__reused_inner_read, core/src/read/expand.c: open_fresh,
                    core/src/write/compact.c: compact_shard, core/src/write/live.c: begin_sharing */
            if
            :: stored && tail[stored] == INDEX -> first = LAST(stored, 0); second = LAST(stored, 1)
            :: stored && tail[stored] == COPY ->
                first = UNIT(stored, generation[stored] - 1, 0);
                second = UNIT(stored, generation[stored] - 1, 1)
            :: stored && (tail[stored] == ZEROS || tail[stored] == HALF) -> f = 1 /* an error */
            :: !stored -> first = FILL; second = FILL
            fi
        }
        if
        :: f -> goto refused
        :: else
        fi;
put:
        atomic { fill_in() }
        if
        :: kind[me] == WAITS -> stored = 2 + me /* core/src/store/fs_flush.c: move_in */
        :: kind[me] != WAITS && first == FILL && second == FILL ->
            stored = 0 /* core/src/write/put_chunk.c: zb__chunk_erase, core/src/store/fs_remove.c: zb__fs_erase */
        :: else -> /* core/src/write/put_chunk.c: zb__chunk_put, core/src/write/shared_blocks.c: put,
                      core/src/store/fs_write.c: zb__fs_put */
#ifdef NO_TEMPORARY_FILES
            if
            :: stored ->
                LAST(stored, 0) = TORN;
                d_step { LAST(stored, 0) = first; LAST(stored, 1) = second }
            :: else -> d_step { write_file(); stored = 2 + me }
            fi
#else
            d_step { write_file(); stored = 2 + me } /* core/src/store/fs_write.c: replace */
#endif
        fi;
        if
        :: FIXED && journal -> d_step { no_journal() }
        :: else
        fi;
        goto done;
change:
        atomic { /* core/src/write/journal.c: zb__journal_put */
            f = stored;
#ifndef NO_JOURNALS
            journal = me + 1; is_in_place = FIXED;
            old_generation = generation[f]; old_unit = LAST(f, me)
#endif
        }
        if
        :: FIXED -> /* core/src/write/live.c: overwrite, core/src/store/fs_write.c: zb__fs_change */
            LAST(f, me) = TORN;
            if
            :: !has_failed -> has_failed = 1; goto undo
            :: true
            fi;
            LAST(f, me) = VALUE(me)
        :: else -> /* core/src/write/live.c: extend, core/src/store/fs_write.c: zb__fs_change */
            d_step { generation[f] = generation[f] + 1; tail[f] = ZEROS }
            if
            :: !has_failed -> has_failed = 1; goto undo
            :: true
            fi;
            d_step {
                first = UNIT(f, generation[f] - 1, 0); second = UNIT(f, generation[f] - 1, 1);
                fill_in();
                LAST(f, 0) = first; LAST(f, 1) = second;
                tail[f] = COPY
            }
            tail[f] = HALF; /* core/src/write/live.c: append */
            tail[f] = INDEX
        fi;
        d_step { no_journal() }
done:
        acked[me] = 1;
        goto refused;
undo:
#ifndef NO_UNDOING_OF_FAILURES
        replay(); /* or, in place, core/src/write/journal.c: zb__journal_restore */
#else
        atomic { no_journal() }
#endif
refused:
        atomic { end() }
    } unless {
        atomic { killed == me + 1; killed = 0; end() }
    }
}

/* ---- A reader ---- */

/* What was read has happened, and does not go again. */
inline note(u, v) {
    if
    :: v == NEW1 -> acked[0] = 1
    :: v == NEW2 -> acked[1] = 1
    :: else
    fi;
    assert(may_be_read(u, v))
}

/* A checksum tells of an inner chunk that is half overwritten
   (core/src/read/leaf.c: decode). */
inline read_unit(u) {
    atomic {
        if
        :: !f || UNIT(f, g, u) == TORN -> goto over
        :: else -> note(u, UNIT(f, g, u))
        fi
    }
}

proctype reader() {
    byte f, g;
    d_step { /* core/src/store/fs.c: fs_open */
        was_acked[0] = acked[0]; was_acked[1] = acked[1];
        f = stored; g = generation[f]
    }
    if
    :: !f -> d_step { note(0, FILL); note(1, FILL) }; goto over
    :: else
    fi;
    d_step { /* core/src/read/index.c: zb__index_load */
        if
        :: g < generation[f] || (g == generation[f] && tail[f] == INDEX)
        :: g == generation[f] && tail[f] == COPY -> g = g - 1
        :: else -> f = 0 /* an error: it is read again (core/src/read/retry.c: zb__retry_pays) */
        fi
    }
    read_unit(0);
    read_unit(1);
over:
    atomic { was_acked[0] = 0; was_acked[1] = 0; f = 0; g = 0 }
}

/* Of a writer that has ended it makes no difference. */
proctype killer() {
    if
    :: atomic { !ended[0] -> killed = 1 }
    :: atomic { !ended[1] -> killed = 2 }
    :: ended[0] && ended[1]
    fi
}

init {
    byte k;
    d_step { UNIT(1, 0, 0) = OLD; UNIT(1, 0, 1) = OLD }
    select(k : PART .. (FIXED -> LIVE : WAITS));
    kind[0] = k;
    select(k : k .. (FIXED -> LIVE : WAITS)); /* both do the same things: the other half is the same again */
    kind[1] = k;
    k = 0;
    atomic { run writer(0); run writer(1); run reader(); run killer() }
    _nr_pr == 1;
    if
    :: journal -> replay() /* core/src/check/repair.c: on_journal */
    :: else
    fi;
    assert(!stored || tail[stored] == INDEX);
    assert(may_stay(0, (stored -> LAST(stored, 0) : FILL)));
    assert(may_stay(1, (stored -> LAST(stored, 1) : FILL)))
}
