/* SPDX-License-Identifier: MIT */
/*
 * Two writers, a reader and a deletion of one shard, or one document, of a store in S3.
 *
 * There are no locks between programs. What was read is replaced on the condition that it is still
 * there (If-Match; If-None-Match where nothing was). Some services keep to that of a DELETE, too. A request or its reply may get lost, LOSSES
 * times; then it is sent again, by our code or by libcurl alone. One process may be killed between
 * any two steps.
 *
 * Promises:
 *   - what was acknowledged is there until another write replaces it, or the array is deleted
 *   - a writer is refused only if another one has changed the object
 *   - a deletion that is killed leaves no array that has lost a chunk
 *
 * An ETag is that of the content: an object that is as before again has the ETag of before.
 */
#include "promises.pml"

#ifndef LOSSES
#define LOSSES 1
#endif
#ifdef ERASES_AS_SEEN /* the service keeps to conditions of DELETE: core/net/s3_ability.c: zb__s3_erases_as_seen */
#define erases_as_seen 1
#else
#define erases_as_seen 0
#endif
#define DOCUMENT 7 /* a kind of write: as PART, but it is tried once */
#define MOST_TRIES 2

bit stored;
byte unit[2];
byte mark;       /* 1 and the number of the writer that put it last: x-amz-meta-zb-write */
bit has_document = 1;
bit changed[2];  /* the writer has changed the object */
bit has_gone;    /* the deleter */
byte losses;

/* What each writer has read, with the condition that comes of it, and what it puts. */
typedef sight { bit is_absent; byte first, second }
sight seen[2];

#define FITS(me)                                                                                   \
    (seen[me].is_absent == !stored &&                                                              \
     (!stored || (seen[me].first == unit[0] && seen[me].second == unit[1])))

/* The service carries out a PUT, or a DELETE. That nothing is there is as good as a success. */
inline carry_out(me) {
    if
    :: (!deletes || (erases_as_seen && stored)) && conditional && !FITS(me) -> failed = 1
    :: else ->
        failed = 0;
        stored = !deletes; unit[0] = (deletes -> FILL : first); unit[1] = (deletes -> FILL : second);
        mark = (conditional -> me + 1 : 0);
        changed[me] = 1
    fi
}

/* One request, until there is a reply. */
inline send(me) { /* core/net/conditional_put.c: zb__conditional_send_whole, core/net/conditional_erase.c: erase_one */
    do
    :: atomic { carry_out(me); break }
    :: atomic { losses < LOSSES -> losses++; in_doubt = 1; carry_out(me) } /* the reply is lost */
    :: atomic { losses < LOSSES -> losses++; in_doubt = 1 } /* the request is lost */
    od
}

proctype writer(byte me) {
    byte first, second, tries;
    bit conditional, deletes, failed, in_doubt;
    {
        later[me] = ended[1 - me];
again:
        atomic {
            tries++; in_doubt = 0;
            if
            :: !IS_WHOLE(kind[me]) ->
                /* core/src/write/reused_inner.c: zb__reused_inner_read, core/net/conditional.c: zb__conditional_answered */
                seen[me].is_absent = !stored;
                seen[me].first = unit[0]; seen[me].second = unit[1];
                first = unit[0]; second = unit[1];
                if
                :: me == 0 -> first = VALUE(me)
                :: else -> second = VALUE(me)
                fi;
#ifndef NO_CONDITIONS
                conditional = 1 /* core/net/conditional.c: zb__conditional_seen */
#endif
            :: else -> first = VALUE(me); second = VALUE(me)
            fi
        }
        atomic { /* core/src/write/allowed.c: check */
            if
            :: has_document
            :: else -> goto refused
            fi;
            deletes = (first == FILL && second == FILL);
            if
            :: deletes && conditional && seen[me].is_absent -> goto done /* core/net/conditional_erase.c: zb__conditional_erase */
            :: deletes && conditional && !seen[me].is_absent && !erases_as_seen ->
#ifndef NO_CONDITION_OF_ERASING
                deletes = 0 /* an empty shard: core/src/write/put_chunk.c: put_nothing */
#endif
            :: else
            fi
        }
        send(me);
        atomic {
            if
            :: !failed -> goto done
            :: else
            fi;
#ifndef NO_LOOK_AT_WRITER
            if
            :: in_doubt && mark == me + 1 && stored -> goto done /* core/net/conditional_put.c: was_ours */
            :: else
            fi;
#endif
            if
            :: kind[me] != DOCUMENT && tries < MOST_TRIES -> goto again /* core/src/write/merge.c: merge_one */
            :: else -> goto refused
            fi
        }
done:
        acked[me] = 1;
        goto over;
refused:
        assert(!has_document || changed[1 - me]);
over:
        skip
    } unless {
        killed == me + 1
    };
    atomic {
        killed = (killed == me + 1 -> 0 : killed); ended[me] = 1;
        first = 0; second = 0; tries = 0; conditional = 0; deletes = 0; failed = 0; in_doubt = 0;
        seen[me].is_absent = 0; seen[me].first = 0; seen[me].second = 0
    }
}

proctype reader() {
    d_step { was_acked[0] = acked[0]; was_acked[1] = acked[1] }
    atomic { /* core/net/fetch.c: zb__fetch_submit */
        assert(!has_document || (may_be_read(0, unit[0]) && may_be_read(1, unit[1])));
        was_acked[0] = 0; was_acked[1] = 0
    }
}

/* The document first: core/net/conditional_erase.c: erase_below */
proctype deleter() {
    {
#ifndef NO_DOCUMENT_FIRST
        has_document = 0;
#endif
        d_step { stored = 0; unit[0] = FILL; unit[1] = FILL }
        has_document = 0
    } unless {
        killed == 3
    };
    atomic { killed = (killed == 3 -> 0 : killed); has_gone = 1 }
}

proctype killer() {
    if
    :: atomic { !ended[0] -> killed = 1 }
    :: atomic { !ended[1] -> killed = 2 }
    :: atomic { !has_gone -> killed = 3 }
    :: ended[0] && ended[1] && has_gone
    fi
}

init {
    byte k;
    if
    :: d_step { stored = 1; unit[0] = OLD; unit[1] = OLD }
    :: d_step { stored = 1; unit[1] = OLD; before[0] = FILL }
    :: d_step { before[0] = FILL; before[1] = FILL }
    fi;
    if
    :: select(k : PART .. ERASE); kind[0] = k; select(k : k .. ERASE); kind[1] = k
    :: kind[0] = DOCUMENT; kind[1] = DOCUMENT
    fi;
    atomic { run writer(0); run writer(1); run reader(); run deleter(); run killer() }
    _nr_pr == 1;
    assert(!has_document || (may_stay(0, unit[0]) && may_stay(1, unit[1])))
}
