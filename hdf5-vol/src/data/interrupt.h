/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C during a read. Python's handler of SIGINT notes the signal and returns; nobody looks at
 * the note before H5Dread has returned, which a server that does not answer may put off for a
 * minute. So, while a read goes on that may last, a handler of ours stands before the program's:
 * it counts the signal, calls that, and the read ends with an error. The rules:
 *
 * - Programs that have no handler keep SIG_DFL (which ends them at once) and SIG_IGN.
 * - The program's handler is called each time, with its own mask and flags.
 * - It is put back when the read ends, unless the program has set another one meanwhile. Ours goes
 *   on calling the program's, should somebody have kept it to set it later: it is never unloaded.
 * - ZARRBRIDGE_INTERRUPT=no leaves signals alone.
 *
 * Writes, flushes and closes are not ended: what waits in memory would be lost.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_INTERRUPT_H
#define ZARRBRIDGE_HDF5_VOL_DATA_INTERRUPT_H

#include "zarrbridge/read.h"

#include <stdbool.h>

/* One read at a time watches; a second HDF5 library in the process does without. True: to be ended
   by the same thread. */
bool vol_interrupt_watch(void);
void vol_interrupt_end(void);

/* zb_array_read; within a watch of this thread it ends with ZB_ECANCELLED when SIGINT has come. */
enum zb_code vol_array_read(const zb_read *reads, size_t count, zb_error *err);

#endif
