/* SPDX-License-Identifier: MIT */
/* MPI without its headers: see mpi.h. */
#include "hdf5/mpi.h"

#include "hdf5/errors.h"
#include "hdf5/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t word; /* a communicator or a type of MPI */

struct h5_ranks {
    h5_lib *lib;
    word comm; /* owned */
    word type; /* of eight bytes; MPI's */
    int rank, size;
    int64_t said[]; /* [size][2]: failed, call */
};

/* ---- Ranks ---- */

bool h5_mpi_is_driver(const h5_lib *lib, hid_t driver) {
    const h5_mpi *mpi = &lib->mpi;
    if (mpi->H5FD_MPIO_id_g)
        return driver == *mpi->H5FD_MPIO_id_g;
    return mpi->H5FD_mpio_init && driver == mpi->H5FD_mpio_init();
}

/* The communicator of a list, to be freed; 0 where it is that of a new list, which has none. */
static bool get_comm(h5_lib *lib, hid_t fapl, word *out) {
    word none = 0, no_info = 0, info = 0;
    hid_t fresh = lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g);
    *out = 0;
    const bool known = fresh >= 0 && lib->mpi.H5Pget_mpi_params(fresh, &none, &no_info) >= 0 &&
                       lib->mpi.H5Pget_mpi_params(fapl, out, &info) >= 0;
    vol_release_id(lib, fresh);
    if (known && info != no_info)
        lib->mpi.Info_free(&info);
    if (known && *out == none)
        *out = 0;
    return known;
}

static h5_ranks *new_ranks(h5_lib *lib, word comm) {
    int size = 0;
    h5_ranks *ranks = NULL;
    if (lib->mpi.Comm_size(comm, &size) == 0 && size > 0)
        ranks = calloc(1, sizeof *ranks + (size_t)size * 2 * sizeof ranks->said[0]);
    if (!ranks)
        return NULL;
    ranks->lib = lib;
    ranks->comm = comm;
    ranks->size = size;
    if (lib->mpi.Comm_rank(comm, &ranks->rank) == 0 &&
        lib->mpi.Type_create_f90_integer(18, &ranks->type) == 0)
        return ranks;
    free(ranks);
    return NULL;
}

bool h5_ranks_of_list(h5_lib *lib, hid_t fapl, h5_ranks **out) {
    word comm;
    *out = NULL;
    if (!lib->mpi.H5Pget_mpi_params || fapl == *lib->H5P_LST_FILE_ACCESS_ID_g)
        return true;
    if (!get_comm(lib, fapl, &comm)) {
        VOL_PUSH(lib, FILE, CANTGET, "the communicator of the access list cannot be had");
        return false;
    }
    if (!comm)
        return true;
    *out = new_ranks(lib, comm);
    if (!*out) {
        lib->mpi.Comm_free(&comm);
        VOL_PUSH(lib, FILE, CANTGET, "this MPI does not tell the processes of the communicator");
        return false;
    }
    if ((*out)->size > 1)
        return true;
    h5_ranks_free(*out);
    *out = NULL;
    return true;
}

bool h5_ranks_can_talk(const h5_ranks *ranks) {
    int is_over = 0;
    return ranks->lib->mpi.Finalized(&is_over) == 0 && !is_over;
}

void h5_ranks_free(h5_ranks *ranks) {
    if (ranks && h5_ranks_can_talk(ranks))
        ranks->lib->mpi.Comm_free(&ranks->comm);
    free(ranks);
}

bool h5_ranks_lead(const h5_ranks *ranks) {
    return !ranks || ranks->rank == 0;
}

size_t h5_ranks_count(const h5_ranks *ranks) {
    return (size_t)ranks->size;
}

size_t h5_ranks_own(const h5_ranks *ranks) {
    return (size_t)ranks->rank;
}

hid_t h5_list_alone(h5_lib *lib, hid_t fapl) {
    static const char *const properties[] = {"mpi_params_comm", "mpi_params_info"};
    hid_t copy = lib->H5Pcopy(fapl);
    herr_t result = copy < 0 ? -1 : 0;
    for (size_t i = 0; i < 2 && result >= 0; i++)
        if (lib->H5Pexist(copy, properties[i]) > 0)
            result = lib->H5Premove(copy, properties[i]);
    if (result >= 0 && h5_mpi_is_driver(lib, lib->H5Pget_driver(copy)))
        result = lib->H5Pset_fapl_sec2(copy);
    if (result >= 0)
        return copy;
    vol_release_id(lib, copy);
    return -1;
}

/* ---- Verdicts ---- */

/* What h5_verdict_take looks for. */
typedef struct search {
    h5_verdict *out;
    bool found;
} search;

/* The first one is the innermost. */
static herr_t take_first(unsigned n, const H5E_error2_t *error, void *context) {
    search *looking = context;
    (void)n;
    if (looking->found)
        return 0;
    looking->found = true;
    looking->out->major = error->maj_num;
    looking->out->minor = error->min_num;
    strncpy(looking->out->text, error->desc ? error->desc : "", sizeof looking->out->text - 1);
    return 0;
}

void h5_verdict_take(h5_lib *lib, bool failed, h5_verdict *out) {
    search looking = {.out = out};
    memset(out, 0, sizeof *out);
    out->failed = failed;
    if (!failed)
        return;
    out->major = *lib->H5E_VOL_g;
    out->minor = *lib->H5E_CANTGET_g;
    strcpy(out->text, "the call has failed");
    lib->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &looking);
}

herr_t h5_verdict_push(h5_lib *lib, const h5_verdict *verdict) {
    vol_release_id(lib, lib->H5Eget_current_stack()); /* which empties it */
    return vol_push(lib, __func__, __LINE__, VOL_FILE, (hid_t)verdict->major, (hid_t)verdict->minor,
                    "%s", verdict->text);
}

#define WORDS ((int)(sizeof(h5_verdict) / sizeof(int64_t)))
_Static_assert(sizeof(h5_verdict) % sizeof(int64_t) == 0, "verdicts are sent as words");

/* MPI ends the program by itself where it fails, unless that has chosen otherwise. */
static void fail_mpi(const h5_ranks *ranks, h5_verdict *verdict, const char *call) {
    verdict->failed = 1;
    verdict->major = *ranks->lib->H5E_VOL_g;
    verdict->minor = *ranks->lib->H5E_CANTGET_g;
    snprintf(verdict->text, sizeof verdict->text, "%s has failed: the ranks may differ", call);
}

/* The text goes out only where there is one. */
static void broadcast(h5_ranks *ranks, h5_verdict *verdict, int root) {
    const h5_mpi *mpi = &ranks->lib->mpi;
    if (mpi->Bcast(&verdict->failed, 1, ranks->type, root, ranks->comm) != 0 ||
        (verdict->failed && mpi->Bcast(verdict, WORDS, ranks->type, root, ranks->comm) != 0))
        fail_mpi(ranks, verdict, "MPI_Bcast");
    verdict->text[sizeof verdict->text - 1] = '\0';
}

void h5_ranks_hear(h5_ranks *ranks, h5_verdict *verdict) {
    broadcast(ranks, verdict, 0);
}

/* The first rank for which one of the two words is not what it should be; -1: there is none. */
static int find_rank(const h5_ranks *ranks, size_t word_at, int64_t should_be) {
    for (int i = 0; i < ranks->size; i++)
        if (ranks->said[2 * i + (int)word_at] != should_be)
            return i;
    return -1;
}

bool h5_ranks_agree(h5_ranks *ranks, h5_verdict *verdict) {
    const int64_t own[2] = {verdict->failed, verdict->call};
    if (ranks->lib->mpi.Allgather(own, 2, ranks->type, ranks->said, 2, ranks->type, ranks->comm) !=
        0) {
        fail_mpi(ranks, verdict, "MPI_Allgather");
        return true;
    }
    const int other = find_rank(ranks, 1, ranks->said[1]);
    if (other >= 0) {
        verdict->failed = 1;
        verdict->major = *ranks->lib->H5E_VOL_g;
        verdict->minor = *ranks->lib->H5E_BADVALUE_g;
        snprintf(verdict->text, sizeof verdict->text,
                 "the ranks of this file make different calls: rank %d another one than rank 0, "
                 "or one with another name or shape",
                 other);
        return true;
    }
    const int first = find_rank(ranks, 0, 0);
    if (first < 0)
        return false;
    broadcast(ranks, verdict, first);
    return first != ranks->rank;
}

int64_t h5_ranks_call(const char *name, const void *what, size_t size) {
    const uint64_t number = vol_hash(vol_hash(VOL_HASH_START, name, strlen(name)), what, size);
    return (int64_t)(number >> 1);
}

herr_t h5_ranks_result(h5_ranks *ranks, int64_t call, herr_t result) {
    h5_verdict verdict;
    if (!ranks)
        return result;
    h5_verdict_take(ranks->lib, result < 0, &verdict);
    verdict.call = call;
    if (h5_ranks_agree(ranks, &verdict))
        h5_verdict_push(ranks->lib, &verdict);
    return verdict.failed ? -1 : 0;
}

/* ---- Data ---- */

static herr_t push_failed(const h5_ranks *ranks, const char *call) {
    h5_verdict verdict = {0};
    fail_mpi(ranks, &verdict, call);
    return h5_verdict_push(ranks->lib, &verdict);
}

herr_t h5_ranks_gather(h5_ranks *ranks, const int64_t *own, size_t words, int64_t *all) {
    const int count = (int)words;
    return ranks->lib->mpi.Allgather(own, count, ranks->type, all, count, ranks->type,
                                     ranks->comm) == 0
               ? 0
               : push_failed(ranks, "MPI_Allgather");
}

herr_t h5_ranks_exchange(h5_ranks *ranks, const h5_mail *out, const h5_mail *in) {
    return ranks->lib->mpi.Alltoallv(out->data, out->words, out->at, ranks->type, in->data,
                                     in->words, in->at, ranks->type, ranks->comm) == 0
               ? 0
               : push_failed(ranks, "MPI_Alltoallv");
}
