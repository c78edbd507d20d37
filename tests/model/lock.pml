/* SPDX-License-Identifier: MIT */
/*
 * The lock of one key of a directory store, which the other models take as one step: a lock of an
 * open file description, of a file that comes and goes. Three threads take it, the first two of one
 * process. With HIERARCHY it is the lock of all documents, whose file stays, and whose description
 * is left to the next thread of the process. Another process removes the file as left over.
 *
 * Promises:
 *   - never do two hold the lock
 *   - a killed holder keeps nobody from getting it
 *   - whoever held it when a wait for it began has let go when that ends
 */
#ifndef HIERARCHY
#define HIERARCHY 0
#endif
#ifndef WIDE
#define WIDE 0 /* three threads, and a wait, with both */
#endif

#define FILES 6 /* as many as descriptions, and one that has the name */
#define DESCRIPTIONS 5

byte name;                     /* the file that has it, or 0 */
byte file_of[DESCRIPTIONS];    /* 0: not open; the last is that of whoever removes the file */
byte locked[FILES];            /* 1 and the number of the description that holds the file's lock */
byte left;                     /* 1 and the number of the one that the process of two has left */
bit holds[3];
byte killed;                   /* 1 and the number of the thread, or 0 */

#define REMOVER 4
#define IS_OF_TWO(me) ((me) < 2)
#define IS_OPEN(f)                                                                                 \
    (file_of[0] == (f) || file_of[1] == (f) || file_of[2] == (f) || file_of[3] == (f) ||           \
     file_of[4] == (f))
#define IS_FREE(f) ((f) != name && !IS_OPEN(f))

/* The numbers of files and descriptions that have gone are given again. */
inline find_number(f) {
    if
    :: IS_FREE(1) -> f = 1
    :: !IS_FREE(1) && IS_FREE(2) -> f = 2
    :: !IS_FREE(1) && !IS_FREE(2) && IS_FREE(3) -> f = 3
    :: !IS_FREE(1) && !IS_FREE(2) && !IS_FREE(3) && IS_FREE(4) -> f = 4
    :: else -> f = 5
    fi
}

inline open_file(f) {
    if
    :: !file_of[0] -> d = 0
    :: file_of[0] && !file_of[1] -> d = 1
    :: file_of[0] && file_of[1] && !file_of[2] -> d = 2
    :: else -> d = 3
    fi;
    file_of[d] = f; is_open = 1
}

inline let_go(description) {
    if
    :: locked[file_of[description]] == description + 1 -> locked[file_of[description]] = 0
    :: else
    fi
}

/* The kernel lets go of the lock. */
inline close_file(description) {
    let_go(description);
    file_of[description] = 0
}

inline try_lock(description) { /* core/src/store/fs_lock.c: zb__fs_lock_file */
    if
    :: !locked[file_of[description]] || locked[file_of[description]] == description + 1 ->
        locked[file_of[description]] = description + 1
    :: else -> close_file(description); is_open = 0; goto again
    fi
}

proctype taker(byte me) {
    byte d, f;
    bit is_open;
    {
        skip;
again:
        atomic { /* core/src/store/fs.c: fs_lock, core/src/store/fs_lock.c: try_once */
            if
            :: HIERARCHY && IS_OF_TWO(me) && left -> /* core/src/store/fs_lock.c: take_left */
                d = left - 1; is_open = 1;
#ifndef NO_SINGLE_TAKER
                left = 0
#endif
            :: !(HIERARCHY && IS_OF_TWO(me) && left) && !name ->
                find_number(f); name = f; open_file(f) /* core/src/store/fs_lock.c: make_lock_file */
            :: !(HIERARCHY && IS_OF_TWO(me) && left) && name ->
                open_file(name) /* core/src/store/fs_lock.c: open_made */
            fi;
            f = 0
        }
        atomic { try_lock(d) }
        atomic {
#ifndef NO_LOOK_AT_NAMES
            if
            :: name == file_of[d] /* core/src/store/fs_lock.c: names_this_file */
            :: else -> close_file(d); is_open = 0; goto again
            fi;
#endif
            assert(!holds[0] && !holds[1] && !holds[2]);
            holds[me] = 1
        }
        holds[me] = 0;
        if
        :: HIERARCHY && IS_OF_TWO(me) -> /* core/src/store/fs_lock.c: leave */
            let_go(d);
            atomic {
                if
                :: !left -> left = d + 1
                :: else -> close_file(d)
                fi;
                is_open = 0; d = 0
            }
        :: else -> /* core/src/store/fs_lock.c: zb__fs_unlock */
#ifdef NO_UNLINKING_BEFORE
            f = file_of[d];
            atomic { close_file(d); is_open = 0; d = 0 }
            atomic {
                if
                :: name == f -> name = 0
                :: else
                fi;
                f = 0
            }
#else
            atomic {
                if
                :: name == file_of[d] -> name = 0 /* core/src/store/fs_lock.c: unlink_own */
                :: else
                fi
            }
            atomic { close_file(d); is_open = 0; d = 0 }
#endif
        fi
    } unless {
        atomic {
            killed == me + 1;
            killed = 0; holds[me] = 0;
            if
            :: is_open -> close_file(d)
            :: else
            fi;
            is_open = 0; d = 0; f = 0
        }
    }
}

/* Removes the file where its lock is free: as left over by a kill (core/src/store/fs_sweep.c:
   sweep_file, core/src/store/fs_sweep.c: zb__fs_sweep, core/src/store/fs_sweep.c:
   zb__fs_sweep_all), as another user's that cannot be opened for
   writing (core/src/store/fs_lock.c: remove_orphaned), or at the end of a flush
   (core/src/store/fs_lock.c: zb__fs_leave_no_lock). */
proctype remover() {
    bit is_free;
    if
    :: atomic { name -> file_of[REMOVER] = name }
    :: skip
    fi;
    if
    :: file_of[REMOVER] ->
        atomic {
            is_free = !locked[file_of[REMOVER]];
#ifndef NO_LOCK_OF_REMOVERS
            if
            :: is_free -> locked[file_of[REMOVER]] = REMOVER + 1
            :: else
            fi
#endif
        }
        is_free = is_free && name == file_of[REMOVER];
        if
        :: is_free -> name = 0
        :: else
        fi;
        atomic { close_file(REMOVER) }
    :: else
    fi
}

/* Whoever makes an array smaller, after its document: core/src/store/fs_await.c: await_file,
   core/src/store/fs_await.c: zb__fs_await_locks */
proctype waiter() {
    bit held[3];
    byte i;
    d_step { held[0] = holds[0]; held[1] = holds[1]; held[2] = holds[2] }
#ifndef NO_WAIT
    !name || !locked[name]; /* core/src/store/fs_await.c: may_be_held */
#endif
    d_step {
        i = 0;
        do
        :: i < 3 -> assert(!held[i] || !holds[i]); held[i] = 0; i++
        :: else -> break
        od;
        i = 0
    }
}

proctype killer() {
    if
    :: killed = 1
    :: killed = 3
    :: skip
    fi
}

init {
    atomic {
        run taker(0); run taker(2); run remover(); run killer();
#if HIERARCHY || WIDE
        run taker(1);
#endif
#if !HIERARCHY || WIDE
        run waiter()
#endif
    }
}
