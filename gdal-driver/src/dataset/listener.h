/* SPDX-License-Identifier: MIT */
/*
 * Requests to a distant store of programs that want to hear of their progress, and may cancel them:
 * the core tells of it while servers are waited for. Local stores are fast enough for strips.h.
 */
#ifndef ZARR3_LISTENER_H
#define ZARR3_LISTENER_H

#include <algorithm>

#include "base/compat.h"

namespace zarr3 {

/* The caller's function. It never hears of less than before, though the core and GDAL both tell. */
class Listener {
  public:
    explicit Listener(const GDALRasterIOExtraArg &extra) : caller_(extra), extra_(extra) {
        extra_.pfnProgress = hear_gdal;
        extra_.pProgressData = this;
    }
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    /* What GDAL's own way of the request gets in place of the caller's. */
    GDALRasterIOExtraArg *extra() {
        return &extra_;
    }

    /* False when the request is cancelled. */
    bool tell(double done) {
        told_ = std::max(told_, std::min(done, 1.0));
        try {
            cancelled_ =
                cancelled_ || caller_.pfnProgress(told_, "", caller_.pProgressData) == FALSE;
        } catch (...) { /* the core calls this */
            cancelled_ = true;
        }
        return !cancelled_;
    }

  private:
    static int CPL_STDCALL hear_gdal(double done, const char *, void *listener) {
        return static_cast<Listener *>(listener)->tell(done) ? TRUE : FALSE;
    }

    GDALRasterIOExtraArg caller_, extra_;
    double told_ = 0;
    bool cancelled_ = false;
};

/* A part of a request, [from, to] of its progress, for a read of the core. */
struct ListenerPart {
    Listener *listener;
    double from, to;

    /* A zb_progress_fn. */
    static int hear(void *context, double done) {
        const ListenerPart *part = static_cast<const ListenerPart *>(context);
        return part->listener->tell(part->from + done * (part->to - part->from)) ? 0 : 1;
    }
};

/* What a caller has given with a request, for the part [from, to] of it; `extra` may be null. */
class ScaledExtra {
  public:
    ScaledExtra(const GDALRasterIOExtraArg *extra, double from, double to)
        : is_there_(extra != nullptr) {
        if (!is_there_)
            return;
        extra_ = *extra;
        extra_.bFloatingPointWindowValidity = FALSE;
        if (extra->pfnProgress == nullptr)
            return;
        scaled_ = GDALCreateScaledProgress(from, to, extra->pfnProgress, extra->pProgressData);
        extra_.pfnProgress = GDALScaledProgress;
        extra_.pProgressData = scaled_;
    }
    ~ScaledExtra() {
        if (scaled_ != nullptr)
            GDALDestroyScaledProgress(scaled_);
    }
    ScaledExtra(const ScaledExtra &) = delete;
    ScaledExtra &operator=(const ScaledExtra &) = delete;

    GDALRasterIOExtraArg *get() {
        return is_there_ ? &extra_ : nullptr;
    }

  private:
    bool is_there_;
    GDALRasterIOExtraArg extra_ = {};
    void *scaled_ = nullptr;
};

} // namespace zarr3

#endif
