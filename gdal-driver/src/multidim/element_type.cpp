/* SPDX-License-Identifier: MIT */
#include "multidim/element_type.h"

#include <cstring>

#include "array/types.h"

namespace zarr3 {

static size_t aligned(size_t offset, size_t size) {
    const size_t alignment = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    return (offset + alignment - 1) / alignment * alignment;
}

std::unique_ptr<ElementType> ElementType::of_number(zb_dtype memory, GDALDataType type) {
    std::unique_ptr<ElementType> result(new ElementType);
    result->memory_ = memory;
    result->shown_ = std::make_unique<GDALExtendedDataType>(GDALExtendedDataType::Create(type));
    return result;
}

/* Offsets of the fields, with room between them unless `packed`, and the type of them all. */
void ElementType::finish_struct(const std::string &name, bool packed) {
    std::vector<std::unique_ptr<GDALEDTComponent>> components;
    size_t memory_end = 0, shown_end = 0;
    for (Field &field : fields_) {
        const zb_dtype memory = field.type->memory_;
        const size_t size = field.type->shown_->GetSize();
        memory_end = packed ? memory_end : aligned(memory_end, memory.size);
        shown_end = aligned(shown_end, size);
        field.shown_offset = shown_end;
        memory_fields_.push_back({field.name.c_str(), static_cast<uint32_t>(memory_end), memory});
        components.push_back(
            std::make_unique<GDALEDTComponent>(field.name, shown_end, *field.type->shown_));
        memory_end += memory.size;
        shown_end += size;
        has_text_ = has_text_ || field.type->has_text_;
        writable_ = writable_ && field.type->writable_;
    }
    memory_end = packed ? memory_end : aligned(memory_end, 8);
    shown_end = aligned(shown_end, 8);
    detail_.fields = memory_fields_.data();
    detail_.field_count = memory_fields_.size();
    memory_ = {ZB_KIND_STRUCT, static_cast<uint32_t>(memory_end), false, &detail_};
    shown_ = std::make_unique<GDALExtendedDataType>(
        GDALExtendedDataType::Create(name, shown_end, std::move(components)));
}

std::unique_ptr<ElementType> ElementType::of_struct(zb_dtype dtype, std::string *reason) {
    std::unique_ptr<ElementType> result(new ElementType);
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    for (size_t i = 0; i < count; i++) {
        std::unique_ptr<ElementType> type = of_dtype(fields[i].dtype, reason);
        if (type == nullptr)
            return nullptr;
        result->fields_.push_back({fields[i].name, std::move(type), 0});
    }
    result->finish_struct("", false);
    return result;
}

/* The core makes UTF-8 of code points, in as many bytes as they take; one more ends the text. */
std::unique_ptr<ElementType> ElementType::of_dtype(zb_dtype dtype, std::string *reason) {
    if (dtype.kind == ZB_KIND_STRUCT)
        return of_struct(dtype, reason);
    if (dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_CHARS ||
        dtype.kind == ZB_KIND_UTF32) {
        std::unique_ptr<ElementType> result(new ElementType);
        const bool is_fixed = dtype.kind != ZB_KIND_STRING;
        result->memory_ =
            is_fixed ? zb_dtype{ZB_KIND_CHARS, dtype.size + 1, false, nullptr} : dtype;
        result->has_text_ = true;
        result->writable_ = dtype.kind == ZB_KIND_STRING;
        result->shown_ = std::make_unique<GDALExtendedDataType>(
            GDALExtendedDataType::CreateString(is_fixed ? dtype.size : 0));
        return result;
    }
    const GDALDataType type = gdal_type(shown_dtype(dtype));
    if (type != GDT_Unknown)
        return of_number(memory_dtype(type), type);
    char name[200];
    *reason = std::string("GDAL has no type for ") + zb_dtype_print(dtype, name, sizeof name);
    return nullptr;
}

std::unique_ptr<ElementType> ElementType::of_array(const zb_node *array, std::string *reason) {
    const GDALDataType type = pixel_type(array);
    if (type != GDT_Unknown)
        return of_number(exchange_dtype(array, type), type);
    return of_dtype(zb_node_array(array)->dtype, reason);
}

/* ---- New arrays ---- */

std::unique_ptr<ElementType> ElementType::compound(const GDALExtendedDataType &type,
                                                   std::string *reason) {
    std::unique_ptr<ElementType> result(new ElementType);
    for (const auto &component : type.GetComponents()) {
        std::unique_ptr<ElementType> field = stored_as(component->GetType(), reason);
        if (field != nullptr && field->has_text_) {
            *reason = "the field " + component->GetName() + " is text, which structs cannot have";
            return nullptr;
        }
        if (field == nullptr)
            return nullptr;
        result->fields_.push_back({component->GetName(), std::move(field), 0});
    }
    result->finish_struct(type.GetName(), true);
    return result;
}

std::unique_ptr<ElementType> ElementType::stored_as(const GDALExtendedDataType &type,
                                                    std::string *reason) {
    if (type.GetClass() == GEDTC_STRING)
        return of_dtype({ZB_KIND_STRING, sizeof(zb_slice), false, nullptr}, reason);
    if (type.GetClass() == GEDTC_COMPOUND)
        return compound(type, reason);
    const GDALDataType number = type.GetNumericDataType();
    const zb_dtype dtype = memory_dtype(number);
    if (dtype.size > 0)
        return of_number(dtype, number);
    *reason = std::string("GDAL's type ") + GDALGetDataTypeName(number) + " has no Zarr form";
    return nullptr;
}

/* ---- Elements ---- */

bool ElementType::to_shown(const char *from, char *to, std::string *reason) const {
    if (!has_text_) { /* the same bytes */
        memcpy(to, from, shown_->GetSize());
        return true;
    }
    if (memory_.kind == ZB_KIND_STRUCT) {
        memset(to, 0, shown_->GetSize());
        for (size_t i = 0; i < fields_.size(); i++) {
            if (!fields_[i].type->to_shown(from + memory_fields_[i].offset,
                                           to + fields_[i].shown_offset, reason)) {
                shown_->FreeDynamicMemory(to);
                return false;
            }
        }
        return true;
    }
    zb_slice slice = {from, strnlen(from, memory_.size)};
    if (memory_.kind == ZB_KIND_STRING)
        memcpy(&slice, from, sizeof slice);
    if (slice.size > 0 && memchr(slice.data, '\0', slice.size) != nullptr) {
        *reason = "a text holds a NUL, which GDAL's texts cannot";
        return false;
    }
    char *text = static_cast<char *>(VSI_MALLOC_VERBOSE(slice.size + 1));
    if (text == nullptr) {
        *reason = "no memory for a text";
        return false;
    }
    if (slice.size > 0)
        memcpy(text, slice.data, slice.size);
    text[slice.size] = '\0';
    memcpy(to, &text, sizeof text);
    return true;
}

bool ElementType::to_memory(const char *from, char *to, std::string *reason) const {
    if (!has_text_) {
        memcpy(to, from, shown_->GetSize());
        return true;
    }
    if (memory_.kind != ZB_KIND_STRING) {
        *reason = "text of a fixed length, and structs with text, are read and not written";
        return false;
    }
    const char *text;
    memcpy(&text, from, sizeof text);
    const zb_slice slice = {text, text == nullptr ? 0 : strlen(text)};
    memcpy(to, &slice, sizeof slice);
    return true;
}

} // namespace zarr3
