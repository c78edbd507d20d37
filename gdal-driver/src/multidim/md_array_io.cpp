/* SPDX-License-Identifier: MIT */
/*
 * Elements go straight between the program's memory and the core, by one call, wherever the core
 * converts as GDAL does: numbers without a loss, structs of numbers as they are. Else they pass
 * through memory of our own, in parts that bound it, and GDAL converts them.
 */
#include <algorithm>
#include <cstring>

#include "array/types.h"
#include "base/entry.h"
#include "base/errors.h"
#include "multidim/md_array.h"

#include "zarrbridge/values.h"

namespace zarr3 {

/* Of elements on their way through our memory. */
static constexpr uint64_t kPartBytes = uint64_t{64} << 20;

/* The core's type for the program's memory, where it needs no conversion by GDAL. */
std::optional<zb_dtype> Zarr3MDArray::direct_memory(const GDALExtendedDataType &type,
                                                    bool writing) const {
    const bool is_number =
        type.GetClass() == GEDTC_NUMERIC && type_->shown().GetClass() == GEDTC_NUMERIC;
    if (is_number) {
        const GDALDataType number = type.GetNumericDataType();
        const bool exact =
            writing ? writes_exactly(array_.node(), number) : reads_exactly(array_.node(), number);
        return exact ? std::optional(exchange_dtype(array_.node(), number)) : std::nullopt;
    }
    if (!type_->has_text() && type == type_->shown())
        return type_->memory();
    return std::nullopt;
}

/* The dimension to cut a request along: the first one with more than one element. */
static size_t cut_of(const Request &request) {
    size_t d = 0;
    while (d + 1 < request.box.count.size() && request.box.count[d] == 1)
        d++;
    return d;
}

static bool is_large(const Request &request, size_t element_size) {
    return request.elements() > std::max<uint64_t>(kPartBytes / element_size, 1);
}

/* Both halves of a request, by fn(part). */
template <class Fn> static bool in_halves(const Request &request, Fn fn) {
    const size_t d = cut_of(request);
    const uint64_t count = request.box.count[d], first = count / 2;
    return fn(request.part(d, 0, first)) && fn(request.part(d, first, count - first));
}

/* Calls fn(number of the first element in C order, the row's place in memory in elements) for each
   row along the last dimension. */
template <class Fn> static bool each_row(const Request &request, Fn fn) {
    const size_t ndim = request.box.count.size();
    const uint64_t length = ndim == 0 ? 1 : request.box.count[ndim - 1];
    std::vector<uint64_t> at(ndim, 0);
    const uint64_t total = request.elements();
    for (uint64_t done = 0; done < total; done += length) {
        int64_t place = request.first;
        for (size_t d = 0; d + 1 < ndim; d++)
            place += static_cast<int64_t>(at[d]) * request.strides[d];
        if (!fn(done, place, length))
            return false;
        for (size_t d = ndim < 2 ? 0 : ndim - 1; d-- > 0;) {
            if (++at[d] < request.box.count[d])
                break;
            at[d] = 0;
        }
    }
    return true;
}

static int64_t row_stride(const Request &request) {
    return request.strides.empty() ? 1 : request.strides.back();
}

static void refuse_value(const std::string &array, const std::string &reason) {
    CPLError(CE_Failure, CPLE_NotSupported, "array %s: %s", array.c_str(), reason.c_str());
}

/* Shown elements with text that is freed at the end. */
namespace {
class ShownElements {
  public:
    ShownElements(const GDALExtendedDataType &type, uint64_t count)
        : type_(type), data_(static_cast<size_t>(count) * type.GetSize()) {
    }
    ~ShownElements() {
        for (size_t i = 0; type_.NeedsFreeDynamicMemory() && i < data_.size(); i += type_.GetSize())
            type_.FreeDynamicMemory(&data_[i]);
    }
    ShownElements(const ShownElements &) = delete;
    ShownElements &operator=(const ShownElements &) = delete;

    char *at(uint64_t index) {
        return data_.data() + static_cast<size_t>(index) * type_.GetSize();
    }

  private:
    const GDALExtendedDataType &type_;
    std::vector<char> data_;
};
} // namespace

/* ---- Reading ---- */

bool Zarr3MDArray::read_direct(const Request &request, zb_dtype memory, size_t size,
                               void *data) const {
    zb_error err;
    char *first = static_cast<char *>(data) + request.first * static_cast<int64_t>(size);
    if (array_.read({{request.in_bytes(size), first}}, memory, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

bool Zarr3MDArray::read_converted(const Request &request, const GDALExtendedDataType &type,
                                  void *data) const {
    const zb_dtype memory = type_->memory();
    if (is_large(request, memory.size))
        return in_halves(request,
                         [&](const Request &part) { return read_converted(part, type, data); });
    zb_error err;
    zb_values *values = nullptr;
    if (zb_values_new(&values, &err) != ZB_OK) {
        report(err);
        return false;
    }
    const std::unique_ptr<zb_values, decltype(&zb_values_free)> owner(values, zb_values_free);
    Request dense = request;
    dense.strides = dense_strides(request.box);
    dense.first = 0;
    std::vector<char> elements(static_cast<size_t>(request.elements()) * memory.size);
    if (array_.read({{dense.in_bytes(memory.size), elements.data(), values}}, memory, &err) !=
        ZB_OK) {
        report(err);
        return false;
    }
    const size_t size = type.GetSize();
    return each_row(request, [&](uint64_t first, int64_t place, uint64_t length) {
        ShownElements shown(type_->shown(), type_->has_text() ? length : 0);
        const char *from = &elements[static_cast<size_t>(first) * memory.size];
        std::string reason;
        for (uint64_t i = 0; type_->has_text() && i < length; i++) {
            if (!type_->to_shown(from + i * memory.size, shown.at(i), &reason)) {
                refuse_value(m_osFullName, reason);
                return false;
            }
        }
        return GDALExtendedDataType::CopyValues(
            type_->has_text() ? shown.at(0) : from, type_->shown(), 1,
            static_cast<char *>(data) + place * static_cast<int64_t>(size), type,
            static_cast<GPtrDiff_t>(row_stride(request)), static_cast<size_t>(length));
    });
}

bool Zarr3MDArray::IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
                         const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                         void *data) const try {
    if (!CheckValidAndErrorOutIfNot())
        return false;
    const Request request = make_request(dimensions_.size(), start, count, step, stride);
    const std::optional<zb_dtype> memory = direct_memory(type, false);
    return memory ? read_direct(request, *memory, type.GetSize(), data)
                  : read_converted(request, type, data);
} catch (...) {
    return failed_entry<bool>();
}

/* ---- Writing ---- */

bool Zarr3MDArray::write_direct(const Request &request, zb_dtype memory, size_t size,
                                const void *data) {
    zb_error err;
    const char *first =
        static_cast<const char *>(data) + request.first * static_cast<int64_t>(size);
    if (array_.write(request.in_bytes(size), first, memory, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

bool Zarr3MDArray::write_converted(const Request &request, const GDALExtendedDataType &type,
                                   const void *data) {
    const zb_dtype memory = type_->memory();
    if (is_large(request, std::max<size_t>(memory.size, type_->shown().GetSize())))
        return in_halves(request,
                         [&](const Request &part) { return write_converted(part, type, data); });
    const uint64_t total = request.elements();
    const bool has_text = type_->has_text();
    const size_t size = type.GetSize();
    ShownElements shown(type_->shown(), total);
    std::vector<char> elements(has_text ? static_cast<size_t>(total) * memory.size : 0);
    const bool copied = each_row(request, [&](uint64_t first, int64_t place, uint64_t length) {
        return GDALExtendedDataType::CopyValues(
            static_cast<const char *>(data) + place * static_cast<int64_t>(size), type,
            static_cast<GPtrDiff_t>(row_stride(request)), shown.at(first), type_->shown(), 1,
            static_cast<size_t>(length));
    });
    std::string reason;
    for (uint64_t i = 0; copied && has_text && i < total; i++) {
        if (!type_->to_memory(shown.at(i), &elements[static_cast<size_t>(i) * memory.size],
                              &reason)) {
            refuse_value(m_osFullName, reason);
            return false;
        }
    }
    Request dense = request;
    dense.strides = dense_strides(request.box);
    dense.first = 0;
    return copied &&
           write_direct(dense, memory, memory.size, has_text ? elements.data() : shown.at(0));
}

bool Zarr3MDArray::IWrite(const GUInt64 *start, const size_t *count, const GInt64 *step,
                          const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                          const void *data) try {
    if (!CheckValidAndErrorOutIfNot() || !may_change())
        return false;
    if (!type_->is_writable()) {
        refuse_value(m_osFullName,
                     "text of a fixed length, and structs with text, are read and not written");
        return false;
    }
    if (!forget_statistics())
        return false;
    const Request request = make_request(dimensions_.size(), start, count, step, stride);
    const std::optional<zb_dtype> memory = direct_memory(type, true);
    const bool done = memory ? write_direct(request, *memory, type.GetSize(), data)
                             : write_converted(request, type, data);
    written_ += done ? request.elements() : 0;
    return done;
} catch (...) {
    return failed_entry<bool>();
}

/* ---- Copying ---- */

/* A copy of GDAL's that is not strict ends at the first part of the array that cannot be read or
   written, and calls that a success: the rest would read as fill values. */
bool Zarr3MDArray::CopyFrom(GDALDataset *dataset, const GDALMDArray *source, bool strict,
                            GUInt64 &cost, const GUInt64 total_cost, GDALProgressFunc progress,
                            void *progress_data) {
    written_ = 0;
    if (!GDALMDArray::CopyFrom(dataset, source, strict, cost, total_cost, progress, progress_data))
        return false;
    const auto *ours = dynamic_cast<const Zarr3MDArray *>(source);
    if (written_ == GetTotalElementsCount())
        return ours == nullptr || copy_hdf5_side(*ours, *this);
    CPLError(CE_Failure, CPLE_FileIO,
             "array %s: not all elements could be copied, as the message before says; nothing is "
             "kept of the copy: mend the source, or choose other arrays of it by -array",
             m_osFullName.c_str());
    return false;
}

} // namespace zarr3
