/* SPDX-License-Identifier: MIT */
/*
 * One array of a directory store whose length changes: two who append an element each, or write one
 * by a handle that may be stale; one who makes it shorter, and longer again; and a reader. Chunks
 * hold two elements. Locks are one step (lock.pml), and so is a put (shard.pml).
 *
 * Promises:
 *   - what was appended or written, and acknowledged, is there until it is cut off or written anew
 *   - no two appended elements get one place; one of a killed appender reads as fill
 *   - elements that were cut off, and those that other programs have left beyond the edge, never
 *     come into the array
 *   - a killed change leaves the old array or the new one
 */
#define FILL 0
#define OLD 1
#define BEYOND 2 /* left beyond the edge by another program, which shrinks without refilling */
#define VALUE(me) (3 + (me))

#define LONGEST 6
#define CUT_TO 2

byte element[LONGEST];
byte start = 3;       /* the length at the beginning, which the writers know */
byte length;          /* as the document tells */
byte note;            /* the length from which an array is being cut */
byte locked[3];       /* chunks: 1 and the number of the holder */
byte turn;            /* the hierarchy's lock, likewise */
byte shortest;        /* the least length so far */
byte place[2];        /* of what each appends or writes */
bit acked[2], ended[2], is_cut[2]; /* cut: of another's array since it was placed */
bit appends[2];
byte killed;

#define CHUNK(i) ((i) / 2)
#define INSIDE(c, l) ((l) <= 2 * (c) -> 0 : ((l) == 2 * (c) + 1 -> 1 : 2))

/* Whoever is killed lets go of all locks. */
inline end(number) {
    i = 0;
    do
    :: i < 3 ->
        if
        :: locked[i] == number -> locked[i] = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0;
    if
    :: turn == number -> turn = 0
    :: else
    fi
}

inline lock_chunk(k, who) { /* core/src/write/put_chunk.c: zb__chunk_lock */
    atomic { !locked[k] -> locked[k] = who }
}

inline await(c) { /* core/src/change/beyond.c: await_writers */
#ifndef NO_WAIT_FOR_LOCKS
    !locked[c]
#else
    skip
#endif
}

/* A part of a chunk is filled, under its lock, by a writer that asks no document. */
inline refill(e, holder) { /* core/src/change/beyond.c: refill */
    lock_chunk(CHUNK(e), holder);
    element[e] = FILL;
    locked[CHUNK(e)] = 0
}

/* What was cut off goes: core/src/change/beyond.c: zb__beyond_clear */
inline clear_cut() {
    await(1);
    d_step { /* whole chunks: core/src/change/beyond.c: clear_chunk, core/src/change/beyond.c: ask_for */
        element[2] = FILL; element[3] = FILL
    };
    await(2);
    d_step { element[4] = FILL; element[5] = FILL }
}

/* core/src/change/resize.c: finish */
inline finish_cut() {
    if
    :: note && length <= CUT_TO -> clear_cut()
    :: else
    fi;
    note = 0
}

#ifdef GROWTH_IS_TOLD_FIRST
#define NEXT (length - 1)
#else
#define NEXT length
#endif

/* To one element more. */
inline grow(number) { /* core/src/change/resize.c: resize */
    finish_cut();
#ifdef GROWTH_IS_TOLD_FIRST
    length++;
#endif
#ifndef NO_LOOK_BEYOND
    if
    :: element[NEXT] != FILL -> refill(NEXT, number) /* core/src/change/beyond.c: look */
    :: else
    fi;
#endif
#ifndef GROWTH_IS_TOLD_FIRST
    length++
#endif
}
/* core/src/write/allowed.c: check, core/src/write/allowed.c: compare */
inline check_shape(k, l) {
#ifndef NO_CHECK_OF_SHAPES
    if
    :: INSIDE(k, length) == INSIDE(k, l)
    :: else -> goto refused
    fi
#else
    skip
#endif
}

/* An element of a chunk, of which the other one comes from the store, or is fill beyond the edge. */
inline write_element(at, shape) {
#ifdef CHECK_BEFORE_LOCK
    atomic { check_shape(CHUNK(at), shape) }
    lock_chunk(CHUNK(at), me + 1);
#else
    lock_chunk(CHUNK(at), me + 1);
    atomic { check_shape(CHUNK(at), shape) }
#endif
    other = (at % 2 -> at - 1 : at + 1);
    read = (other < shape -> element[other] : FILL); /* core/src/write/reused_inner.c: zb__reused_inner_read */
#ifndef CHECK_BEFORE_LOCK
    atomic { check_shape(CHUNK(at), shape) }
#endif
    d_step { /* core/src/store/fs_write.c: replace */
        element[at] = VALUE(me); element[other] = read;
        other = 0; read = 0
    };
    atomic { acked[me] = 1; locked[CHUNK(at)] = 0 }
}

proctype writer(byte me) {
    byte i, known, other, read;
    {
        known = start;
        if
        :: !appends[me] -> atomic { place[me] = 2 }; write_element(2, known)
        :: else ->
#ifndef NO_TURN
            atomic { !turn -> turn = me + 1 } /* core/src/hierarchy/lock_scope.c: zb_lock_scope_begin */
#endif
            known = length; /* core/src/change/append.c: look */
            grow(me + 1); /* core/src/change/append.c: reserve */
            atomic { place[me] = known; is_cut[me] = 0 }
            write_element(place[me], known + 1) /* core/src/change/append.c: fill_one */
        fi;
refused:
        atomic { end(me + 1); known = 0; other = 0; read = 0; ended[me] = 1 }
    } unless {
        atomic { killed == me + 1; killed = 0; end(me + 1); known = 0; other = 0; read = 0; ended[me] = 1 }
    }
}

inline tell_cut() { /* core/src/change/change.c: zb__change_put */
    length = CUT_TO; shortest = CUT_TO;
    is_cut[0] = is_cut[0] || place[0] >= CUT_TO; is_cut[1] = is_cut[1] || place[1] >= CUT_TO
}

proctype resizer() {
    byte i;
    {
        atomic { !turn -> turn = 3 } /* core/src/hierarchy/lock_scope.c: zb__hierarchy_lock */
        finish_cut();
        note = length; /* core/src/change/resize.c: marker_put */
#ifdef CUT_IS_TOLD_LAST
        clear_cut();
        d_step { tell_cut() }
#else
        d_step { tell_cut() }
        clear_cut();
#endif
        note = 0;
        grow(3);
        grow(3);
        turn = 0
    } unless {
        atomic { killed == 3; killed = 0; end(3) }
    }
}

/* What may be at a place inside the array. told: what was acknowledged then. */
inline check(e, lowest, told0, told1) {
    assert(element[e] != BEYOND);
    assert(element[e] != OLD || (e < lowest && e < start));
    assert(element[e] != FILL || e >= start || e >= shortest);
    assert(!told0 || is_cut[0] || place[0] != e || element[e] == VALUE(0) ||
           (element[e] == VALUE(1) && place[1] == e && !(appends[0] && appends[1])));
    assert(!told1 || is_cut[1] || place[1] != e || element[e] == VALUE(1) ||
           (element[e] == VALUE(0) && place[0] == e && !(appends[0] && appends[1])))
}

proctype reader() {
    byte i, known, least;
    bit told[2];
    d_step { known = length; least = shortest; told[0] = acked[0]; told[1] = acked[1] }
    select(i : 2 .. 4);
    atomic {
        if
        :: i < known && i < length -> check(i, least, told[0], told[1])
        :: else
        fi;
        i = 0; known = 0; least = 0; told[0] = 0; told[1] = 0
    }
}

proctype killer() {
    if
    :: atomic { !ended[0] -> killed = 1 }
    :: atomic { !ended[1] -> killed = 2 }
    :: killed = 3
    :: skip
    fi
}

init {
    byte i;
    if
    :: element[3] = BEYOND
    :: start = 4; element[3] = OLD
    fi;
    d_step {
        element[0] = OLD; element[1] = OLD; element[2] = OLD; length = start; shortest = start
    }
    if
    :: appends[0] = 1; appends[1] = 1
    :: appends[0] = 1
    :: skip
    fi;
    atomic { run writer(0); run writer(1); run resizer(); run reader(); run killer() }
    _nr_pr == 1;
    finish_cut(); /* the next change of its shape */
    do
    :: i < length -> check(i, shortest, acked[0], acked[1]); i++
    :: else -> break
    od
}
