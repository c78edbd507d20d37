/* SPDX-License-Identifier: MIT */
/* Owners of what the C functions of GDAL and of the core hand out. */
#ifndef ZARR3_HANDLES_H
#define ZARR3_HANDLES_H

#include <cstdlib>
#include <memory>

#include "cpl_string.h"
#include "cpl_vsi.h"
#include "zarrbridge/write.h"

namespace zarr3 {

template <auto release> struct Release {
    template <class T> void operator()(T *object) const {
        release(object);
    }
};

/* Of GDAL. */
template <class T> using VsiMemory = std::unique_ptr<T, Release<VSIFree>>;
using GdalText = VsiMemory<char>;
using GdalList = std::unique_ptr<char *, Release<CSLDestroy>>;
using FileHandle = std::unique_ptr<VSILFILE, Release<VSIFCloseL>>;

/* Of the core. A writer that is let go forgets what waits in it. */
using CoreText = std::unique_ptr<char, Release<std::free>>;
using Json = std::unique_ptr<zb_json, Release<zb_json_free>>;
using Writer = std::unique_ptr<zb_writer, Release<zb_writer_abandon>>;

} // namespace zarr3

#endif
