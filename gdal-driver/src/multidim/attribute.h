/* SPDX-License-Identifier: MIT */
/*
 * An attribute of GDAL's multidimensional API. Its values are those of zb_value: numbers, texts and
 * nested lists of them. All else (objects, booleans, null, mixed lists) is shown as one text of
 * GDAL's subtype JSON; a text of that subtype is written as the JSON that it is.
 */
#ifndef ZARR3_ATTRIBUTE_H
#define ZARR3_ATTRIBUTE_H

#include "array/stated_texts.h"
#include "multidim/attribute_owner.h"

namespace zarr3 {

class Zarr3Attribute final : public GDALAttribute {
  public:
    static std::shared_ptr<Zarr3Attribute> make(const std::shared_ptr<AttributeOwner> &owner,
                                                const zb_json *member, const StatedTexts &texts);
    static std::shared_ptr<Zarr3Attribute> make_new(const std::shared_ptr<AttributeOwner> &owner,
                                                    const std::string &name,
                                                    const std::vector<GUInt64> &shape,
                                                    const GDALExtendedDataType &type,
                                                    std::string *reason);
    ~Zarr3Attribute() override;

    /* The owner has another name. */
    void follow_owner();

    /* True for one that was created, and that the store has not got. */
    bool is_created_only() const {
        return is_created_only_ && m_bValid;
    }
    /* Does nothing for any other. */
    bool store_created();

    const std::vector<std::shared_ptr<GDALDimension>> &GetDimensions() const override {
        return dimensions_;
    }
    const GDALExtendedDataType &GetDataType() const override {
        return type_;
    }
    bool Rename(const std::string &name) override;

  protected:
    bool IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
               const GPtrDiff_t *stride, const GDALExtendedDataType &type,
               void *data) const override;
    bool IWrite(const GUInt64 *start, const size_t *count, const GInt64 *step,
                const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                const void *data) override;

  private:
    Zarr3Attribute(const std::shared_ptr<AttributeOwner> &owner, const std::string &name,
                   const std::vector<GUInt64> &shape, const GDALExtendedDataType &type);
    bool is_text() const {
        return type_.GetClass() == GEDTC_STRING;
    }
    bool store();
    /* False, with an error reported, when the value cannot be kept. */
    bool add_to(const std::string &name, AttributeChanges *changes) const;
    std::string json() const;
    std::string element_json(size_t index) const;
    std::string list_json(size_t dim, size_t *next) const;

    std::shared_ptr<AttributeOwner> owner_;
    std::vector<std::shared_ptr<GDALDimension>> dimensions_;
    GDALExtendedDataType type_;
    size_t count_ = 1;
    bool is_created_only_ = false;
    std::vector<unsigned char> numbers_; /* count_ elements of type_ */
    std::vector<std::string> texts_;
};

} // namespace zarr3

#endif
