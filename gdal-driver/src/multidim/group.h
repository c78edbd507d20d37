/* SPDX-License-Identifier: MIT */
/* A group of GDAL's multidimensional API. */
#ifndef ZARR3_GROUP_H
#define ZARR3_GROUP_H

#include <map>
#include <optional>
#include <set>

#include "multidim/attribute_owner.h"
#include "multidim/tree.h"

namespace zarr3 {

class Zarr3Group final : public GDALGroup, public AttributeOwner {
  public:
    /* node is null for the view of a single array. */
    static std::shared_ptr<Zarr3Group> make(const std::shared_ptr<Tree> &tree,
                                            const std::string &path, const NodePtr &node);

    /* Coordinates that no node holds (Zarr3Dimension::regular_variable), or null. None where the
       group's children cannot be listed. */
    std::shared_ptr<GDALMDArray> regular_variable(const std::string &name) const;

    void moved_to(const std::string &path);
    /* The node, or what is below it, was changed by another view. */
    void refresh();

    /* AttributeOwner */
    const zb_node *attributes_of() const override {
        return node_.get();
    }
    bool change(const AttributeChanges &changes) override;
    void note_loss() override {
        tree_->note_loss();
    }
    /* As in GDAL's other drivers: children cannot have the same name then. */
    std::string attribute_parent() const override {
        return (m_osFullName == "/" ? "" : m_osFullName) + "/_GLOBAL_";
    }
    std::string owner_name() const override {
        return m_osFullName;
    }

    /* GDALGroup */
    std::vector<std::string> GetMDArrayNames(CSLConstList options) const override;
    std::shared_ptr<GDALMDArray> OpenMDArray(const std::string &name,
                                             CSLConstList options) const override;
    std::vector<std::string> GetGroupNames(CSLConstList options) const override;
    std::shared_ptr<GDALGroup> OpenGroup(const std::string &name,
                                         CSLConstList options) const override;
    std::vector<std::shared_ptr<GDALDimension>> GetDimensions(CSLConstList options) const override;
    std::shared_ptr<GDALAttribute> GetAttribute(const std::string &name) const override;
    std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;

    std::shared_ptr<GDALAttribute> CreateAttribute(const std::string &name,
                                                   const std::vector<GUInt64> &shape,
                                                   const GDALExtendedDataType &type,
                                                   CSLConstList options) override;
    bool DeleteAttribute(const std::string &name, CSLConstList options) override;
    std::shared_ptr<GDALGroup> CreateGroup(const std::string &name, CSLConstList options) override;
    bool DeleteGroup(const std::string &name, CSLConstList options) override;
    std::shared_ptr<GDALDimension> CreateDimension(const std::string &name, const std::string &type,
                                                   const std::string &direction, GUInt64 size,
                                                   CSLConstList options) override;
    std::shared_ptr<GDALMDArray>
    CreateMDArray(const std::string &name,
                  const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                  const GDALExtendedDataType &type, CSLConstList options) override;
    bool DeleteMDArray(const std::string &name, CSLConstList options) override;
    bool CopyFrom(const std::shared_ptr<GDALGroup> &root, GDALDataset *dataset,
                  const std::shared_ptr<GDALGroup> &source, bool strict, GUInt64 &cost,
                  const GUInt64 total_cost, GDALProgressFunc progress, void *progress_data,
                  CSLConstList options) override;
    bool Rename(const std::string &name) override;
    void Deleted() override;

  private:
    Zarr3Group(const std::shared_ptr<Tree> &tree, const std::string &parent,
               const std::string &name, std::string path, NodePtr node);

    /* Its children as the store had them when they were asked for; null with an error reported. */
    struct Listing {
        std::map<std::string, NodePtr> arrays, groups;
        std::set<std::string> grid_mappings; /* arrays that only carry a CRS */
    };
    const Listing *listing() const;
    std::vector<std::shared_ptr<GDALMDArray>> regular_variables(const Listing &all) const;
    void forget_listing() const {
        listing_.reset();
    }
    bool may_change() const;
    bool delete_child(const std::string &name, bool is_array);
    std::shared_ptr<AttributeOwner> self() const;

    std::shared_ptr<Tree> tree_;
    std::string path_;
    NodePtr node_;
    mutable std::optional<Listing> listing_;
};

} // namespace zarr3

#endif
