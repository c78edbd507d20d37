/* SPDX-License-Identifier: MIT */
/* Finding the calling libhdf5 and filling its table. */
#include "h5_api.h"

#include <dlfcn.h>
#include <pthread.h>
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

static bool fill_table(h5_lib *lib, void *handle) {
    bool complete = true;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);

#define F(name) complete &= resolve(handle, #name, &lib->name);
    H5_FUNCTIONS(F)
    H5_IDS(F)
#undef F
#define F(name) (void)(program && resolve(program, #name, &lib->relocated.name));
    H5_IDS(F)
#undef F
    lib->is_v2 = dlsym(handle, "H5VLopen_lib_context") != NULL;
    (void)resolve(handle, "H5Eis_paused", &lib->H5Eis_paused);
    return complete;
}

h5_lib *h5_lib_bind(const void *address) {
    Dl_info info;
    h5_lib *found = NULL;
    if (!dladdr(address, &info) || !info.dli_fbase)
        return NULL;

    pthread_mutex_lock(&bind_mutex);
    for (size_t i = 0; i < H5_LIB_MAX && !found; i++) {
        h5_lib *lib = &libs[i];
        if (!lib->base) {
            /* The handle is kept for good: nothing may unload a library whose functions we hold. */
            void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
            lib->base = info.dli_fbase;
            lib->usable = handle && fill_table(lib, handle);
        }
        if (lib->base == info.dli_fbase)
            found = lib;
    }
    pthread_mutex_unlock(&bind_mutex);
    return found && found->usable ? found : NULL;
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

void h5_lib_start(h5_lib *lib, void (*at_close)(void *lib)) {
    if (lib->started)
        return;
    lib->started = true;
    follow_copy_relocations(lib);
    lib->native = lib->H5VLget_connector_id_by_value(H5VL_NATIVE_VALUE);
    lib->H5atclose(at_close, lib);
}

void h5_lib_stop(h5_lib *lib) {
    for (size_t i = 0; i < H5_CACHED_COUNT; i++) {
        if (lib->cached_types[i] > 0)
            lib->H5Tclose(lib->cached_types[i]);
        lib->cached_types[i] = 0;
    }
    if (lib->native > 0)
        lib->H5VLclose(lib->native);
    lib->native = 0;
    lib->native_cls = NULL;
    lib->started = false;
}
