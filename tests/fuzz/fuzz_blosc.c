/* SPDX-License-Identifier: MIT */
/* Any bytes as a blosc container, for a chunk of the size that its header claims (to a limit). */
#include "codec/table.h"
#include "util/bytes.h"
#include "fuzz.h"
#include "fuzz_decode.h"

#define CAPACITY_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t claimed = size >= 8 ? zb__load_le32(data + 4) : 0;
    size_t capacity = claimed > CAPACITY_MAX ? CAPACITY_MAX : claimed;
    fuzz_decode(zb__codec_find("blosc"), data, size, capacity, true, capacity / 3, capacity / 2);
    return 0;
}
