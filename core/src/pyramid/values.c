/* SPDX-License-Identifier: MIT */
/* What is done with the elements of an array. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "pyramid/resample.h"

static const char *const names[] = {"nearest", "average", "mode"};

const char *zb_resample_name(enum zb_resample method) {
    return names[method];
}

/* gdaladdo takes any name that begins with "near". */
enum zb_code zb_resample_from_name(const char *name, enum zb_resample *out, zb_error *err) {
    static const char *const others[] = {"rms",
                                         "gauss",
                                         "bilinear",
                                         "cubic",
                                         "cubicspline",
                                         "lanczos",
                                         "average_magphase",
                                         "none",
                                         "cubic_spline",
                                         "average_bit2grayscale"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) == 0 || (i == 0 && strncasecmp(name, "near", 4) == 0)) {
            *out = (enum zb_resample)i;
            return ZB_OK;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcasecmp(name, others[i]) == 0)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "the method %s is known to gdaladdo alone (gdaladdo -r %s); here are "
                           "nearest, average and mode",
                           others[i], others[i]);
    }
    return zb_fail(err, ZB_EINVAL, "there is no method '%.40s'; here are nearest, average and mode",
                   name);
}

static bool is_number(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT || dtype.kind == ZB_KIND_FLOAT ||
           dtype.kind == ZB_KIND_BOOL;
}

static bool has_value(zb_dtype dtype) {
    return is_number(dtype) || dtype.kind == ZB_KIND_COMPLEX || dtype.kind == ZB_KIND_DATETIME ||
           dtype.kind == ZB_KIND_TIMEDELTA;
}

static enum zb__work work_of(zb_dtype dtype) {
    if (dtype.size == 1 && dtype.kind != ZB_KIND_INT)
        return ZB__WORK_U8;
    if (dtype.size == 2 && dtype.kind == ZB_KIND_UINT)
        return ZB__WORK_U16;
    const bool is_narrow = dtype.size <= 2 || (dtype.kind == ZB_KIND_FLOAT && dtype.size == 4);
    return is_narrow ? ZB__WORK_F32 : ZB__WORK_F64;
}

static zb_dtype type_of(enum zb__work work) {
    switch (work) {
    case ZB__WORK_U8:
        return (zb_dtype){.kind = ZB_KIND_UINT, .size = 1};
    case ZB__WORK_U16:
        return (zb_dtype){.kind = ZB_KIND_UINT, .size = 2};
    case ZB__WORK_F32:
        return (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 4};
    default:
        return (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8};
    }
}

/* The largest number of an integer type, as a double. */
static double most_of(zb_dtype dtype) {
    const int bits = 8 * (int)dtype.size - (dtype.kind == ZB_KIND_INT);
    return bits > 53 ? ldexp(1, bits) : ldexp(1, bits) - 1;
}

/* The number beside nodata that stands for it where an average happens to be nodata. */
static double beside(double nodata, zb_dtype dtype) {
    if (!isfinite(nodata))
        return 0;
    if (dtype.kind == ZB_KIND_FLOAT && dtype.size == 8)
        return nodata == DBL_MAX ? nextafter(nodata, 0) : nextafter(nodata, DBL_MAX);
    if (dtype.kind == ZB_KIND_FLOAT)
        return (float)nodata == FLT_MAX ? nextafterf(FLT_MAX, 0)
                                        : nextafterf((float)nodata, FLT_MAX);
    const double most = most_of(dtype);
    if (nodata < most)
        return nodata + 1;
    return most > 9e15 ? nextafter(most, 0) : most - 1;
}

static enum zb_code refuse(const zb_node *array, const char *what, zb_error *err) {
    char name[128];
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "no levels by %s are made here of %s; gdaladdo may know how, and `nearest` is "
                   "always possible",
                   what, zb_dtype_print(zb_node_array(array)->dtype, name, sizeof name));
}

enum zb_code zb__plan_values(const zb_node *array, enum zb_resample method, zb__values_plan *out,
                             zb_error *err) {
    const zb_dtype dtype = zb_node_array(array)->dtype;
    *out = (zb__values_plan){
        .method = method, .work = ZB__WORK_BYTES, .stored = dtype, .read = dtype, .written = dtype};
    if (zb_dtype_is_variable(dtype))
        return zb_fail(err, ZB_EUNSUPPORTED, "no levels are made of elements of any length");
    if (method == ZB_RESAMPLE_NEAREST)
        return ZB_OK;
    if (method == ZB_RESAMPLE_MODE ? !has_value(dtype) : !is_number(dtype))
        return refuse(array, zb_resample_name(method), err);
    out->has_nodata = zb_array_nodata(array, dtype, out->nodata);
    if (out->has_nodata) {
        out->nodata_number = zb_element_to_double(out->nodata, dtype);
        out->replacement = beside(out->nodata_number, dtype);
    }
    if (method == ZB_RESAMPLE_MODE)
        return ZB_OK;
    out->work = work_of(dtype);
    out->written = type_of(out->work);
    out->read = out->work == ZB__WORK_F64 && dtype.size == 8 ? dtype : out->written;
    return ZB_OK;
}
