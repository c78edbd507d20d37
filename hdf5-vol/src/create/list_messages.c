/* SPDX-License-Identifier: MIT */
/* See list_messages.h. */
#include "create/list_messages.h"

#define MEMBER "messages"

/* HDF5's own limit. */
#define MOST_INDEXES 8

static void print_index(h5_lib *lib, hid_t list, unsigned number, zb_json_writer *out) {
    unsigned kinds = 0, size = 0;
    lib->H5Pget_shared_mesg_index(list, number, &kinds, &size);
    zb_json_begin_array(out);
    zb_json_write_uint64(out, kinds);
    zb_json_write_uint64(out, size);
    zb_json_end_array(out);
}

void vol_list_messages_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any) {
    unsigned count = 0;
    if (lib->H5Pget_shared_mesg_nindexes(list, &count) < 0 || count == 0)
        return;
    *any = true;
    zb_json_write_name(out, MEMBER);
    zb_json_begin_array(out);
    for (unsigned i = 0; i < count; i++)
        print_index(lib, list, i, out);
    zb_json_end_array(out);
}

static bool parse_index(const zb_json *json, unsigned *kinds, unsigned *size) {
    const zb_json *first = zb_json_first(json);
    uint64_t both[2];
    if (zb_json_kind_of(json) != ZB_JSON_ARRAY || zb_json_count(json) != 2 ||
        !zb_json_uint64(first, &both[0]) || both[0] > H5O_SHMESG_ALL_FLAG ||
        !zb_json_uint64(zb_json_next(first), &both[1]) || both[1] > UINT32_MAX)
        return false;
    *kinds = (unsigned)both[0];
    *size = (unsigned)both[1];
    return true;
}

void vol_list_messages_set(h5_lib *lib, hid_t list, const zb_json *object) {
    const zb_json *indexes = zb_json_get(object, MEMBER);
    unsigned kinds, size, number = 0;
    if (zb_json_kind_of(indexes) != ZB_JSON_ARRAY || zb_json_count(indexes) > MOST_INDEXES)
        return;
    for (const zb_json *one = zb_json_first(indexes); one; one = zb_json_next(one))
        if (!parse_index(one, &kinds, &size))
            return;
    lib->H5Pset_shared_mesg_nindexes(list, (unsigned)zb_json_count(indexes));
    for (const zb_json *one = zb_json_first(indexes); one; one = zb_json_next(one), number++)
        if (parse_index(one, &kinds, &size))
            lib->H5Pset_shared_mesg_index(list, number, kinds, size);
}
