/* SPDX-License-Identifier: MIT */
/* Finding the calling libhdf5 and filling its table. */
#include "hdf5/library.h"

#include "hdf5/held_types.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static h5_lib libs[H5_LIB_MAX];

/* The wheels' libraries are not built thread-safe, so two of them may bind at once. */
static pthread_mutex_t bind_mutex = PTHREAD_MUTEX_INITIALIZER;

h5_lib *h5_lib_slot(size_t i) {
    return &libs[i];
}

/* dlsym gives an object pointer where C wants a function pointer; POSIX allows the copy. */
static bool resolve(void *handle, const char *name, void *pointer_out) {
    void *symbol = dlsym(handle, name);
    memcpy(pointer_out, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* All or none, but for the two names of the file driver. */
static void fill_mpi(h5_mpi *mpi, void *handle) {
    memset(mpi, 0, sizeof *mpi);
    if (!(resolve(handle, "H5Pget_mpi_params", &mpi->H5Pget_mpi_params) &&
          resolve(handle, "MPI_Bcast", &mpi->Bcast) &&
          resolve(handle, "MPI_Allgather", &mpi->Allgather) &&
          resolve(handle, "MPI_Alltoallv", &mpi->Alltoallv) &&
          resolve(handle, "MPI_Comm_rank", &mpi->Comm_rank) &&
          resolve(handle, "MPI_Comm_size", &mpi->Comm_size) &&
          resolve(handle, "MPI_Comm_free", &mpi->Comm_free) &&
          resolve(handle, "MPI_Info_free", &mpi->Info_free) &&
          resolve(handle, "MPI_Finalized", &mpi->Finalized) &&
          resolve(handle, "MPI_Type_create_f90_integer", &mpi->Type_create_f90_integer)))
        memset(mpi, 0, sizeof *mpi);
    (void)resolve(handle, "H5FD_mpio_init", &mpi->H5FD_mpio_init);
    (void)resolve(handle, "H5FD_MPIO_id_g", &mpi->H5FD_MPIO_id_g);
}

static bool fill_table(h5_lib *lib, void *handle) {
    bool complete = true;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    memset(&lib->relocated, 0, sizeof lib->relocated);

#define F(name) complete &= resolve(handle, #name, &lib->name);
    H5_FUNCTIONS(F)
    H5_IDS(F)
#undef F
#define F(name) (void)(program && resolve(program, #name, &lib->relocated.name));
    H5_IDS(F)
#undef F
    if (program)
        dlclose(program);
    lib->is_v2 = dlsym(handle, "H5VLopen_lib_context") != NULL;
    lib->has_wide_chunks = dlsym(handle, "H5Dread_chunk2") != NULL;
    (void)resolve(handle, "H5Tcomplex_create", &lib->H5Tcomplex_create);
    (void)resolve(handle, "H5Eis_paused", &lib->H5Eis_paused);
    fill_mpi(&lib->mpi, handle);
    complete &= resolve(handle, "H5Tdecode2", &lib->H5Tdecode2) ||
                resolve(handle, "H5Tdecode", &lib->H5Tdecode1);
    return complete;
}

/* A slot whose library has shut down and holds nothing of ours can have another one. */
static bool is_free(const h5_lib *lib) {
    return !lib->base || (lib->stale && !lib->started);
}

/* The slot of the library that is mapped at `base`, else one for it. */
static h5_lib *find_slot(const void *base) {
    h5_lib *found = NULL;
    for (size_t i = 0; i < H5_LIB_MAX; i++) {
        if (libs[i].base == base)
            return &libs[i];
        if (!found && is_free(&libs[i]))
            found = &libs[i];
    }
    return found;
}

h5_lib *h5_lib_bind(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fbase)
        return NULL;

    pthread_mutex_lock(&bind_mutex);
    h5_lib *lib = find_slot(info.dli_fbase);
    if (lib && (lib->base != info.dli_fbase || lib->stale)) {
        void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        lib->base = info.dli_fbase;
        lib->usable = handle && fill_table(lib, handle);
        lib->stale = false;
        if (handle)
            dlclose(handle);
    }
    pthread_mutex_unlock(&bind_mutex);
    return lib && lib->usable ? lib : NULL;
}

/*
 * A program that was linked to libhdf5 and names one of its variables (h5dump: H5T_STD_REF_OBJ_g)
 * holds the live copy itself, by a COPY relocation; dlsym on the library finds the dead original,
 * which stays at its initial value. Only known once HDF5 has initialised its ids.
 */
static void follow_copy_relocations(h5_lib *lib) {
#define F(name)                                                                                    \
    if (*lib->name <= 0 && lib->relocated.name && *lib->relocated.name > 0)                        \
        lib->name = lib->relocated.name;
    H5_IDS(F)
#undef F
}

void h5_lib_watch(h5_lib *lib, void (*at_close)(void *lib)) {
    if (!lib->watching)
        lib->watching = lib->H5atclose(at_close, lib) >= 0;
}

void h5_lib_start(h5_lib *lib, void (*at_close)(void *lib)) {
    if (lib->started)
        return;
    lib->started = true;
    lib->stopping = false;
    follow_copy_relocations(lib);
    lib->native = lib->H5VLget_connector_id_by_value(H5VL_NATIVE_VALUE);
    h5_lib_watch(lib, at_close);
}

bool h5_lib_is_since(const h5_lib *lib, unsigned major, unsigned minor, unsigned release) {
    unsigned is[3];
    if (lib->H5get_libversion(&is[0], &is[1], &is[2]) < 0)
        return false;
    if (is[0] != major)
        return is[0] > major;
    return is[1] != minor ? is[1] > minor : is[2] >= release;
}

static void drop_made(h5_lib *lib) {
    for (size_t i = 0; i < H5_CACHED_COUNT; i++)
        vol_held_free(&lib->cached_types[i]);
    free(lib->numbers);
    lib->numbers = NULL;
    free(lib->bare_lists);
    lib->bare_lists = NULL;
    free(lib->last_list);
    lib->last_list = NULL;
    free(lib->plain_transfer);
    lib->plain_transfer = NULL;
}

void h5_lib_stop(h5_lib *lib) {
    drop_made(lib);
    lib->watching = false; /* HDF5 forgets what it has called */
    lib->append = 0;       /* likewise */
    lib->stale = true;
}

/* After a shutdown the ids are HDF5's to close, and there is little left of it to call. */
void h5_lib_end(h5_lib *lib) {
    drop_made(lib);
    if (lib->started && !lib->stopping && lib->native > 0)
        lib->H5VLclose(lib->native);
    lib->native = 0;
    lib->native_cls = NULL;
    lib->started = lib->stopping = false;
}

/* ---- Arguments of H5Dread_chunk and H5Dwrite_chunk ---- */

size_t *h5_chunk_buffer_size(const h5_lib *lib, const h5_chunk_read *args) {
    return lib->has_wide_chunks ? args->buffer_size : NULL;
}

h5_chunk_write h5_chunk_write_from(const h5_lib *lib, const void *args) {
    h5_chunk_write wide;
    h5_chunk_write_v1 old;
    if (lib->has_wide_chunks) {
        memcpy(&wide, args, sizeof wide);
        return wide;
    }
    memcpy(&old, args, sizeof old);
    return (h5_chunk_write){
        .offset = old.offset, .filters = old.filters, .size = old.size, .buffer = old.buffer};
}

void *h5_chunk_write_for(const h5_lib *lib, h5_chunk_write *args, h5_chunk_write_v1 *old) {
    if (lib->has_wide_chunks)
        return args;
    *old = (h5_chunk_write_v1){.offset = args->offset,
                               .filters = args->filters,
                               .size = (uint32_t)args->size,
                               .buffer = args->buffer};
    return old;
}
