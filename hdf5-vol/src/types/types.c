/* SPDX-License-Identifier: MIT */
/* Types in both directions: see types.h. */
#include "types/types.h"

#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/shown.h"

#include <stdlib.h>
#include <string.h>

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* ---- New types ---- */

static hid_t integer_id(const h5_lib *lib, zb_dtype dtype) {
    bool is_signed = dtype.kind == ZB_KIND_INT;
    switch (dtype.size) {
    case 1:
        return is_signed ? *lib->H5T_NATIVE_INT8_g : *lib->H5T_NATIVE_UINT8_g;
    case 2:
        return is_signed ? *lib->H5T_NATIVE_INT16_g : *lib->H5T_NATIVE_UINT16_g;
    case 4:
        return is_signed ? *lib->H5T_NATIVE_INT32_g : *lib->H5T_NATIVE_UINT32_g;
    default:
        return is_signed ? *lib->H5T_NATIVE_INT64_g : *lib->H5T_NATIVE_UINT64_g;
    }
}

static hid_t float_id(const h5_lib *lib, uint32_t size, bool little) {
    if (size == 4)
        return little ? *lib->H5T_IEEE_F32LE_g : *lib->H5T_IEEE_F32BE_g;
    return little ? *lib->H5T_IEEE_F64LE_g : *lib->H5T_IEEE_F64BE_g;
}

/* IEEE binary16, which HDF5 has under a name only since 1.14.4: sign bit 15, 5 exponent bits
   from bit 10 with bias 15, 10 mantissa bits. */
static hid_t new_float16(h5_lib *lib, bool little) {
    hid_t type = lib->H5Tcopy(float_id(lib, 4, little));
    if (lib->H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || lib->H5Tset_size(type, 2) < 0 ||
        lib->H5Tset_ebias(type, 15) < 0) {
        lib->H5Tclose(type);
        return -1;
    }
    return type;
}

/* The compound that h5py writes for complex numbers and recognises as such. */
static hid_t new_complex(h5_lib *lib, uint32_t size, bool little) {
    hid_t half = size == 4 ? new_float16(lib, little) : -1;
    hid_t part = size == 4 ? half : float_id(lib, size / 2, little);
    hid_t type = lib->H5Tcreate(H5T_COMPOUND, size);
    lib->H5Tinsert(type, "r", 0, part);
    lib->H5Tinsert(type, "i", size / 2, part);
    if (half >= 0)
        lib->H5Tclose(half);
    return type;
}

/* The enumeration that h5py writes for bool. */
static hid_t new_bool(h5_lib *lib) {
    static const int8_t no = 0, yes = 1;
    hid_t type = lib->H5Tenum_create(*lib->H5T_NATIVE_INT8_g);
    lib->H5Tenum_insert(type, "FALSE", &no);
    lib->H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

/* Without a NUL at the end when all bytes are used, as numpy has it. Bytes of an encoding that is
   not known are what h5py makes of numpy's: ASCII, to which HDF5 converts no UTF-8. */
static hid_t new_chars(h5_lib *lib, zb_dtype dtype) {
    hid_t type = vol_type_fixed_text(lib, dtype.size);
    if (vol_shown_is_utf8(dtype))
        lib->H5Tset_cset(type, H5T_CSET_UTF8);
    lib->H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static hid_t new_compound(h5_lib *lib, zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    hid_t type = lib->H5Tcreate(H5T_COMPOUND, dtype.size);
    for (size_t i = 0; i < count && type >= 0; i++) {
        hid_t member = vol_type_new(lib, fields[i].dtype);
        herr_t result = lib->H5Tinsert(type, fields[i].name, fields[i].offset, member);
        if (member >= 0)
            lib->H5Tclose(member);
        if (result < 0) {
            lib->H5Tclose(type);
            type = -1;
        }
    }
    return type;
}

static bool has_text(h5_lib *lib, hid_t type) {
    const H5T_class_t class = lib->H5Tget_class(type);
    bool has = class == H5T_STRING;
    const int count = class == H5T_COMPOUND ? lib->H5Tget_nmembers(type) : 0;
    for (int i = 0; i < count && !has; i++) {
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        has = member >= 0 && has_text(lib, member);
        if (member >= 0)
            lib->H5Tclose(member);
    }
    return has;
}

/* One member; members are found by their names, as HDF5's conversion does it. */
static void insert_like(h5_lib *lib, hid_t made, hid_t type, unsigned i, hid_t like) {
    char *name = lib->H5Tget_member_name(type, i);
    const int index = name && like >= 0 ? lib->H5Tget_member_index(like, name) : -1;
    hid_t of = index >= 0 ? lib->H5Tget_member_type(like, (unsigned)index) : -1;
    hid_t old = lib->H5Tget_member_type(type, i);
    hid_t member = vol_type_like(lib, old, of);
    lib->H5Tinsert(made, name ? name : "", lib->H5Tget_member_offset(type, i), member);
    const hid_t ids[] = {member, old, of};
    for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
        if (ids[k] >= 0)
            lib->H5Tclose(ids[k]);
    lib->H5free_memory(name);
}

hid_t vol_type_like(h5_lib *lib, hid_t type, hid_t like) {
    if (!has_text(lib, type))
        return lib->H5Tcopy(type);
    if (lib->H5Tget_class(type) == H5T_COMPOUND) {
        const bool is_compound = like >= 0 && lib->H5Tget_class(like) == H5T_COMPOUND;
        hid_t made = lib->H5Tcreate(H5T_COMPOUND, lib->H5Tget_size(type));
        for (int i = 0; i < lib->H5Tget_nmembers(type); i++)
            insert_like(lib, made, type, (unsigned)i, is_compound ? like : -1);
        return made;
    }
    hid_t made = lib->H5Tcopy(type);
    if (like >= 0 && lib->H5Tget_class(like) == H5T_STRING)
        lib->H5Tset_cset(made, lib->H5Tget_cset(like));
    return made;
}

/* The ids are new ones: callers of H5Dget_type and H5Aget_type close theirs. */
hid_t vol_type_new(h5_lib *lib, zb_dtype dtype) {
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        return new_bool(lib);
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
        return lib->H5Tcopy(integer_id(lib, dtype));
    case ZB_KIND_FLOAT:
        if (dtype.size == 2)
            return new_float16(lib, host_is_little);
        return lib->H5Tcopy(float_id(lib, dtype.size, host_is_little));
    case ZB_KIND_COMPLEX:
        return new_complex(lib, dtype.size, host_is_little);
    case ZB_KIND_STRUCT:
        return new_compound(lib, dtype);
    case ZB_KIND_CHARS:
        return new_chars(lib, dtype);
    case ZB_KIND_STRING:
        return vol_type_text(lib);
    case ZB_KIND_BYTES:
        return lib->H5Tvlen_create(*lib->H5T_NATIVE_UINT8_g);
    default:                                           /* raw bytes: others show as another kind */
        return lib->H5Tcreate(H5T_OPAQUE, dtype.size); /* untagged: h5py reads no other */
    }
}

hid_t vol_type_fixed_text(h5_lib *lib, size_t size) {
    hid_t type = lib->H5Tcopy(*lib->H5T_C_S1_g);
    lib->H5Tset_size(type, size);
    return type;
}

hid_t vol_type_text(h5_lib *lib) {
    hid_t type = vol_type_fixed_text(lib, H5T_VARIABLE);
    lib->H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

hid_t vol_type_json_text(h5_lib *lib) {
    hid_t type = vol_type_text(lib);
    lib->H5Tset_strpad(type, H5T_STR_SPACEPAD);
    return type;
}

bool vol_type_is_json_text(h5_lib *lib, hid_t type) {
    return lib->H5Tis_variable_str(type) > 0 && lib->H5Tget_strpad(type) == H5T_STR_SPACEPAD &&
           lib->H5Tget_cset(type) == H5T_CSET_UTF8;
}

/* ---- Recognising memory types ---- */

static hid_t new_type(h5_lib *lib, enum h5_cached_type which) {
    switch (which) {
    case H5_CACHED_F16LE:
    case H5_CACHED_F16BE:
        return new_float16(lib, which == H5_CACHED_F16LE);
    case H5_CACHED_C64LE:
    case H5_CACHED_C64BE:
        return new_complex(lib, 8, which == H5_CACHED_C64LE);
    case H5_CACHED_C128LE:
    case H5_CACHED_C128BE:
        return new_complex(lib, 16, which == H5_CACHED_C128LE);
    case H5_CACHED_BOOL:
    case H5_CACHED_COUNT:
        break;
    }
    return new_bool(lib);
}

/* Making a compound costs more than comparing with one, and reads compare each time. */
static bool is_type(h5_lib *lib, hid_t type, enum h5_cached_type which) {
    vol_held_type *held = &lib->cached_types[which];
    if (!held->bytes) {
        hid_t made = new_type(lib, which);
        vol_type_hold(lib, made, held);
        lib->H5Tclose(made);
    }
    return vol_held_is(lib, held, type);
}

/* Types with padding bits are left to HDF5. */
static bool integer_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    size_t size = dtype->size;
    if ((size != 1 && size != 2 && size != 4 && size != 8) ||
        lib->H5Tget_precision(type) != 8 * size || lib->H5Tget_offset(type) != 0)
        return false;
    dtype->kind = lib->H5Tget_sign(type) == H5T_SGN_NONE ? ZB_KIND_UINT : ZB_KIND_INT;
    dtype->swapped = size > 1 && (lib->H5Tget_order(type) == H5T_ORDER_LE) != host_is_little;
    return true;
}

/* Any other layout of the same size (bfloat16, VAX) is left to HDF5. */
static bool float_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    if (dtype->size != 2 && dtype->size != 4 && dtype->size != 8)
        return false;
    bool little = lib->H5Tget_order(type) == H5T_ORDER_LE;
    dtype->kind = ZB_KIND_FLOAT;
    dtype->swapped = little != host_is_little;
    return dtype->size == 2 ? is_type(lib, type, little ? H5_CACHED_F16LE : H5_CACHED_F16BE)
                            : lib->H5Tequal(type, float_id(lib, dtype->size, little)) > 0;
}

static bool half_complex_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    bool good = false;
    dtype->kind = ZB_KIND_COMPLEX;
    for (int swapped = 0; swapped < 2 && !good; swapped++) {
        dtype->swapped = swapped;
        hid_t half = new_complex(lib, 4, host_is_little != swapped);
        good = lib->H5Tequal(type, half) > 0;
        lib->H5Tclose(half);
    }
    return good;
}

static bool compound_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    if (dtype->size == 4)
        return half_complex_to_dtype(lib, type, dtype);
    if ((dtype->size != 8 && dtype->size != 16) || lib->H5Tget_nmembers(type) != 2)
        return false;
    bool wide = dtype->size == 16;
    dtype->kind = ZB_KIND_COMPLEX;
    dtype->swapped = !host_is_little;
    if (is_type(lib, type, wide ? H5_CACHED_C128LE : H5_CACHED_C64LE))
        return true;
    dtype->swapped = host_is_little;
    return is_type(lib, type, wide ? H5_CACHED_C128BE : H5_CACHED_C64BE);
}

/* HDF5 2.x has complex numbers of its own, laid out like the compound. */
static bool complex_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    hid_t part = lib->H5Tget_super(type);
    zb_dtype of_part = {.size = dtype->size / 2};
    bool good = part >= 0 && dtype->size >= 8 && float_to_dtype(lib, part, &of_part);
    if (part >= 0)
        lib->H5Tclose(part);
    dtype->kind = ZB_KIND_COMPLEX;
    dtype->swapped = of_part.swapped;
    return good;
}

bool vol_type_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    size_t size = lib->H5Tget_size(type);
    if (size == 0 || size > UINT32_MAX)
        return false;
    *dtype = (zb_dtype){.size = (uint32_t)size};
    const int class = lib->H5Tget_class(type);
    if (class == H5_CLASS_COMPLEX)
        return complex_to_dtype(lib, type, dtype);
    switch (class) {
    case H5T_INTEGER:
        return integer_to_dtype(lib, type, dtype);
    case H5T_FLOAT:
        return float_to_dtype(lib, type, dtype);
    case H5T_COMPOUND:
        return compound_to_dtype(lib, type, dtype);
    case H5T_ENUM:
        dtype->kind = ZB_KIND_BOOL;
        return is_type(lib, type, H5_CACHED_BOOL);
    default:
        return false;
    }
}

/* ---- Types of new datasets ---- */

/* Those of the floats of few bits that have the numbers, infinities and NaNs of IEEE's rules: HDF5
   describes no others. */
bool vol_type_to_small(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    static const struct {
        const char *name;
        size_t size, exponent, mantissa, bias;
    } formats[] = {{"bfloat16", 2, 8, 7, 127},
                   {"float8_e3m4", 1, 3, 4, 3},
                   {"float8_e4m3", 1, 4, 3, 7},
                   {"float8_e5m2", 1, 5, 2, 15}};
    size_t sign, exponent_at, exponent, mantissa_at, mantissa;
    const size_t size = lib->H5Tget_size(type);
    if (lib->H5Tget_class(type) != H5T_FLOAT || size > 2 ||
        lib->H5Tget_norm(type) != H5T_NORM_IMPLIED ||
        lib->H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0)
        return false;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].size != size || formats[i].exponent != exponent ||
            formats[i].mantissa != mantissa || formats[i].bias != lib->H5Tget_ebias(type) ||
            sign != 8 * size - 1 || exponent_at != mantissa || mantissa_at != 0)
            continue;
        zb_dtype_from_name(formats[i].name, dtype);
        dtype->swapped = size > 1 && (lib->H5Tget_order(type) == H5T_ORDER_LE) != host_is_little;
        return true;
    }
    return false;
}

bool vol_type_has_pointers(h5_lib *lib, hid_t type) {
    const H5T_class_t class = lib->H5Tget_class(type);
    bool has = class == H5T_VLEN || class == H5T_REFERENCE || lib->H5Tis_variable_str(type) > 0;
    const int count = class == H5T_COMPOUND ? lib->H5Tget_nmembers(type) : 0;
    for (int i = 0; i < count && !has; i++) {
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        has = member < 0 || vol_type_has_pointers(lib, member);
        if (member >= 0)
            lib->H5Tclose(member);
    }
    if (class != H5T_ARRAY)
        return has;
    hid_t base = lib->H5Tget_super(type);
    has = base < 0 || vol_type_has_pointers(lib, base);
    if (base >= 0)
        lib->H5Tclose(base);
    return has;
}

bool vol_type_is_reference(h5_lib *lib, hid_t type, hid_t kind) {
    if (lib->H5Tequal(type, kind) > 0)
        return true;
    hid_t copy = lib->H5Tget_class(type) == H5T_REFERENCE ? lib->H5Tcopy(type) : -1;
    const bool same = copy >= 0 && lib->H5Tequal(copy, kind) > 0;
    vol_release_id(lib, copy);
    return same;
}

size_t vol_type_item(h5_lib *lib, hid_t type) {
    if (lib->H5Tget_class(type) != H5T_VLEN)
        return 0;
    hid_t of = lib->H5Tget_super(type);
    const size_t size = of >= 0 && !vol_type_has_pointers(lib, of) ? lib->H5Tget_size(of) : 0;
    if (of >= 0)
        lib->H5Tclose(of);
    return size;
}

bool vol_type_same(h5_lib *lib, hid_t a, hid_t b) {
    return lib->H5Tequal(a, b) > 0 &&
           (lib->H5Tis_variable_str(a) <= 0 || (lib->H5Tget_cset(a) == lib->H5Tget_cset(b) &&
                                                lib->H5Tget_strpad(a) == lib->H5Tget_strpad(b)));
}

bool vol_type_shows(h5_lib *lib, hid_t type, zb_dtype stored) {
    zb_dtype shown;
    stored.swapped = false;
    if (!vol_shown_new(stored, &shown))
        return false;
    hid_t made = vol_type_new(lib, shown);
    const bool same = made >= 0 && vol_type_same(lib, made, type);
    vol_release_id(lib, made);
    vol_shown_free(shown);
    return same;
}

hid_t vol_type_double(h5_lib *lib) {
    return float_id(lib, sizeof(double), host_is_little);
}

void *vol_vlen_alloc(h5_lib *lib, hid_t dxpl, size_t size) {
    H5MM_allocate_t allocate = NULL;
    H5MM_free_t release = NULL;
    void *allocate_info = NULL, *release_info = NULL;
    if (dxpl != *lib->H5P_LST_DATASET_XFER_ID_g)
        lib->H5Pget_vlen_mem_manager(dxpl, &allocate, &allocate_info, &release, &release_info);
    return allocate ? allocate(size, allocate_info) : malloc(size);
}

void vol_vlen_free(h5_lib *lib, hid_t dxpl, void *data) {
    H5MM_allocate_t allocate = NULL;
    H5MM_free_t release = NULL;
    void *allocate_info = NULL, *release_info = NULL;
    lib->H5Pget_vlen_mem_manager(dxpl, &allocate, &allocate_info, &release, &release_info);
    if (!data || !release)
        free(data);
    else
        release(data, release_info);
}

/* ---- Predefined numbers ---- */

struct h5_numbers {
    size_t count;
    struct {
        hid_t id;
        zb_dtype dtype;
    } number[H5_NUMBER_COUNT];
};

/* Made on first use, freed when the library shuts down: it gives out other ids when it starts
   again. */
static const struct h5_numbers *numbers_of(h5_lib *lib) {
    if (lib->numbers)
        return lib->numbers;
#define F(name) *lib->name,
    const hid_t ids[] = {H5_NUMBER_IDS(F)};
#undef F
    struct h5_numbers *made = calloc(1, sizeof *made);
    for (size_t i = 0; made && i < H5_NUMBER_COUNT; i++) {
        made->number[made->count].id = ids[i];
        made->count += vol_type_to_dtype(lib, ids[i], &made->number[made->count].dtype);
    }
    return lib->numbers = made;
}

bool vol_number_known(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    const struct h5_numbers *known = numbers_of(lib);
    for (size_t i = 0; known && i < known->count; i++)
        if (known->number[i].id == type) {
            *dtype = known->number[i].dtype;
            return true;
        }
    return false;
}

/* Types that are the same number have the same properties, so that the first one stands for all. */
bool vol_number_is(h5_lib *lib, hid_t type, zb_dtype number) {
    const struct h5_numbers *known = numbers_of(lib);
    for (size_t i = 0; known && i < known->count; i++) {
        const zb_dtype *dtype = &known->number[i].dtype;
        if (dtype->kind == number.kind && dtype->size == number.size &&
            dtype->swapped == number.swapped)
            return lib->H5Tequal(type, known->number[i].id) > 0;
    }
    return false;
}
