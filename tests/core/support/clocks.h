/* SPDX-License-Identifier: MIT */
/*
 * The clocks by which the core tells ages, for tests that let time pass instead of waiting. They
 * need CLOCKS_LINK_OPTIONS (CMakeLists.txt): the linker sends the core's questions here.
 * CLOCK_REALTIME goes on by itself, as the system's own waits go by it.
 */
#ifndef ZB_TEST_CLOCKS_H
#define ZB_TEST_CLOCKS_H

#include <stdint.h>
#include <time.h>

/* So many nanoseconds pass. */
void clocks_pass(int64_t nanoseconds);

/* Two seconds pass, and the kernel's clock ticks: files and directories that have been changed
   before have sure versions, and the next change of one gives it another time. What is changed
   afterwards seems old at once. Whoever reads it and changes it again lets it age in between. */
void clocks_let_files_age(void);

/* CLOCK_REALTIME_COARSE, with which ages of files are told, stands still at that moment. */
void clocks_stop(struct timespec moment);

/* All clocks show the system's time again. */
void clocks_reset(void);

#endif
