/* SPDX-License-Identifier: MIT */
/* Property lists: see property_lists.h. */
#include "hdf5/property_lists.h"

#include "hdf5/errors.h"

bool vol_list_check(h5_lib *lib, hid_t list, hid_t class) {
    const hid_t by_default = 0; /* H5P_DEFAULT, a macro that may call the library */
    /* The commonest lists, without a call. */
    if (list == by_default || list == *lib->H5P_LST_LINK_ACCESS_ID_g ||
        list == *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g)
        return true;
    if (lib->H5Pisa_class(list, class) > 0)
        return true;
    VOL_PUSH(lib, VOL, BADTYPE, "a property list is not valid, or of another class");
    return false;
}
