/* SPDX-License-Identifier: MIT */
/* See list_properties.h. */
#include "create/list_properties.h"

#include "create/codecs_to_filters.h"
#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t pair[2];

/* ---- Getting and setting ---- */

/* Properties that HDF5 gets and sets as one number of a type, or as two. `fits` tells whether HDF5
   takes the two: where it does not, it prints an error. */
#define ONE_NUMBER(name, type, getter, setter)                                                     \
    static bool get_##name(h5_lib *lib, hid_t list, pair out) {                                    \
        type number = 0;                                                                           \
        const herr_t result = lib->getter(list, &number);                                          \
        out[0] = (uint64_t)number;                                                                 \
        return result >= 0;                                                                        \
    }                                                                                              \
    static void set_##name(h5_lib *lib, hid_t list, const pair value) {                            \
        lib->setter(list, (type)value[0]);                                                         \
    }

#define TWO_NUMBERS(name, type, getter, setter, fits)                                              \
    static bool get_##name(h5_lib *lib, hid_t list, pair out) {                                    \
        type first = 0, second = 0;                                                                \
        const herr_t result = lib->getter(list, &first, &second);                                  \
        out[0] = first;                                                                            \
        out[1] = second;                                                                           \
        return result >= 0;                                                                        \
    }                                                                                              \
    static void set_##name(h5_lib *lib, hid_t list, const pair value) {                            \
        if (fits)                                                                                  \
            lib->setter(list, (type)value[0], (type)value[1]);                                     \
    }

/* The least number of the dense form is not beyond the largest of the compact one; of shared
   messages, it leaves no gap between the two. */
#define IS_PHASE (value[1] <= value[0])
#define IS_MESSAGE_PHASE (value[1] <= value[0] + 1)

ONE_NUMBER(track_times, bool, H5Pget_obj_track_times, H5Pset_obj_track_times)
ONE_NUMBER(attribute_order, unsigned, H5Pget_attr_creation_order, H5Pset_attr_creation_order)
TWO_NUMBERS(attribute_phase, unsigned, H5Pget_attr_phase_change, H5Pset_attr_phase_change, IS_PHASE)
TWO_NUMBERS(link_phase, unsigned, H5Pget_link_phase_change, H5Pset_link_phase_change, IS_PHASE)
TWO_NUMBERS(link_estimates, unsigned, H5Pget_est_link_info, H5Pset_est_link_info, true)
ONE_NUMBER(heap_hint, size_t, H5Pget_local_heap_size_hint, H5Pset_local_heap_size_hint)
ONE_NUMBER(fill_time, H5D_fill_time_t, H5Pget_fill_time, H5Pset_fill_time)
ONE_NUMBER(alloc_time, H5D_alloc_time_t, H5Pget_alloc_time, H5Pset_alloc_time)

/* Of files. */
TWO_NUMBERS(sizes, size_t, H5Pget_sizes, H5Pset_sizes, true)
TWO_NUMBERS(sym_k, unsigned, H5Pget_sym_k, H5Pset_sym_k, true)
ONE_NUMBER(istore_k, unsigned, H5Pget_istore_k, H5Pset_istore_k)
TWO_NUMBERS(message_phase, unsigned, H5Pget_shared_mesg_phase_change,
            H5Pset_shared_mesg_phase_change, IS_MESSAGE_PHASE)
ONE_NUMBER(page_size, hsize_t, H5Pget_file_space_page_size, H5Pset_file_space_page_size)

/* HDF5 has one call for the strategy and what becomes of free space, which are two properties
   here. */
typedef struct file_space {
    H5F_fspace_strategy_t strategy;
    bool persists;
    hsize_t threshold;
} file_space;

static bool get_space(h5_lib *lib, hid_t list, file_space *out) {
    *out = (file_space){.strategy = H5F_FSPACE_STRATEGY_FSM_AGGR};
    return lib->H5Pget_file_space_strategy(list, &out->strategy, &out->persists, &out->threshold) >=
           0;
}

static bool get_file_space(h5_lib *lib, hid_t list, pair out) {
    file_space space;
    const bool good = get_space(lib, list, &space);
    out[0] = (uint64_t)space.strategy;
    return good;
}

static void set_file_space(h5_lib *lib, hid_t list, const pair value) {
    file_space space;
    if (get_space(lib, list, &space))
        lib->H5Pset_file_space_strategy(list, (H5F_fspace_strategy_t)value[0], space.persists,
                                        space.threshold);
}

static bool get_free_space(h5_lib *lib, hid_t list, pair out) {
    file_space space;
    const bool good = get_space(lib, list, &space);
    out[0] = space.persists;
    out[1] = space.threshold;
    return good;
}

static void set_free_space(h5_lib *lib, hid_t list, const pair value) {
    file_space space;
    if (value[0] <= 1 && get_space(lib, list, &space))
        lib->H5Pset_file_space_strategy(list, space.strategy, value[0] != 0, value[1]);
}

/* ---- The table ---- */

enum list_kind { OF_OBJECTS, OF_GROUPS, OF_DATASETS, OF_FILES };

typedef struct property {
    const char *name;
    enum list_kind kind;
    unsigned count;           /* of numbers: 1 or 2 */
    const char *const *words; /* [most + 1], in place of the number; NULL: no value of HDF5 */
    uint64_t most;            /* the largest number */
    bool (*get)(h5_lib *, hid_t, pair);
    void (*set)(h5_lib *, hid_t, const pair);
} property;

/* Each word stands at the place of its value in HDF5. */
static const char *const orders[] = {"none", "tracked", NULL, "indexed"};
static const char *const fill_times[] = {"alloc", "never", "ifset"};
static const char *const alloc_times[] = {NULL, "early", "late", "incremental"};
static const char *const strategies[] = {"fsm_aggr", "page", "aggr", "none"};

enum { ONE = 1, TWO = 2, SMALL = UINT16_MAX };

static const property properties[] = {
    {"track_times", OF_OBJECTS, ONE, NULL, 1, get_track_times, set_track_times},
    {"attribute_order", OF_OBJECTS, ONE, orders, 3, get_attribute_order, set_attribute_order},
    {"attribute_phase", OF_OBJECTS, TWO, NULL, SMALL, get_attribute_phase, set_attribute_phase},
    {"link_phase", OF_GROUPS, TWO, NULL, SMALL, get_link_phase, set_link_phase},
    {"link_estimates", OF_GROUPS, TWO, NULL, SMALL, get_link_estimates, set_link_estimates},
    {"heap_hint", OF_GROUPS, ONE, NULL, UINT32_MAX, get_heap_hint, set_heap_hint},
    {"fill_time", OF_DATASETS, ONE, fill_times, 2, get_fill_time, set_fill_time},
    {"alloc_time", OF_DATASETS, ONE, alloc_times, 3, get_alloc_time, set_alloc_time},
    {"sizes", OF_FILES, TWO, NULL, 32, get_sizes, set_sizes},
    {"sym_k", OF_FILES, TWO, NULL, SMALL, get_sym_k, set_sym_k},
    {"istore_k", OF_FILES, ONE, NULL, SMALL, get_istore_k, set_istore_k},
    {"message_phase", OF_FILES, TWO, NULL, SMALL, get_message_phase, set_message_phase},
    {"page_size", OF_FILES, ONE, NULL, UINT64_MAX, get_page_size, set_page_size},
    {"file_space", OF_FILES, ONE, strategies, 3, get_file_space, set_file_space},
    {"free_space", OF_FILES, TWO, NULL, UINT64_MAX, get_free_space, set_free_space},
};

#define PROPERTIES (sizeof properties / sizeof properties[0])
_Static_assert(PROPERTIES == VOL_LIST_PROPERTIES, "each property has its number");

/* The lists of files are lists of groups. */
static bool kind_has(enum vol_list_kind list, enum list_kind of) {
    switch (of) {
    case OF_GROUPS:
        return list == VOL_LIST_GROUP || list == VOL_LIST_FILE;
    case OF_DATASETS:
        return list >= VOL_LIST_DATASET;
    case OF_FILES:
        return list == VOL_LIST_FILE;
    case OF_OBJECTS:
        break;
    }
    return true;
}

static bool concerns(h5_lib *lib, hid_t list, enum list_kind kind) {
    const hid_t *const classes[] = {[OF_GROUPS] = lib->H5P_CLS_GROUP_CREATE_ID_g,
                                    [OF_DATASETS] = lib->H5P_CLS_DATASET_CREATE_ID_g,
                                    [OF_FILES] = lib->H5P_CLS_FILE_CREATE_ID_g};
    return kind == OF_OBJECTS || lib->H5Pisa_class(list, *classes[kind]) > 0;
}

/* ---- Bare lists ---- */

/* What bare lists say. It stays the same while the library runs, and asking costs as much as
   creating the directory of a node. */
struct h5_bare_lists {
    bool known[VOL_LIST_KINDS];
    struct {
        bool has;
        pair value;
    } of[VOL_LIST_KINDS][PROPERTIES];
};

static hid_t class_of(h5_lib *lib, enum vol_list_kind kind) {
    switch (kind) {
    case VOL_LIST_DATATYPE:
        return *lib->H5P_CLS_DATATYPE_CREATE_ID_g;
    case VOL_LIST_GROUP:
        return *lib->H5P_CLS_GROUP_CREATE_ID_g;
    case VOL_LIST_FILE:
        return *lib->H5P_CLS_FILE_CREATE_ID_g;
    default:
        return *lib->H5P_CLS_DATASET_CREATE_ID_g;
    }
}

/* Tracked creation order makes h5py list attributes in the order of the JSON document. */
hid_t vol_list_bare(h5_lib *lib, hid_t list_class) {
    hid_t list = lib->H5Pcreate(list_class);
    if (list >= 0 && list_class != *lib->H5P_CLS_DATATYPE_CREATE_ID_g)
        lib->H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED);
    return list;
}

/* Setting the layout sets the allocation time, too. */
static hid_t new_bare(h5_lib *lib, enum vol_list_kind kind) {
    hid_t list = vol_list_bare(lib, class_of(lib, kind));
    if (list < 0 || kind < VOL_LIST_DATASET ||
        lib->H5Pset_layout(list, (H5D_layout_t)(kind - VOL_LIST_DATASET)) >= 0)
        return list;
    vol_release_id(lib, list);
    return -1;
}

static struct h5_bare_lists *bare_lists(h5_lib *lib, enum vol_list_kind kind) {
    if (!lib->bare_lists)
        lib->bare_lists = calloc(1, sizeof *lib->bare_lists);
    struct h5_bare_lists *lists = lib->bare_lists;
    if (!lists || lists->known[kind])
        return lists;
    const hid_t bare = new_bare(lib, kind);
    if (bare < 0)
        return NULL;
    for (size_t i = 0; i < PROPERTIES; i++)
        lists->of[kind][i].has = kind_has(kind, properties[i].kind) &&
                                 properties[i].get(lib, bare, lists->of[kind][i].value);
    vol_release_id(lib, bare);
    lists->known[kind] = true;
    return lists;
}

/* ---- JSON ---- */

static void print_number(const property *of, uint64_t number, zb_json_writer *out) {
    if (of->words)
        zb_json_write_string(out, of->words[number]);
    else if (of->most == 1)
        zb_json_write_bool(out, number);
    else
        zb_json_write_uint64(out, number);
}

static bool can_print(const property *of, const pair value) {
    for (unsigned i = 0; i < of->count; i++)
        if (value[i] > of->most || (of->words && !of->words[value[i]]))
            return false;
    return true;
}

enum zb_code vol_list_properties_get(h5_lib *lib, hid_t list, enum vol_list_kind kind,
                                     vol_list_numbers *out, zb_error *err) {
    const struct h5_bare_lists *bare = bare_lists(lib, kind);
    if (!bare)
        return zb_fail(err, ZB_ENOMEM, "no memory for a creation list");
    *out = (vol_list_numbers){.kind = kind};
    for (size_t p = 0; p < PROPERTIES; p++) {
        const property *one = &properties[p];
        uint64_t *value = out->value[p];
        out->differs[p] = bare->of[kind][p].has && one->get(lib, list, value) &&
                          memcmp(value, bare->of[kind][p].value, sizeof(pair)) != 0 &&
                          can_print(one, value);
    }
    return ZB_OK;
}

void vol_list_properties_print(const vol_list_numbers *numbers, zb_json_writer *out, bool *any) {
    for (size_t p = 0; p < PROPERTIES; p++) {
        const property *one = &properties[p];
        const uint64_t *value = numbers->value[p];
        if (!numbers->differs[p])
            continue;
        *any = true;
        zb_json_write_name(out, one->name);
        if (one->count == TWO)
            zb_json_begin_array(out);
        for (unsigned i = 0; i < one->count; i++)
            print_number(one, value[i], out);
        if (one->count == TWO)
            zb_json_end_array(out);
    }
}

static bool parse_number(const property *of, const zb_json *json, uint64_t *out) {
    const char *word = zb_json_string(json);
    if (of->words && word) {
        for (*out = 0; *out <= of->most; ++*out)
            if (of->words[*out] && strcmp(of->words[*out], word) == 0)
                return true;
        return false;
    }
    if (!of->words && of->most == 1 && zb_json_kind_of(json) == ZB_JSON_BOOL) {
        *out = zb_json_bool(json);
        return true;
    }
    return !of->words && of->most > 1 && zb_json_uint64(json, out) && *out <= of->most;
}

static bool parse(const property *of, const zb_json *json, pair out) {
    if (of->count == ONE)
        return parse_number(of, json, &out[0]);
    const zb_json *first = zb_json_first(json);
    return zb_json_kind_of(json) == ZB_JSON_ARRAY && zb_json_count(json) == TWO &&
           parse_number(of, first, &out[0]) && parse_number(of, zb_json_next(first), &out[1]);
}

/* What HDF5 does not take leaves no error behind. */
void vol_list_properties_set(h5_lib *lib, hid_t list, const zb_json *object) {
    hid_t saved = object ? vol_stack_save(lib) : H5I_INVALID_HID;
    for (const property *one = properties; object && one < properties + PROPERTIES; one++) {
        pair value = {0, 0};
        const zb_json *json = zb_json_get(object, one->name);
        if (json && parse(one, json, value) && concerns(lib, list, one->kind))
            one->set(lib, list, value);
    }
    if (object)
        vol_stack_restore(lib, saved);
}

/* ---- Filters ---- */

static bool is_optional(const vol_filter *f, H5Z_filter_t id) {
    return f->id == id && f->flags == H5Z_FLAG_OPTIONAL;
}

static bool is_shown_deflate(const vol_filter *f) {
    return is_optional(f, H5Z_FILTER_DEFLATE) && f->count == 1;
}

/* None, deflate, and shuffle with deflate where blosc can shuffle the elements. */
bool vol_list_filters_are_shown(h5_lib *lib, hid_t dcpl, zb_dtype dtype) {
    const int count = lib->H5Pget_nfilters(dcpl);
    if (count < 1 || count > 2)
        return count < 1;
    const vol_filter first = vol_filter_at(lib, dcpl, 0);
    if (count == 1)
        return is_shown_deflate(&first);
    const vol_filter second = vol_filter_at(lib, dcpl, 1);
    return is_optional(&first, H5Z_FILTER_SHUFFLE) && is_shown_deflate(&second) && dtype.size > 1 &&
           dtype.size <= UINT8_MAX && !zb_dtype_is_variable(dtype);
}

static void print_filter(const vol_filter *f, zb_json_writer *out) {
    zb_json_begin_array(out);
    zb_json_write_int64(out, f->id);
    zb_json_write_uint64(out, f->flags);
    zb_json_begin_array(out);
    for (size_t i = 0; i < f->count; i++)
        zb_json_write_uint64(out, f->values[i]);
    zb_json_end_array(out);
    zb_json_end_array(out);
}

bool vol_list_filters_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any) {
    const int count = lib->H5Pget_nfilters(list);
    for (int i = 0; i < count; i++)
        if (vol_filter_at(lib, list, (unsigned)i).is_cut)
            return false;
    if (count <= 0)
        return true;
    *any = true;
    zb_json_write_name(out, VOL_LIST_FILTERS);
    zb_json_begin_array(out);
    for (int i = 0; i < count; i++) {
        const vol_filter f = vol_filter_at(lib, list, (unsigned)i);
        print_filter(&f, out);
    }
    zb_json_end_array(out);
    return true;
}

static bool parse_values(const zb_json *list, vol_filter *out) {
    uint64_t value;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) > VOL_FILTER_VALUES)
        return false;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        if (!zb_json_uint64(one, &value) || value > UINT32_MAX)
            return false;
        out->values[out->count++] = (unsigned)value;
    }
    return true;
}

static bool parse_filter(const zb_json *json, vol_filter *out) {
    uint64_t id, flags;
    const zb_json *first = zb_json_first(json), *second = first ? zb_json_next(first) : NULL;
    *out = (vol_filter){.count = 0};
    if (zb_json_kind_of(json) != ZB_JSON_ARRAY || zb_json_count(json) != 3 ||
        !zb_json_uint64(first, &id) || id == 0 || id > H5Z_FILTER_MAX ||
        !zb_json_uint64(second, &flags) || flags > H5Z_FLAG_OPTIONAL)
        return false;
    out->id = (H5Z_filter_t)id;
    out->flags = (unsigned)flags;
    return parse_values(zb_json_next(second), out);
}

static bool add_filter(h5_lib *lib, hid_t dcpl, const zb_json *json) {
    vol_filter f;
    return parse_filter(json, &f) && lib->H5Zfilter_avail(f.id) > 0 &&
           lib->H5Pset_filter(dcpl, f.id, f.flags, f.count, f.values) >= 0;
}

bool vol_list_filters_add(h5_lib *lib, hid_t list, const zb_json *kept) {
    if (zb_json_kind_of(kept) != ZB_JSON_ARRAY || zb_json_count(kept) == 0 ||
        zb_json_count(kept) > H5Z_MAX_NFILTERS)
        return false;
    bool good = true;
    for (const zb_json *one = zb_json_first(kept); good && one; one = zb_json_next(one))
        good = add_filter(lib, list, one);
    if (!good)
        lib->H5Premove_filter(list, H5Z_FILTER_ALL);
    return good;
}

/* ---- Shared messages ---- */

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
