/* SPDX-License-Identifier: MIT */
/* The entry that libFuzzer and replay.c call; every fuzz target defines it. Returns 0. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
