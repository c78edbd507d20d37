/* SPDX-License-Identifier: MIT */
/*
 * What the models have in common: two writers, what each of them was told, and the values that an
 * inner chunk may have by that. A write counts as done at some moment between its begin and its
 * end; one that was refused, or whose writer was killed, may be done or not.
 */

/* Values of inner chunks. */
#define FILL 0
#define OLD 1
#define NEW1 2 /* of the first writer, */
#define NEW2 3 /* and of the second */
#define THEIRS 4
#define TORN 5 /* half overwritten: its checksum is wrong */

/* Kinds of writes. */
#define PART 1     /* of the shard, which is merged with what is stored */
#define CLEAR 2    /* likewise, of fill values */
#define WHOLE 3    /* all of the shard, without a look at what is stored */
#define ERASE 4    /* likewise, of fill values */
#define LIVE 5     /* a part, by `append` or `inplace` */
#define WAITS 6    /* all of the shard, which waits for a flush */

byte kind[2];
byte before[2] = OLD; /* in each inner chunk, at the beginning */
bit acked[2];
bit ended[2];
bit later[2];     /* the other writer had ended when this one began */
bit was_acked[2]; /* when the reader began */
byte killed;      /* 1 and the number of the writer, or 0 */

#define IS_WHOLE(kind) (kind == WHOLE || kind == ERASE || kind == WAITS)
#define COVERS(w, u) ((w) == (u) || IS_WHOLE(kind[w])) /* each writer has a part of its own */
#define VALUE(w) (kind[w] == CLEAR || kind[w] == ERASE -> FILL : NEW1 + (w))

/* The value is that of writer w, and no write that was told done has surely come after it. */
#define is_of(w, u, v, told)                                                                       \
    (COVERS(w, u) && VALUE(w) == (v) && !(COVERS(1 - w, u) && told[1 - w] && later[1 - w]))

#define may_be(u, v, told)                                                                         \
    (((v) == before[u] && !(COVERS(0, u) && told[0]) && !(COVERS(1, u) && told[1])) ||             \
     is_of(0, u, v, told) || is_of(1, u, v, told))

#define may_stay(u, v) may_be(u, v, acked)
#define may_be_read(u, v) may_be(u, v, was_acked)

