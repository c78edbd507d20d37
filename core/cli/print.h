/* SPDX-License-Identifier: MIT */
/* Parts of lines, on standard output if not said otherwise. */
#ifndef ZB_CLI_PRINT_H
#define ZB_CLI_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "cli.h"

/* Names and messages come from the store: a control character in them is no end of a line. */
void print_text(const char *text);
void print_text_to(FILE *out, const char *text);

/* "(2, 3)" */
void print_shape(uint32_t ndim, const uint64_t *shape);

/* "1234 bytes", or with a shorter number behind it: "1572864 bytes (1.5 MiB)". */
void print_bytes(uint64_t bytes);

enum print_color { PRINT_BAD, PRINT_GOOD, PRINT_GROUP, PRINT_ARRAY, PRINT_FAINT };

/* What follows is in that colour, or plain again, where the call has colours. */
void print_color(const cli_call *call, enum print_color color);
void print_plain(const cli_call *call);

#endif
