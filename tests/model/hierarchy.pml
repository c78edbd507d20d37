/* SPDX-License-Identifier: MIT */
/*
 * Moves, deletions and new arrays beside two writers and a reader of one array: directory store.
 *
 * A home is the directory of an array, told apart from all others by its identity. A path leads to
 * one home or to none, and the mover changes that: CHANGES times, by one system call each. Locks
 * and strategies are told in full by shard.pml; here a lock is one step, and a change in place is
 * begun, done or undone.
 *
 * Promises, for the array whose home is OURS:
 *   - what was acknowledged is there until another write replaces it
 *   - no element of a writer comes into another array, and a reader gets none of another array
 *   - what a kill has left half done is undone by the journal in the array's own home
 *
 * What a writer does through a directory that it has opened in the array's home, and that no other
 * process can see before the lock is let go, is one step with opening it.
 */
#include "promises.pml"

#ifndef CHANGES
#define CHANGES 2
#endif

/* ---- The store ---- */

#define NONE 0 /* homes */
#define OURS 1
#define OTHER 2 /* an array of the same form */
#define NEW 3   /* likewise, made at our path */

#define U 0 /* paths: of the array that all have opened, */
#define V 1 /* to move it away, */
#define W 2 /* of the other array */

byte at[3];      /* the home at each path */
byte unit[8];    /* two inner chunks of the shard in each home */
bit stored[4];   /* there is a shard in the home */
byte locked[4];  /* the holder of the shard's lock, or 0 */
byte journal[4]; /* 0, or 1 and the number of the inner chunk that it brings back, */
byte old[4];     /* to this value */

/* Two arrays that change places twice while a chunk is read: the one gap that is known (README.md).
   It would be closed by READS_IN_HOME. */
#ifndef EXCHANGES_WHILE_READING
#define EXCHANGES_WHILE_READING 0
#endif
bit reading;

#define UNIT(home, u) unit[2 * (home) + (u)]

/* ---- Steps of writers ---- */

/* A directory of the array's home, or a refusal. */
inline open_place_in(place) { /* core/src/store/fs_place.c: zb__fs_open_place_in */
    if
    :: at[U] == OURS -> place = OURS
    :: else -> goto refused
    fi
}

/* Whatever directory the path leads to: how all was done before. */
inline open_place(place) { /* core/src/store/fs_place.c: zb__fs_open_place */
    if
    :: at[U] != NONE -> place = at[U]
    :: else -> goto refused
    fi
}

#ifdef NO_HOME_OF_PUTS
#define open_for_put(place) open_place(place)
#else
#define open_for_put(place) open_place_in(place)
#endif
#ifdef NO_HOME_OF_LIVE_OBJECTS
#define open_for_change(place) open_place(place)
#else
#define open_for_change(place) open_place_in(place)
#endif
#ifdef NO_HOME_OF_JOURNALS
#define open_for_journal(place) open_place(place)
#else
#define open_for_journal(place) open_place_in(place)
#endif

/* By the document at the path. */
inline check_document() { /* core/src/write/allowed.c: check */
    if
    :: at[U] == OURS
    :: else -> goto refused
    fi
}

/* Unless the directory is still where it was, the write is not told as done. */
inline check_place(place) { /* core/src/store/fs_place.c: zb__fs_check_place */
    if
    :: at[U] == place -> acked[me] = 1
    :: else -> goto refused
    fi
}

inline undo(home) { /* core/src/write/journal.c: undo */
    if
    :: journal[home] && UNIT(home, journal[home] - 1) == TORN ->
        UNIT(home, journal[home] - 1) = old[home]
    :: else
    fi;
    journal[home] = 0; old[home] = 0
}

inline read_shard(home) {
    first = (stored[home] -> UNIT(home, 0) : FILL);
    second = (stored[home] -> UNIT(home, 1) : FILL)
}

inline put_part() {
    if
    :: me == 0 -> first = VALUE(me)
    :: else -> second = VALUE(me)
    fi
}

inline let_go() { /* core/src/store/fs_lock.c: zb__fs_unlock */
    if
    :: held -> locked[held] = 0
    :: else
    fi;
    place = 0; held = 0; live = 0; first = 0; second = 0;
    ended[me] = 1
}

/* ---- A writer ---- */

proctype writer(byte me) {
    byte place, held, live, first, second;
    {
        atomic { later[me] = ended[1 - me]; open_place_in(place) }
        if
        :: kind[me] == WAITS -> /* in a temporary file till now: core/src/store/fs_flush.c: zb__fs_wait */
            atomic { open_place_in(place) }
        :: else
        fi;
        atomic { /* core/src/write/put_chunk.c: lock_in_place */
            !locked[place] -> locked[place] = me + 1; held = place
        }
        if
        :: IS_WHOLE(kind[me]) -> d_step { first = VALUE(me); second = VALUE(me) }
        :: else ->
            atomic { open_place_in(place); undo(place) } /* core/src/write/journal.c: zb__journal_replay */
            if
            :: kind[me] == LIVE ->
                atomic { /* core/src/store/fs_write.c: zb__fs_open_live */
                    open_for_change(live);
                    if
                    :: stored[live] -> goto change
                    :: else
                    fi
                }
            :: else
            fi;
            atomic { /* core/src/write/reused_inner.c: zb__reused_inner_read */
#ifdef NO_HOME_OF_MISSING_SHARDS
                read_shard(at[U]); /* "not found" was taken for "no shard stored" */
#else
                open_place_in(place); /* core/src/store/fs.c: fs_open */
                read_shard(place);
#endif
                put_part()
            }
        fi;
        if
        :: first == FILL && second == FILL -> /* core/src/store/fs_remove.c: zb__fs_erase */
#ifdef NO_HOME_OF_ERASED_CHUNKS
            atomic { check_document() }
            atomic { open_place(place); stored[place] = 0 }
#else
            atomic { open_place_in(place) }
            atomic { check_document() }
            stored[place] = 0; /* core/src/store/fs_remove.c: unlink_object */
#endif
        :: else -> /* core/src/store/fs_write.c: zb__fs_put, core/src/store/fs_flush.c: publish */
            atomic { open_for_put(place) } /* core/src/store/fs_write.c: begin */
            atomic { check_document() }
            d_step { /* core/src/store/fs_write.c: replace, core/src/store/fs_flush.c: move_in */
                UNIT(place, 0) = first; UNIT(place, 1) = second; stored[place] = 1
            }
        fi;
        atomic { check_place(place); goto refused }
change:
        atomic { /* core/src/write/journal.c: zb__journal_put */
            open_for_journal(place);
            journal[place] = me + 1; old[place] = UNIT(live, me)
        }
        UNIT(live, me) = TORN; /* core/src/write/live.c: append, core/src/write/live.c: overwrite */
        UNIT(live, me) = VALUE(me);
        atomic { /* core/src/write/journal.c: zb__journal_erase */
            open_for_journal(place);
            journal[place] = 0; old[place] = 0; acked[me] = 1
        }
refused:
        atomic { let_go() }
    } unless {
        atomic { killed == me + 1; killed = 0; let_go() } /* the system lets go of its lock */
    }
}

/* ---- A reader ---- */

proctype reader() {
    byte home, first, second;
    d_step { /* core/src/read/expand.c: zb__stored_chunk_open */
        was_acked[0] = acked[0]; was_acked[1] = acked[1]; reading = 1;
#ifdef READS_IN_HOME
        home = (at[U] == OURS -> OURS : NONE);
#else
        home = at[U];
#endif
        home = (stored[home] -> home : NONE);
        read_shard(home)
    }
    if
    :: home == NONE ->
#ifndef NO_SECOND_LOOK_FOR_MISSING_CHUNKS
        atomic { /* core/src/read/retry.c: doubt, core/src/read/retry.c: lacks,
            core/src/store/fs_object.c: zb__fs_probe */
            if
            :: at[U] == OURS && !stored[OURS]
            :: else -> goto refused
            fi
        }
#endif
    :: else
    fi;
#ifndef NO_LOOK_AFTER_READING
    atomic { /* core/src/node/current.c: zb_array_still */
        if
        :: at[U] == OURS
        :: else -> goto refused
        fi
    }
#endif
    assert(first == TORN || may_be_read(0, first)); /* a torn one is an error */
    assert(second == TORN || may_be_read(1, second));
refused:
    atomic { reading = 0; was_acked[0] = 0; was_acked[1] = 0; home = 0; first = 0; second = 0 }
}

/* ---- Whoever changes where arrays are, under the hierarchy's lock ---- */

proctype mover() {
    byte n, other;
    do
    :: n < CHANGES ->
        atomic {
            n++;
            if
#ifndef NO_MOVE_IN_ONE_STEP
            :: at[U] && !at[V] -> /* core/src/change/copy.c: rename_nodes,
                core/src/store/fs_remove.c: zb__fs_rename, core/src/store/fs_remove.c: rename_directory */
                at[V] = at[U]; at[U] = NONE
            :: at[U] && at[W] && (EXCHANGES_WHILE_READING || !reading) ->
                other = at[U]; at[U] = at[W]; at[W] = other
            :: at[V] && !at[U] -> at[U] = at[V]; at[V] = NONE
            :: at[U] -> at[U] = NONE /* core/src/change/remove.c: zb__node_erase_found,
                core/src/store/fs_remove.c: zb__fs_erase, core/src/store/fs_trash.c: zb__fs_trash */
            :: !at[U] && !stored[NEW] -> /* core/src/change/create.c: put */
                at[U] = NEW; stored[NEW] = 1; UNIT(NEW, 0) = THEIRS; UNIT(NEW, 1) = THEIRS
#else
            :: at[U] && !at[V] -> /* the copy first, and then the source goes */
                stored[NEW] = stored[OURS]; UNIT(NEW, 0) = UNIT(OURS, 0);
                UNIT(NEW, 1) = UNIT(OURS, 1); at[V] = NEW
            :: at[U] && at[V] -> at[U] = NONE
#endif
            :: else
            fi
        }
    :: else -> break
    od
}

/* Of a writer that has ended it makes no difference. */
proctype killer() {
    if
    :: atomic { !ended[0] -> killed = 1 }
    :: atomic { !ended[1] -> killed = 2 }
    :: ended[0] && ended[1]
    fi
}

#define KEEPS(home) (stored[home] && UNIT(home, 0) == THEIRS && UNIT(home, 1) == THEIRS)

init {
    byte k, home = OURS, first, second;
    d_step {
        at[U] = OURS; stored[OURS] = 1; UNIT(OURS, 0) = OLD; UNIT(OURS, 1) = OLD;
        at[W] = OTHER; stored[OTHER] = 1; UNIT(OTHER, 0) = THEIRS; UNIT(OTHER, 1) = THEIRS
    }
    select(k : PART .. WAITS);
    kind[0] = k;
    select(k : k .. WAITS); /* both do the same things: the other half is the same again */
    kind[1] = k;
    atomic { run writer(0); run writer(1); run reader(); run mover(); run killer() }
    _nr_pr == 1;
#ifdef NO_MOVE_IN_ONE_STEP
    home = NEW;
#endif
    d_step { undo(home); read_shard(home) } /* core/src/check/repair.c: on_journal */
    assert(may_stay(0, first) && may_stay(1, second));
    assert(KEEPS(OTHER) && (home == NEW || !stored[NEW] || KEEPS(NEW)))
}
