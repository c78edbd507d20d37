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

/* For methods: `} catch (...) { return failed_entry<CPLErr>(); }`. Of other types than CPLErr it is
   what stands for nothing: NULL, false, an empty list. */
template <class Result> Result failed_entry() noexcept {
    report_exception();
    if constexpr (std::is_same_v<Result, CPLErr>)
        return CE_Failure;
    else
        return Result();
}

template <auto function> struct Entry;

template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Entry<function> {
    static Result call(Arguments... arguments) noexcept {
        try {
            return function(arguments...);
        } catch (...) {
            return failed_entry<Result>();
        }
    }
};

/* The function for GDALDriver: `driver->pfnOpen = entry<open>`. */
template <auto function> constexpr auto entry = &Entry<function>::call;

} // namespace zarr3

#endif
