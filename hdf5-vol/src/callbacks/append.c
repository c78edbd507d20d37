/* SPDX-License-Identifier: MIT */
/* Appending to datasets: see append.h. */
#include "callbacks/append.h"

#include "create/list_member.h"
#include "dataset/dataset.h"
#include "dataset/edit_dataset.h"
#include "hdf5/errors.h"
#include "objects/open_ids.h"

#include "zarrbridge/hdf5.h"

#include <stdlib.h>

void vol_append_register(h5_lib *lib) {
    if (lib->append == 0 &&
        lib->H5VLregister_opt_operation(H5VL_SUBCLS_DATASET, ZB_HDF5_APPEND, &lib->append) < 0)
        lib->append = 0;
}

bool vol_is_append(const h5_lib *lib, int operation) {
    return lib->append != 0 && operation == lib->append;
}

/* Whether a dataset can grow along a dimension. */
static bool check(const vol_object *object, const vol_object *of, unsigned dim) {
    h5_lib *lib = of->lib;
    if (!object || object->under || object->type != H5I_DATASET || object->file != of->file) {
        VOL_PUSH(lib, DATASET, BADVALUE, "what grows together are datasets of one file");
        return false;
    }
    if (!vol_may_write(object, "append to a dataset"))
        return false;
    vol_node *node = object->node;
    if (node->loose || vol_node_is_null(node) || dim >= zb_node_array(node->zarr)->ndim ||
        vol_list_member_layout(node) != H5D_CHUNKED) {
        VOL_PUSH(lib, DATASET, BADVALUE, "dataset '%s' has no dimension %u that can grow",
                 node->path, dim);
        return false;
    }
    return true;
}

static bool fill(const vol_object *object, const zb_hdf5_append *args, vol_growth *all) {
    bool good = check(object, object, args->dim);
    all[0] = (vol_growth){.dataset = object->node, .dim = args->dim};
    for (unsigned i = 0; i < args->with_count && good; i++) {
        const unsigned dim = args->with_dim ? args->with_dim[i] : 0;
        const vol_object *other = vol_object_of_id(object->lib, args->with[i]);
        good = check(other, object, dim);
        if (good)
            all[i + 1] = (vol_growth){.dataset = other->node, .dim = dim};
    }
    return good;
}

herr_t vol_append_optional(const vol_object *object, H5VL_optional_args_t *args) {
    h5_lib *lib = object->lib;
    zb_hdf5_append *append = args->args;
    zb_error err = {0};
    uint64_t start;
    const size_t count = (size_t)append->with_count + 1;
    vol_growth *all = calloc(count, sizeof *all);
    if (!all) {
        VOL_PUSH(lib, DATASET, WRITEERROR, "no memory for %zu datasets", count);
        return -1;
    }
    herr_t result = fill(object, append, all) ? 0 : -1;
    if (result >= 0 && vol_edit_append(all, count, append->count, &start, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
        result = -1;
    }
    for (size_t i = 0; i < count && result >= 0; i++)
        vol_node_tell_shape(all[i].dataset);
    free(all);
    if (result >= 0)
        append->start = start;
    return result;
}
