/* SPDX-License-Identifier: MIT */
/* Changes of a group: its attributes, its children and its name. All are stored at once. */
#include "base/entry.h"
#include "base/errors.h"
#include "dataset/levels.h"
#include "geo/group_place.h"
#include "multidim/dimension.h"
#include "multidim/group.h"
#include "multidim/md_array.h"
#include "multidim/new_md_array.h"

#include "zarrbridge/change.h"

namespace zarr3 {

bool Zarr3Group::may_change() const {
    if (!CheckValidAndErrorOutIfNot() || !tree_->may_write(m_osFullName))
        return false;
    if (node_ != nullptr)
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "%s: an array was opened by its own name; open its group to change that",
             tree_->filename().c_str());
    return false;
}

bool Zarr3Group::change(const AttributeChanges &changes) {
    if (!may_change())
        return false;
    zb_error err;
    if (changes.apply(&node_, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

std::shared_ptr<GDALAttribute> Zarr3Group::CreateAttribute(const std::string &name,
                                                           const std::vector<GUInt64> &shape,
                                                           const GDALExtendedDataType &type,
                                                           CSLConstList) try {
    return may_change() ? create_attribute(self(), name, shape, type) : nullptr;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALAttribute>>();
}

bool Zarr3Group::DeleteAttribute(const std::string &name, CSLConstList) try {
    return may_change() && delete_attribute(*this, name);
} catch (...) {
    return failed_entry<bool>();
}

std::shared_ptr<GDALGroup> Zarr3Group::CreateGroup(const std::string &name, CSLConstList) try {
    if (!may_change())
        return nullptr;
    zb_error err;
    zb_node *created = nullptr;
    enum zb_code code = ZB_OK;
    if (!is_child_name(name))
        code = zb_fail(&err, ZB_EINVAL, "'%s' is no name of a group", name.c_str());
    const std::string path = join_path(path_, stored_name(name));
    if (code == ZB_OK)
        code = zb_group_create(tree_->store(), path.c_str(), nullptr, &created, &err);
    if (code != ZB_OK) {
        report(err);
        tree_->note_creation(false);
        return nullptr;
    }
    forget_listing();
    return tree_->group(path, adopt_node(created));
} catch (...) {
    return failed_entry<std::shared_ptr<GDALGroup>>();
}

std::shared_ptr<GDALDimension> Zarr3Group::CreateDimension(const std::string &name,
                                                           const std::string &type,
                                                           const std::string &direction,
                                                           GUInt64 size, CSLConstList) try {
    if (!may_change())
        return nullptr;
    if (!is_child_name(name)) {
        CPLError(CE_Failure, CPLE_IllegalArg, "'%s' is no name of a dimension", name.c_str());
        return nullptr;
    }
    return tree_->create_dimension(path_, name, type, direction, size);
} catch (...) {
    return failed_entry<std::shared_ptr<GDALDimension>>();
}

std::shared_ptr<GDALMDArray>
Zarr3Group::CreateMDArray(const std::string &name,
                          const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                          const GDALExtendedDataType &type, CSLConstList options) try {
    if (!may_change())
        return nullptr;
    forget_listing();
    const auto made = create_md_array(tree_, path_, name, dimensions, type, options);
    tree_->note_creation(made != nullptr);
    return made;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALMDArray>>();
}

bool Zarr3Group::delete_child(const std::string &name, bool is_array) {
    if (!may_change())
        return false;
    zb_error err = {};
    const NodePtr node = open_shown(tree_->store(), join_path(path_, name), &err);
    const std::string path = node == nullptr ? "" : zb_node_path(node.get());
    const bool fits =
        node != nullptr && !name.empty() && (zb_node_array(node.get()) != nullptr) == is_array;
    if (!fits || (is_array && remove_companions(node, tree_->store(), &err) != ZB_OK) ||
        zb_node_delete(tree_->store(), path.c_str(), &err) != ZB_OK) {
        if (fits || node == nullptr)
            report(err);
        else
            CPLError(CE_Failure, CPLE_IllegalArg, "%s has no %s '%s'", m_osFullName.c_str(),
                     is_array ? "array" : "group", name.c_str());
        return false;
    }
    tree_->deleted(path);
    if (is_array) { /* its mask and its levels are gone, too */
        if (repeat_place(tree_->store(), path_, false, &err) != ZB_OK)
            report(err);
        tree_->forget_missing(path_);
        tree_->changed_below(path_);
    }
    forget_listing();
    return true;
}

void Zarr3Group::Deleted() {
    all_held_are_deleted();
    GDALGroup::Deleted();
}

bool Zarr3Group::DeleteGroup(const std::string &name, CSLConstList) try {
    return delete_child(name, false);
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3Group::DeleteMDArray(const std::string &name, CSLConstList) try {
    return delete_child(name, true);
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3Group::CopyFrom(const std::shared_ptr<GDALGroup> &root, GDALDataset *dataset,
                          const std::shared_ptr<GDALGroup> &source, bool strict, GUInt64 &cost,
                          const GUInt64 total_cost, GDALProgressFunc progress, void *progress_data,
                          CSLConstList options) try {
    if (!GDALGroup::CopyFrom(root, dataset, source, strict, cost, total_cost, progress,
                             progress_data, options))
        return false;
    const auto ours = std::dynamic_pointer_cast<Zarr3Group>(source);
    return ours == nullptr || copy_hdf5_side(*ours, *this);
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3Group::Rename(const std::string &name) try {
    if (!may_change())
        return false;
    const std::string from = path_, to = join_path(parent_path(from), stored_name(name));
    zb_error err;
    if (from == tree_->options().base || !is_child_name(name)) {
        CPLError(CE_Failure, CPLE_IllegalArg, "%s cannot be called '%s'", m_osFullName.c_str(),
                 name.c_str());
        return false;
    }
    if (!may_be_renamed(node_, "group " + m_osFullName) || tree_->flush() != CE_None)
        return false;
    std::vector<NamedBy> references;
    if (find_references(tree_->store(), from, to, &references, &err) != ZB_OK ||
        zb_node_move(tree_->store(), from.c_str(), to.c_str(), &err) != ZB_OK) {
        report(err);
        return false;
    }
    tree_->moved(from, to);
    return tree_->change(references);
} catch (...) {
    return failed_entry<bool>();
}

} // namespace zarr3
