/* SPDX-License-Identifier: MIT */
/* What the environment says of locks and machines. */
#include "util/locks.h"

#include "support/check.h"

static const char *const *now; /* pairs of a name and a value, NULL at the end */

static const char *get(const char *name) {
    for (const char *const *at = now; *at; at += 2) {
        if (strcmp(*at, name) == 0)
            return at[1];
    }
    return NULL;
}

static void locks_are_stated_by_a_word(void **state) {
    static const struct {
        const char *word;
        enum zb__locks locks;
    } rows[] = {{"none", ZB__LOCKS_NONE},     {"local", ZB__LOCKS_LOCAL},
                {"node", ZB__LOCKS_NODE},     {"shared", ZB__LOCKS_SHARED},
                {"", ZB__LOCKS_UNKNOWN},      {"NONE", ZB__LOCKS_UNKNOWN},
                {"nonee", ZB__LOCKS_UNKNOWN}, {NULL, ZB__LOCKS_UNKNOWN}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const pairs[] = {"ZARRBRIDGE_LOCKS", rows[i].word, NULL};
        now = pairs;
        assert_int_equal(zb__locks_of(get), rows[i].locks);
    }
}

static void jobs_tell_of_machines(void **state) {
    static const struct {
        const char *pairs[7];
        bool many;
    } rows[] = {
        {{NULL}, false},
        {{"ZARRBRIDGE_MACHINES", "many"}, true},
        {{"ZARRBRIDGE_MACHINES", "MANY"}, false},
        {{"SLURM_JOB_NUM_NODES", "1"}, false},
        {{"SLURM_JOB_NUM_NODES", "2"}, true},
        {{"SLURM_JOB_NUM_NODES", "2", "ZARRBRIDGE_MACHINES", "one"}, false},
        {{"SLURM_JOB_NUM_NODES", "2", "ZARRBRIDGE_MACHINES", "what"}, true},
        {{"SLURM_JOB_NUM_NODES", "-2"}, false},
        {{"SLURM_JOB_NUM_NODES", "2x"}, false},
        {{"SLURM_JOB_NUM_NODES", ""}, false},
        {{"SLURM_JOB_NUM_NODES", "99999999999999999999999"}, true},
        {{"SLURM_JOB_NUM_NODES", "1", "SLURM_ARRAY_TASK_COUNT", "4"}, true},
        {{"SLURM_JOB_NUM_NODES", "1", "SLURM_ARRAY_TASK_COUNT", "1"}, false},
        {{"SLURM_ARRAY_TASK_COUNT", "4", "ZARRBRIDGE_MACHINES", "one"}, false},
        {{"OMPI_COMM_WORLD_SIZE", "8", "OMPI_COMM_WORLD_LOCAL_SIZE", "8"}, false},
        {{"OMPI_COMM_WORLD_SIZE", "8", "OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, true},
        {{"OMPI_COMM_WORLD_SIZE", "8"}, false},
        {{"PMI_SIZE", "4", "MPI_LOCALNRANKS", "2"}, true},
        {{"PMI_SIZE", "4", "MPI_LOCALNRANKS", "4"}, false},
        {{"MV2_COMM_WORLD_SIZE", "4", "MV2_COMM_WORLD_LOCAL_SIZE", "1"}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        now = rows[i].pairs;
        assert_int_equal(zb__machines_are_many_of(get), rows[i].many);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_are_stated_by_a_word),
        cmocka_unit_test(jobs_tell_of_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
