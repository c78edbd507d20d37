/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C during a call. Python's handler of SIGINT notes the signal and returns; nobody looks at
 * the note before the call has returned, which a server that does not answer may put off for a
 * minute. So, while a call waits, a handler of ours stands before the program's: it counts the
 * signal, calls that, and the call ends with an error. The rules:
 *
 * - Programs that have no handler keep SIG_DFL (which ends them at once) and SIG_IGN.
 * - The program's handler is called each time, with its own mask and flags.
 * - It is put back when the call ends, unless the program has set another one meanwhile. Ours goes
 *   on calling the program's, should somebody have kept it to set it later: it is never unloaded.
 * - ZARRBRIDGE_INTERRUPT=no leaves signals alone.
 *
 * Writes, flushes and closes are not ended: what waits in memory would be lost. Nor is a change
 * that has been begun (zarrbridge/stop.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_INTERRUPT_H
#define ZARRBRIDGE_HDF5_VOL_DATA_INTERRUPT_H

#include "zarrbridge/read.h"
#include "zarrbridge/stop.h"

#include <stdatomic.h>
#include <stdbool.h>

/* One call of HDF5, on the stack of its callback. */
typedef struct vol_interrupt {
    struct vol_interrupt *around; /* the call whose operator has made this one, or NULL */
    zb_stop before;               /* of that */
    atomic_int state;             /* below; set by the first wait */
    unsigned seen;                /* interrupts before that */
    atomic_bool has_come;         /* a wait was told so */
} vol_interrupt;

/* The handler is set at the first wait; one call at a time watches, and those in it. A second HDF5
   library in the process does without. ends: false for a write, a flush or a close. In pairs. */
void vol_interrupt_begin(vol_interrupt *call, bool ends);

/* Sets the handler now, for a call that works more than it waits. */
void vol_interrupt_watch(vol_interrupt *call);

/* True if a wait was ended: what was found out may not be the truth. */
bool vol_interrupt_end(vol_interrupt *call);

/* zb_array_read; in a call that watches it ends with ZB_ECANCELLED when SIGINT has come. */
enum zb_code vol_array_read(const zb_read *reads, size_t count, zb_error *err);

#endif
