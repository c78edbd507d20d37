/* SPDX-License-Identifier: MIT */
/*
 * C++ that the core calls. The core is C: an exception that crossed its frames would end the
 * process, or leave its locks held. So each function that it is given is one of these:
 *
 * - `guarded<function>` makes an error of an exception. For the operations of a store, which run in
 *   the core's threads, too.
 * - `for_each_of` keeps an exception until the core has come back. For functions that the core
 *   calls for each of several things.
 */
#ifndef ZARR3_GUARD_H
#define ZARR3_GUARD_H

#include <exception>
#include <new>

#include "zarrbridge/sys/store.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* Where a call's error goes: the last argument, or the request's own. */
inline zb_error *error_of(zb_error *err) {
    return err;
}
inline zb_error *error_of(zb_fetch *fetch) {
    return &fetch->error;
}
template <class First, class Second, class... Rest>
zb_error *error_of(First, Second second, Rest... rest) {
    return error_of(second, rest...);
}

template <auto function> struct Guard;

template <class... Arguments, enum zb_code (*function)(Arguments...)> struct Guard<function> {
    static enum zb_code call(Arguments... arguments) noexcept {
        try {
            return function(arguments...);
        } catch (const std::bad_alloc &) {
            return zb_fail(error_of(arguments...), ZB_ENOMEM, "no memory for a call of GDAL");
        } catch (const std::exception &failure) {
            return zb_fail(error_of(arguments...), ZB_EIO, "%s", failure.what());
        }
    }
};

/* What ends something has nobody to tell. */
template <class... Arguments, void (*function)(Arguments...)> struct Guard<function> {
    static void call(Arguments... arguments) noexcept {
        try {
            function(arguments...);
        } catch (const std::exception &) {
        }
    }
};

template <auto function> constexpr auto guarded = &Guard<function>::call;

/* Has `each(fn, context)` call `note` with each item; what that has thrown comes out then. */
template <class Item, class Each, class Note>
enum zb_code for_each_of(const Each &each, const Note &note) {
    struct Visit {
        const Note &note;
        std::exception_ptr thrown;

        static int call(void *context, Item item) noexcept {
            Visit *visit = static_cast<Visit *>(context);
            try {
                visit->note(item);
            } catch (...) {
                visit->thrown = std::current_exception();
            }
            return visit->thrown != nullptr; /* the core stops then */
        }
    } visit = {note, nullptr};
    const enum zb_code code = each(Visit::call, &visit);
    if (visit.thrown != nullptr)
        std::rethrow_exception(visit.thrown);
    return code;
}

/* As zb_node_each and zb_group_names. */
template <class Note>
enum zb_code each_node(zb_hierarchy *hierarchy, const char *path, const Note &note, zb_error *err) {
    return for_each_of<const zb_entry *>(
        [&](zb_entry_fn fn, void *context) {
            return zb_node_each(hierarchy, path, fn, context, err);
        },
        note);
}
template <class Note>
enum zb_code each_name(const zb_node *group, const Note &note, zb_error *err) {
    return for_each_of<const char *>(
        [&](zb_name_fn fn, void *context) { return zb_group_names(group, fn, context, err); },
        note);
}

} // namespace zarr3

#endif
