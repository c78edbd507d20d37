/* SPDX-License-Identifier: MIT */
/* Parts of lines on standard output. */
#ifndef ZB_CLI_PRINT_H
#define ZB_CLI_PRINT_H

#include <stdint.h>

/* Names and messages come from the store: a control character in them is no end of a line. */
void print_text(const char *text);

/* "(2, 3)" */
void print_shape(uint32_t ndim, const uint64_t *shape);

#endif
