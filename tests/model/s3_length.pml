/* SPDX-License-Identifier: MIT */
/*
 * An array in S3 whose length changes, or which is deleted and made anew, while others write.
 *
 * Its length is 1 or 3; 0: there is none. Two elements are in one chunk, which the edge of length 1
 * cuts; the third one is in a chunk of its own, which lies beyond that edge. One process shortens or
 * deletes the array. Two make it longer, or anew, and write: one a part of the chunk on the edge,
 * one the other chunk. A writer that knows length 1 writes the chunk on the edge as a whole. The one
 * that shortens or deletes may be killed between any two steps.
 *
 * Promises:
 *   - what was acknowledged is there until the array is shortened or deleted
 *   - what a shorter array has lost does not come back
 *
 * An ETag is that of the content. The look at the document and the put of a whole chunk that no edge
 * cuts are one step: README.md.
 */
#define FILL 0
#define OLD 1
#define STALE 2 /* beyond the edge: another library has left it */
#define WHOLE 3 /* of the writer on the edge */
#define PART 4
#define OTHER 5

byte length;
bit edge_stored, other_stored;
byte edge[2], other;

bit acked_whole, acked_part, acked_other;
bit was_cut; /* what lay beyond the edge at first must not be seen any more */
bit may_kill = 1;

/* What was seen of each chunk, and what its DELETE or put depends on. */
typedef sight { bit is_stored; byte first, second }

#define SEE_EDGE atomic { saw.is_stored = edge_stored; saw.first = edge[0]; saw.second = edge[1] }
#define SEE_OTHER atomic { saw.is_stored = other_stored; saw.first = other; saw.second = FILL }
#define FITS_EDGE                                                                                  \
    (saw.is_stored == edge_stored &&                                                               \
     (!edge_stored || (saw.first == edge[0] && saw.second == edge[1])))
#define FITS_OTHER (saw.is_stored == other_stored && (!other_stored || saw.first == other))

/* core/net/conditional.c: zb__conditional_stands */
#ifdef NO_LOOK_BEFORE_DELETE
#define LOOK_BEFORE_DELETE(known) true
#else
#define LOOK_BEFORE_DELETE(known) (length == known)
#endif
#ifdef NO_LOOK_BEFORE_REFILL
#define LOOK_BEFORE_REFILL(known) true
#else
#define LOOK_BEFORE_REFILL(known) (length == known)
#endif
#ifdef NO_CONDITION_OF_DELETE
#define MAY_DELETE(fits) true
#else
#define MAY_DELETE(fits) (fits)
#endif
#ifdef NO_CONDITION_AT_EDGE
#define MAY_PUT_WHOLE(fits) true
#else
#define MAY_PUT_WHOLE(fits) (fits)
#endif

/* core/src/change/remove.c: zb__chunks_erase, core/net/conditional_erase.c: erase_batch,
   core/net/conditional_erase.c: erase_again; core/src/change/beyond.c: erase_as_asked */
inline erase_other(known) {
    do
    :: SEE_OTHER;
       if
       :: LOOK_BEFORE_DELETE(known)
       :: else -> goto overtaken
       fi;
       atomic {
           if
           :: MAY_DELETE(FITS_OTHER) -> other_stored = 0; other = FILL; break
           :: else
           fi
       }
    od
}

inline erase_edge(known) {
    do
    :: SEE_EDGE;
       if
       :: LOOK_BEFORE_DELETE(known)
       :: else -> goto overtaken
       fi;
       atomic {
           if
           :: MAY_DELETE(FITS_EDGE) -> edge_stored = 0; edge[0] = FILL; edge[1] = FILL; break
           :: else
           fi
       }
    od
}

/* core/src/change/beyond.c: cut_chunk, core/src/write/writer.c: check_document */
inline refill_edge(known) {
    do
    :: SEE_EDGE;
       if
       :: !saw.is_stored || saw.second == FILL -> break
       :: else
       fi;
       if
       :: LOOK_BEFORE_REFILL(known)
       :: else -> goto overtaken
       fi;
       atomic {
           if
           :: FITS_EDGE -> edge[1] = FILL; break
           :: else
           fi
       }
    od
}

/* A writer that has opened the array at length 1. */
proctype whole_writer() {
    sight saw; /* at first none is expected: core/src/write/encode_chunks.c: put_on_edge */
    do
    :: if
       :: length == 1 /* core/src/write/allowed.c: check */
       :: else -> break
       fi;
       atomic {
           if
           :: MAY_PUT_WHOLE(FITS_EDGE) ->
               edge_stored = 1; edge[0] = WHOLE; edge[1] = FILL;
               acked_whole = (length > 0);
               break
           :: else
           fi
       }
       SEE_EDGE /* core/src/write/put_chunk.c: zb__chunk_see */
    od
}

/* Makes the array longer, or anew, if it has to; then writes. */
proctype grower(bit writes_part) {
    sight saw;
    byte known;
    known = length;
    if
    :: known == 3
    :: known == 1 -> /* core/src/change/resize.c: resize */
        erase_other(1);
        refill_edge(1)
    :: known == 0 -> /* core/src/change/create.c: zb__array_clear_place */
        erase_other(0);
        erase_edge(0)
    fi;
    atomic {
        if
        :: length == known -> length = 3
        :: else -> goto overtaken
        fi
    }
    if
    :: writes_part ->
        do
        :: SEE_EDGE;
           if
           :: length == 3
           :: else -> goto overtaken
           fi;
           atomic {
               if
               :: FITS_EDGE ->
                   edge_stored = 1; edge[1] = PART;
                   acked_part = (length == 3);
                   break
               :: else
               fi
           }
        od
    :: else ->
        atomic {
            if
            :: length == 3 -> other_stored = 1; other = OTHER; acked_other = 1
            :: else
            fi
        }
    fi;
overtaken:
    skip
}

proctype cutter() {
    sight saw;
    byte known;
    {
        known = length;
        if
        :: known == 3 -> /* core/src/change/resize.c: resize */
            atomic {
                if
                :: length == known ->
                    length = 1; was_cut = 1; acked_part = 0; acked_other = 0
                :: else -> goto overtaken
                fi
            }
            erase_other(1);
            refill_edge(1)
        :: known > 0 -> /* core/net/conditional_erase.c: erase_below */
            atomic {
                if
                :: length == known ->
                    length = 0; was_cut = 1; acked_whole = 0; acked_part = 0; acked_other = 0
                :: else -> goto overtaken
                fi
            }
            erase_other(0);
            erase_edge(0)
        :: else
        fi;
overtaken:
        skip
    } unless {
        !may_kill
    };
    skip
}

proctype killer() {
    may_kill = 0
}

init {
    if
    :: d_step { length = 1; edge_stored = 1; edge[0] = OLD }
    :: d_step { length = 1; edge_stored = 1; edge[0] = OLD; edge[1] = STALE; other_stored = 1; other = STALE; was_cut = 1 }
    :: d_step { length = 3; edge_stored = 1; edge[0] = OLD; edge[1] = OLD; other_stored = 1; other = OLD }
    fi;
    atomic {
        run grower(1); run grower(0); run cutter(); run killer();
        if
        :: length == 1 -> run whole_writer()
        :: true
        fi
    }
    _nr_pr == 1;
    assert(!acked_whole || edge[0] == WHOLE);
    assert(!acked_part || edge[1] == PART);
    assert(!acked_other || (other_stored && other == OTHER));
    assert(length != 3 || !was_cut || edge[1] == FILL || edge[1] == PART);
    assert(length != 3 || !was_cut || !other_stored || other == OTHER)
}
