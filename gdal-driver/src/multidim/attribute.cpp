/* SPDX-License-Identifier: MIT */
#include "multidim/attribute.h"

#include <algorithm>
#include <cstring>

#include "array/attributes.h"
#include "array/hdf5_side.h"
#include "base/entry.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "multidim/request.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

/* Attributes are small; what is larger is no attribute. */
static constexpr uint64_t kMaxElements = uint64_t{1} << 24;

Zarr3Attribute::Zarr3Attribute(const std::shared_ptr<AttributeOwner> &owner,
                               const std::string &name, const std::vector<GUInt64> &shape,
                               const GDALExtendedDataType &type)
    : GDALAbstractMDArray(owner->attribute_parent(), name),
      GDALAttribute(owner->attribute_parent(), name), owner_(owner), type_(type) {
    for (size_t d = 0; d < shape.size(); d++) {
        dimensions_.push_back(
            std::make_shared<GDALDimension>("", "dim" + std::to_string(d), "", "", shape[d]));
        count_ *= static_cast<size_t>(shape[d]);
    }
    if (is_text())
        texts_.resize(count_);
    else
        numbers_.resize(count_ * type_.GetSize());
    owner_->note_held(this);
}

Zarr3Attribute::~Zarr3Attribute() {
    try {
        if (!store_created())
            owner_->note_loss();
    } catch (...) {
        report_exception();
        owner_->note_loss();
    }
    owner_->note_gone(this);
}

void Zarr3Attribute::follow_owner() {
    m_osFullName = owner_->attribute_parent() + "/" + m_osName;
}

/* ---- From JSON ---- */

/* Integers are Int32 where they all fit, as GDAL's other drivers have them. */
static GDALDataType number_type(const zb_value &value) {
    if (value.dtype.kind == ZB_KIND_FLOAT)
        return GDT_Float64;
    if (value.dtype.kind == ZB_KIND_UINT)
        return GDT_UInt64;
    const int64_t *numbers = static_cast<const int64_t *>(value.data);
    const bool fits = std::all_of(numbers, numbers + value.count, [](int64_t number) {
        return number >= INT32_MIN && number <= INT32_MAX;
    });
    return fits ? GDT_Int32 : GDT_Int64;
}

/* The texts of a list nested to any depth, in row-major order. */
static void add_texts(const zb_json *value, std::vector<std::string> *out) {
    if (zb_json_string(value) != nullptr)
        out->push_back(zb_json_string(value));
    for (const zb_json *item = zb_json_first(value); item != nullptr; item = zb_json_next(item))
        add_texts(item, out);
}

std::shared_ptr<Zarr3Attribute> Zarr3Attribute::make(const std::shared_ptr<AttributeOwner> &owner,
                                                     const zb_json *member,
                                                     const StatedTexts &texts) {
    const std::string name = zb_json_name(member);
    zb_value value = {};
    const bool parsed = zb_value_parse(member, &value);
    const std::vector<GUInt64> shape(value.shape, value.shape + (parsed ? value.ndim : 0));
    const bool is_list = zb_json_kind_of(member) == ZB_JSON_ARRAY;
    const bool are_numbers = parsed && value.kind == ZB_VALUE_NUMBERS && value.count > 0 &&
                             value.dtype.kind != ZB_KIND_BOOL;
    const bool has_texts = (are_numbers && texts.has(member, value)) ||
                           (parsed && value.kind == ZB_VALUE_TEXTS && value.count > 0 &&
                            (is_list ? value.ndim > 0 : zb_json_string(member) != nullptr));
    std::shared_ptr<Zarr3Attribute> made;
    if (are_numbers && !has_texts) {
        const GDALDataType type = number_type(value),
                           from = value.dtype.kind == ZB_KIND_FLOAT  ? GDT_Float64
                                  : value.dtype.kind == ZB_KIND_UINT ? GDT_UInt64
                                                                     : GDT_Int64;
        made.reset(new Zarr3Attribute(owner, name, shape, GDALExtendedDataType::Create(type)));
        GDALCopyWords64(value.data, from, 8, made->numbers_.data(), type,
                        GDALGetDataTypeSizeBytes(type), static_cast<GPtrDiff_t>(value.count));
    } else if (has_texts) {
        made.reset(new Zarr3Attribute(owner, name, shape, GDALExtendedDataType::CreateString()));
        made->texts_.clear();
        add_texts(member, &made->texts_);
    } else {
        made.reset(new Zarr3Attribute(owner, name, {},
                                      GDALExtendedDataType::CreateString(0, GEDTST_JSON)));
        made->texts_[0] = compact_json(member);
    }
    if (parsed)
        zb_value_clear(&value);
    made->SetSelf(made);
    return made;
}

std::shared_ptr<Zarr3Attribute>
Zarr3Attribute::make_new(const std::shared_ptr<AttributeOwner> &owner, const std::string &name,
                         const std::vector<GUInt64> &shape, const GDALExtendedDataType &type,
                         std::string *reason) {
    uint64_t count = 1;
    bool fits = shape.size() <= ZB_MAX_NDIM;
    for (const GUInt64 extent : shape)
        fits = fits && extent > 0 && !__builtin_mul_overflow(count, extent, &count) &&
               count <= kMaxElements;
    const bool is_number =
        type.GetClass() == GEDTC_NUMERIC && !GDALDataTypeIsComplex(type.GetNumericDataType());
    if (!fits || (!is_number && type.GetClass() != GEDTC_STRING)) {
        *reason = fits ? "attributes in a store are real numbers or text"
                       : "an attribute has 1 to " + std::to_string(kMaxElements) + " elements";
        return nullptr;
    }
    std::shared_ptr<Zarr3Attribute> made(new Zarr3Attribute(owner, name, shape, type));
    made->is_created_only_ = true;
    made->SetSelf(made);
    return made;
}

/* ---- To JSON ---- */

/* A float is written with the digits of the double that it is: every reader then has its value. */
std::string Zarr3Attribute::element_json(size_t index) const {
    if (is_text()) {
        if (type_.GetSubType() == GEDTST_JSON && parse_json(texts_[index]) != nullptr)
            return texts_[index];
        return json_quote(texts_[index]);
    }
    const GDALDataType type = type_.GetNumericDataType();
    const unsigned char *element = &numbers_[index * type_.GetSize()];
    if (type == GDT_UInt64) {
        uint64_t number;
        memcpy(&number, element, sizeof number);
        return std::to_string(number);
    }
    if (GDALDataTypeIsInteger(type)) {
        int64_t number;
        GDALCopyWords64(element, type, 0, &number, GDT_Int64, 0, 1);
        return std::to_string(number);
    }
    double number;
    GDALCopyWords64(element, type, 0, &number, GDT_Float64, 0, 1);
    return json_number(number);
}

std::string Zarr3Attribute::list_json(size_t dim, size_t *next) const {
    if (dim == dimensions_.size())
        return element_json((*next)++);
    std::vector<std::string> items;
    for (GUInt64 i = 0; i < dimensions_[dim]->GetSize(); i++)
        items.push_back(list_json(dim + 1, next));
    return json_list(items);
}

std::string Zarr3Attribute::json() const {
    size_t next = 0;
    return list_json(0, &next);
}

/* One that cannot be stored is not tried again: the program has been told. */
bool Zarr3Attribute::store() {
    is_created_only_ = false;
    AttributeChanges changes;
    return add_to(m_osName, &changes) && owner_->change(changes);
}

/* Members of the GDAL extension join those that the node has: a copy has got some by other calls.
   False where the value has none. */
static bool add_members(const std::string &value, AttributeChanges *changes) {
    const Json attributes = parse_json(json_object({{ZB_GDAL_EXTENSION, value}}));
    const GdalExtension extension = gdal_extension(attributes.get());
    bool any = false;
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS; i++) {
        const auto member = static_cast<enum zb_gdal_member>(i);
        const std::string said = compact_json(zb_gdal_extension_get(extension.get(), member));
        any = any || !said.empty();
        if (!said.empty())
            changes->set(member, said);
    }
    return any;
}

/* `_FillValue` is a number in all of its forms. */
bool Zarr3Attribute::add_to(const std::string &name, AttributeChanges *changes) const {
    const std::string value = json();
    if (name == ZB_GDAL_EXTENSION && add_members(value, changes))
        return true;
    const bool may_be_text = is_text() && type_.GetSubType() != GEDTST_JSON;
    changes->set(name, value);
    TextStatements texts(owner_->attributes_of());
    const bool is_stated = name == "_FillValue"
                               ? name == m_osName || texts.state(m_osName, "", false)
                               : texts.state(name, value, may_be_text, m_osName);
    texts.add_to(changes);
    if (is_stated)
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "%s: attribute %s: the text %s reads as a number, and its type cannot be kept: the "
             "attribute %s is of another program or version; choose another text",
             owner_->owner_name().c_str(), name.c_str(), value.c_str(), kHdf5Side);
    return false;
}

bool Zarr3Attribute::store_created() {
    return !is_created_only() || store();
}

/* ---- Values ---- */

/* Visits the elements of a part of the attribute: fn(index, place in memory in elements). */
template <class Fn>
static void each_element(const Request &request, const std::vector<int64_t> &own, Fn fn) {
    const std::vector<uint64_t> &count = request.box.count;
    std::vector<uint64_t> at(count.size(), 0);
    const uint64_t total = request.elements();
    for (uint64_t n = 0; n < total; n++) {
        int64_t index = 0, place = request.first;
        for (size_t d = 0; d < at.size(); d++) {
            index +=
                static_cast<int64_t>(request.box.start[d] + at[d] * request.box.step[d]) * own[d];
            place += static_cast<int64_t>(at[d]) * request.strides[d];
        }
        fn(static_cast<size_t>(index), place);
        for (size_t d = at.size(); d-- > 0;) {
            if (++at[d] < count[d])
                break;
            at[d] = 0;
        }
    }
}

/* The strides of the attribute's own elements. */
static std::vector<int64_t>
own_strides(const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    Box box;
    for (const auto &dimension : dimensions)
        box.count.push_back(dimension->GetSize());
    return dense_strides(box);
}

bool Zarr3Attribute::IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
                           const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                           void *data) const try {
    if (!CheckValidAndErrorOutIfNot())
        return false;
    const Request request = make_request(dimensions_.size(), start, count, step, stride);
    bool done = true;
    each_element(request, own_strides(dimensions_), [&](size_t index, int64_t place) {
        char *to = static_cast<char *>(data) + place * static_cast<int64_t>(type.GetSize());
        const char *text = is_text() ? texts_[index].c_str() : nullptr;
        const void *from =
            is_text() ? static_cast<const void *>(&text) : &numbers_[index * type_.GetSize()];
        done = GDALExtendedDataType::CopyValue(from, type_, to, type) && done;
    });
    return done;
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3Attribute::IWrite(const GUInt64 *start, const size_t *count, const GInt64 *step,
                            const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                            const void *data) try {
    if (!CheckValidAndErrorOutIfNot() || !may_change_attribute(*owner_, m_osName))
        return false;
    is_created_only_ = false; /* what cannot be written is not stored without a value, either */
    const Request request = make_request(dimensions_.size(), start, count, step, stride);
    bool done = true;
    each_element(request, own_strides(dimensions_), [&](size_t index, int64_t place) {
        const char *from =
            static_cast<const char *>(data) + place * static_cast<int64_t>(type.GetSize());
        if (!is_text()) {
            done = GDALExtendedDataType::CopyValue(from, type, &numbers_[index * type_.GetSize()],
                                                   type_) &&
                   done;
            return;
        }
        char *text = nullptr;
        done = GDALExtendedDataType::CopyValue(from, type, &text, type_) && done;
        const GdalText owner(text);
        const std::string given = text == nullptr ? "" : text;
        if (type_.GetSubType() == GEDTST_JSON && parse_json(given) == nullptr) {
            CPLError(CE_Failure, CPLE_IllegalArg, "%s: attribute %s: this is no JSON: %s",
                     owner_->owner_name().c_str(), m_osName.c_str(), given.c_str());
            done = false;
            return;
        }
        texts_[index] = given;
    });
    return done && store();
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3Attribute::Rename(const std::string &name) {
    if (!CheckValidAndErrorOutIfNot() || !may_change_attribute(*owner_, m_osName) ||
        !may_change_attribute(*owner_, name) || !store_created())
        return false;
    if (name.empty() || attribute(owner_->attributes_of(), name.c_str()) != nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s: attribute %s cannot be called '%s'",
                 owner_->owner_name().c_str(), m_osName.c_str(), name.c_str());
        return false;
    }
    AttributeChanges changes;
    changes.remove(m_osName);
    if (!add_to(name, &changes) || !owner_->change(changes))
        return false;
    BaseRename(name);
    return true;
}

} // namespace zarr3
