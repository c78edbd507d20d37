/* SPDX-License-Identifier: MIT */
/* Owners of what the C functions of GDAL and of the core hand out. */
#ifndef ZARR3_HANDLES_H
#define ZARR3_HANDLES_H

#include <cstdlib>
#include <memory>
#include <string>

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
using Chain = std::unique_ptr<zb_chain, Release<zb_chain_free>>;
using Writer = std::unique_ptr<zb_writer, Release<zb_writer_abandon>>;

/* A file that goes with its owner. */
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {
    }
    ~TemporaryFile() {
        try {
            if (!path_.empty())
                VSIUnlink(path_.c_str());
        } catch (...) { /* without memory the file stays */
        }
    }
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

    const std::string &path() const {
        return path_;
    }
    /* It has another name, or is gone. */
    void keep() {
        path_.clear();
    }

  private:
    std::string path_;
};

} // namespace zarr3

#endif
