/* SPDX-License-Identifier: MIT */
#include "both_files.h"

const char *folder;
hid_t files[KINDS];
int made, freed;

int open_files(void **state) {
    static const char *const names[KINDS] = {"t.h5", "t.zarr"};
    char path[4096];
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        files[k] = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        if (files[k] < 0)
            return 1;
    }
    return 0;
}

int close_files(void **state) {
    (void)state;
    return H5Fclose(files[NATIVE]) < 0 || H5Fclose(files[STORE]) < 0;
}

static void *count_made(size_t size, void *info) {
    made++;
    assert_ptr_equal(info, &made);
    return malloc(size);
}

static void count_freed(void *memory, void *info) {
    freed += memory != NULL;
    assert_ptr_equal(info, &freed);
    free(memory);
}

hid_t counting_list(void) {
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    assert_true(H5Pset_vlen_mem_manager(list, count_made, &made, count_freed, &freed) >= 0);
    made = freed = 0;
    return list;
}
