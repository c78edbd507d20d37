/* SPDX-License-Identifier: MIT */
#include "multidim/request.h"

namespace zarr3 {

Request make_request(size_t ndim, const GUInt64 *start, const size_t *count, const GInt64 *step,
                     const GPtrDiff_t *stride) {
    Request request;
    for (size_t d = 0; d < ndim; d++) {
        const bool is_single = count[d] == 1; /* its step and stride say nothing */
        const uint64_t last = count[d] - 1;
        uint64_t from = start[d], by = is_single ? 1 : static_cast<uint64_t>(step[d]);
        int64_t apart = is_single ? 0 : static_cast<int64_t>(stride[d]);
        if (!is_single && step[d] < 0) {
            by = 0 - by;
            from -= last * by;
            request.first += static_cast<int64_t>(last) * apart;
            apart = -apart;
        }
        request.box.start.push_back(from);
        request.box.count.push_back(count[d]);
        request.box.step.push_back(by);
        request.strides.push_back(apart);
    }
    return request;
}

Request Request::part(size_t dim, uint64_t start, uint64_t count) const {
    Request result = *this;
    result.box.start[dim] += start * box.step_along(dim);
    result.box.count[dim] = count;
    result.first += static_cast<int64_t>(start) * strides[dim];
    return result;
}

MemoryBox Request::in_bytes(size_t element_size) const {
    MemoryBox result = {box, strides};
    for (int64_t &stride : result.strides)
        stride *= static_cast<int64_t>(element_size);
    return result;
}

uint64_t Request::elements() const {
    uint64_t product = 1;
    for (const uint64_t count : box.count) {
        if (__builtin_mul_overflow(product, count, &product))
            return UINT64_MAX;
    }
    return product;
}

std::vector<int64_t> dense_strides(const Box &box) {
    std::vector<int64_t> strides(box.count.size());
    int64_t next = 1;
    for (size_t d = strides.size(); d-- > 0;) {
        strides[d] = next;
        next *= static_cast<int64_t>(box.count[d]);
    }
    return strides;
}

} // namespace zarr3
