/* SPDX-License-Identifier: MIT */
/*
 * Functions of the driver that GDAL calls. Behind GDAL stand programs in C and in other languages,
 * which an exception would end: it becomes a reported error. (What the core calls: guard.h.)
 */
#ifndef ZARR3_ENTRY_H
#define ZARR3_ENTRY_H

#include <type_traits>

#include "cpl_error.h"

namespace zarr3 {

/* Of the exception that is being handled. */
void report_exception() noexcept;

/* What fn() returns; `failed`, with the error reported, when it throws. */
template <class Result, class Fn> Result entered(Result failed, const Fn &fn) noexcept {
    try {
        return fn();
    } catch (...) {
        report_exception();
        return failed;
    }
}

/* For methods: `} catch (...) { return failed_entry(); }`. */
inline CPLErr failed_entry() noexcept {
    report_exception();
    return CE_Failure;
}

template <auto function> struct Entry;

template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Entry<function> {
    static Result call(Arguments... arguments) noexcept {
        if constexpr (std::is_same_v<Result, CPLErr>)
            return entered(CE_Failure, [&] { return function(arguments...); });
        else /* NULL or FALSE */
            return entered(Result(), [&] { return function(arguments...); });
    }
};

/* The function for GDALDriver: `driver->pfnOpen = entry<open>`. */
template <auto function> constexpr auto entry = &Entry<function>::call;

} // namespace zarr3

#endif
