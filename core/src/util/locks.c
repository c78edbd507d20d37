/* SPDX-License-Identifier: MIT */
#include "util/locks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum zb__locks zb__locks_of(zb__environment get) {
    static const char *const words[] = {[ZB__LOCKS_NONE] = "none",
                                        [ZB__LOCKS_LOCAL] = "local",
                                        [ZB__LOCKS_NODE] = "node",
                                        [ZB__LOCKS_SHARED] = "shared"};
    const char *text = get("ZARRBRIDGE_LOCKS");
    for (int i = ZB__LOCKS_NONE; text && i <= ZB__LOCKS_SHARED; i++) {
        if (strcmp(text, words[i]) == 0)
            return (enum zb__locks)i;
    }
    return ZB__LOCKS_UNKNOWN;
}

/* 0 for what is no number of digits alone. */
static unsigned long number_of(zb__environment get, const char *name) {
    const char *text = get(name);
    const bool is_number = text && *text && text[strspn(text, "0123456789")] == '\0';
    return is_number ? strtoul(text, NULL, 10) : 0;
}

bool zb__machines_are_many_of(zb__environment get) {
    /* The processes of a job, and those of them on this machine. */
    static const char *const sizes[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                           {"PMI_SIZE", "MPI_LOCALNRANKS"},
                                           {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"}};
    const char *stated = get("ZARRBRIDGE_MACHINES");
    if (stated && (strcmp(stated, "many") == 0 || strcmp(stated, "one") == 0))
        return strcmp(stated, "many") == 0;
    /* The tasks of a job array are jobs of their own, each with the nodes that it has got. */
    bool many =
        number_of(get, "SLURM_JOB_NUM_NODES") > 1 || number_of(get, "SLURM_ARRAY_TASK_COUNT") > 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const unsigned long here = number_of(get, sizes[i][1]);
        many |= here > 0 && number_of(get, sizes[i][0]) > here;
    }
    return many;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum zb__locks stated;
static bool are_many;

static const char *ask(const char *name) {
    return getenv(name);
}

static void load(void) {
    stated = zb__locks_of(ask);
    are_many = zb__machines_are_many_of(ask);
}

enum zb__locks zb__locks_stated(void) {
    pthread_once(&once, load);
    return stated;
}

bool zb__machines_are_many(void) {
    pthread_once(&once, load);
    return are_many;
}
