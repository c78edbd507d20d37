/* SPDX-License-Identifier: MIT */
/*
 * The types of elements in GDAL's multidimensional API, and the form in which the core reads and
 * writes them: numbers, text, structs of both. GDAL's text is a pointer to memory that GDAL frees;
 * the core's is a slice, or bytes of a fixed size. Without text, both forms are the same bytes.
 */
#ifndef ZARR3_ELEMENT_TYPE_H
#define ZARR3_ELEMENT_TYPE_H

#include <memory>
#include <string>
#include <vector>

#include "base/compat.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

class ElementType {
  public:
    ElementType(const ElementType &) = delete;
    ElementType &operator=(const ElementType &) = delete;

    /* Of the elements of an array. Null, with *reason set, when GDAL has no type for them. */
    static std::unique_ptr<ElementType> of_array(const zb_node *array, std::string *reason);

    /* Of the elements of a new array, as they are stored. Likewise. */
    static std::unique_ptr<ElementType> stored_as(const GDALExtendedDataType &type,
                                                  std::string *reason);

    const GDALExtendedDataType &shown() const {
        return *shown_;
    }

    /* Lives as long as this. */
    zb_dtype memory() const {
        return memory_;
    }

    bool has_text() const {
        return has_text_;
    }
    /* False where the core only reads text of this kind. */
    bool is_writable() const {
        return writable_;
    }

    /* One element from the core's form to GDAL's, which owns its text then. False, with *reason
       set, for text that GDAL's cannot hold. */
    bool to_shown(const char *from, char *to, std::string *reason) const;

    /* The other way. Slices go on pointing at GDAL's text. False, with *reason set, for text that
       is too long. */
    bool to_memory(const char *from, char *to, std::string *reason) const;

  private:
    ElementType() = default;
    static std::unique_ptr<ElementType> of_dtype(zb_dtype dtype, std::string *reason);
    static std::unique_ptr<ElementType> of_struct(zb_dtype dtype, std::string *reason);
    static std::unique_ptr<ElementType> of_number(zb_dtype memory, GDALDataType type);
    static std::unique_ptr<ElementType> compound(const GDALExtendedDataType &type,
                                                 std::string *reason);
    void finish_struct(const std::string &name, bool packed);

    struct Field {
        std::string name;
        std::unique_ptr<ElementType> type;
        size_t shown_offset = 0;
    };

    std::unique_ptr<GDALExtendedDataType> shown_;
    zb_dtype memory_ = {};
    bool has_text_ = false, writable_ = true;
    std::vector<Field> fields_; /* of a struct */
    std::vector<zb_field> memory_fields_;
    zb_dtype_detail detail_ = {};
};

} // namespace zarr3

#endif
