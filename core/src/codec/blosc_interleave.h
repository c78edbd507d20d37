/* SPDX-License-Identifier: MIT */
/*
 * The vector form of interleaving, a template: included once for each instruction set, with
 *   NAME, TARGET            the function's name and its attributes
 *   VECTOR, LOAD, UNPACK_LOW, UNPACK_HIGH, XOR, AND, SHIFT_LEFT, SHIFT_RIGHT, SET64
 *   STORE_LANES(at, lane_distance, vector)   stores each 16-byte lane, the second lane_distance on
 *   LOAD_LANES(at, lane_distance), STORE     likewise loads; stores a whole vector
 * They are undefined again at the end.
 *
 * `planes` vectors are loaded, one from each plane. Seen as one row of bytes, a byte's place is
 * (plane, element); we want (element, plane). Interleaving the first half of the row with its
 * second half turns the place's binary digits round by one, so log2(planes) such passes are the
 * whole work. The unpack instructions do one within each 16-byte lane, and lanes hold different
 * elements.
 */

/* Interleaves elements from `count` on each plane, whole vectors only; returns the number done.
   With bits, eight planes of bits become bytes: column c of the planes gives bytes 8c to 8c + 7. */
TARGET static inline __attribute__((always_inline)) size_t
NAME(_fixed)(const size_t planes, const bool bits, const uint8_t *in, size_t distance, size_t count,
             uint8_t *out) {
    size_t at = 0;
    for (; at + sizeof(VECTOR) <= count; at += sizeof(VECTOR)) {
        VECTOR row[16], next[16];
        for (size_t j = 0; j < planes; j++)
            row[j] = LOAD(in + j * distance + at);
        for (size_t pass = 1; pass < planes; pass *= 2) {
            for (size_t j = 0; j < planes / 2; j++) {
                next[2 * j] = UNPACK_LOW(row[j], row[j + planes / 2]);
                next[2 * j + 1] = UNPACK_HIGH(row[j], row[j + planes / 2]);
            }
            for (size_t j = 0; j < planes; j++)
                row[j] = next[j];
        }
        for (size_t j = 0; j < planes; j++) {
            VECTOR x = row[j];
            if (bits) {
                /* As transpose_bits in blosc_shuffle.c, in each group of 8 bytes. */
                VECTOR t = AND(XOR(x, SHIFT_RIGHT(x, 7)), SET64(TRANSPOSE_MASK_1));
                x = XOR(XOR(x, t), SHIFT_LEFT(t, 7));
                t = AND(XOR(x, SHIFT_RIGHT(x, 14)), SET64(TRANSPOSE_MASK_2));
                x = XOR(XOR(x, t), SHIFT_LEFT(t, 14));
                t = AND(XOR(x, SHIFT_RIGHT(x, 28)), SET64(TRANSPOSE_MASK_4));
                x = XOR(XOR(x, t), SHIFT_LEFT(t, 28));
            }
            STORE_LANES(out + at * planes + 16 * j, 16 * planes, x);
        }
    }
    return at;
}

TARGET static size_t NAME()(size_t planes, bool bits, const uint8_t *in, size_t distance,
                            size_t count, uint8_t *out) {
    if (bits)
        return NAME(_fixed)(8, true, in, distance, count, out);
    switch (planes) { /* each a constant, so that the loops above are unrolled */
    case 2:
        return NAME(_fixed)(2, false, in, distance, count, out);
    case 4:
        return NAME(_fixed)(4, false, in, distance, count, out);
    case 8:
        return NAME(_fixed)(8, false, in, distance, count, out);
    case 16:
        return NAME(_fixed)(16, false, in, distance, count, out);
    default:
        return 0;
    }
}

/* The way back: elements become planes that begin `distance` bytes apart. A lane's places have
   log2(planes) + 4 digits; interleaving turned them by log2(planes), so four more passes bring them
   back to where they were. */
TARGET static inline __attribute__((always_inline)) size_t
NAME(_split_fixed)(const size_t planes, const uint8_t *in, size_t distance, size_t count,
                   uint8_t *out) {
    size_t at = 0;
    for (; at + sizeof(VECTOR) <= count; at += sizeof(VECTOR)) {
        VECTOR row[16], next[16];
        for (size_t j = 0; j < planes; j++)
            row[j] = LOAD_LANES(in + at * planes + 16 * j, 16 * planes);
        for (size_t pass = 0; pass < 4; pass++) {
            for (size_t j = 0; j < planes / 2; j++) {
                next[2 * j] = UNPACK_LOW(row[j], row[j + planes / 2]);
                next[2 * j + 1] = UNPACK_HIGH(row[j], row[j + planes / 2]);
            }
            for (size_t j = 0; j < planes; j++)
                row[j] = next[j];
        }
        for (size_t j = 0; j < planes; j++)
            STORE(out + j * distance + at, row[j]);
    }
    return at;
}

TARGET static size_t NAME(_split)(size_t planes, const uint8_t *in, size_t distance, size_t count,
                                  uint8_t *out) {
    switch (planes) {
    case 2:
        return NAME(_split_fixed)(2, in, distance, count, out);
    case 4:
        return NAME(_split_fixed)(4, in, distance, count, out);
    case 8:
        return NAME(_split_fixed)(8, in, distance, count, out);
    case 16:
        return NAME(_split_fixed)(16, in, distance, count, out);
    default:
        return 0;
    }
}

#undef NAME
#undef TARGET
#undef VECTOR
#undef LOAD
#undef UNPACK_LOW
#undef UNPACK_HIGH
#undef XOR
#undef AND
#undef SHIFT_LEFT
#undef SHIFT_RIGHT
#undef SET64
#undef STORE_LANES
#undef LOAD_LANES
#undef STORE
