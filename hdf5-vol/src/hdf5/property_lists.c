/* SPDX-License-Identifier: MIT */
/* Property lists: see property_lists.h. */
#include "hdf5/property_lists.h"

#include "hdf5/errors.h"

/* The commonest lists, without a call. */
static bool is_default(const h5_lib *lib, hid_t list, hid_t class) {
    const struct {
        const hid_t *list, *class;
    } of[] = {
        {lib->H5P_LST_LINK_CREATE_ID_g, lib->H5P_CLS_LINK_CREATE_ID_g},
        {lib->H5P_LST_GROUP_CREATE_ID_g, lib->H5P_CLS_GROUP_CREATE_ID_g},
        {lib->H5P_LST_GROUP_ACCESS_ID_g, lib->H5P_CLS_GROUP_ACCESS_ID_g},
        {lib->H5P_LST_DATASET_CREATE_ID_g, lib->H5P_CLS_DATASET_CREATE_ID_g},
        {lib->H5P_LST_DATASET_ACCESS_ID_g, lib->H5P_CLS_DATASET_ACCESS_ID_g},
    };
    const hid_t by_default = 0; /* H5P_DEFAULT, a macro that may call the library */
    if (list == by_default || list == *lib->H5P_LST_LINK_ACCESS_ID_g ||
        list == *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g)
        return true;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (list == *of[i].list)
            return class == *of[i].class;
    return false;
}

bool vol_list_check(h5_lib *lib, hid_t list, hid_t class) {
    if (is_default(lib, list, class))
        return true;
    if (lib->H5Pisa_class(list, class) > 0)
        return true;
    VOL_PUSH(lib, VOL, BADTYPE, "a property list is not valid, or of another class");
    return false;
}
