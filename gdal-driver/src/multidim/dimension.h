/* SPDX-License-Identifier: MIT */
/* A dimension of GDAL's multidimensional API. tree.h tells which arrays share one. */
#ifndef ZARR3_DIMENSION_H
#define ZARR3_DIMENSION_H

#include "multidim/tree.h"

namespace zarr3 {

class Zarr3Dimension final : public GDALDimension {
  public:
    /* Of a group, or of one array alone. parent: GDAL's full name of it; path: in the store. */
    enum class Of { Group, Array };
    Zarr3Dimension(const std::shared_ptr<Tree> &tree, Of owner, const std::string &parent,
                   std::string path, const std::string &name, uint64_t size);

    bool is_shared() const {
        return owner_ == Of::Group;
    }

    const std::string &group() const {
        return group_;
    }

    /* The array of coordinates, with what its attributes say of the axis. */
    void take_coordinate(const NodePtr &coordinate);
    void set_axis(const std::string &type, const std::string &direction);
    const std::string &variable() const {
        return variable_;
    }

    void set_size(uint64_t size) {
        m_nSize = size;
    }

    /* An array that has it. */
    void note_user(const std::string &path) {
        users_.insert(path);
    }
    bool has_variable() const {
        return has_variable_;
    }

    /* A node that it may have to do with is elsewhere now. */
    void moved(const std::string &from, const std::string &to);

    /* Where attributes place the arrays, no node holds the coordinates, which copies need: they are
       made of the place. Null where there is no place, and where two arrays lie at different
       ones. */
    std::shared_ptr<GDALMDArray> regular_variable() const;
    std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;
    bool SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) override;
    bool Rename(const std::string &name) override;

  private:
    bool rename_in_group(Tree *tree, const std::string &path, const std::string &name);
    bool find_named(Tree *tree, const std::vector<std::shared_ptr<Zarr3MDArray>> &arrays,
                    const std::string &name, std::vector<NamedBy> *found);
    bool rename_in(Tree *tree, const std::vector<std::shared_ptr<Zarr3MDArray>> &arrays,
                   const std::string &name);

    /* The tree owns created dimensions; a dimension that is left alone has no variable any more. */
    std::weak_ptr<Tree> tree_;
    Of owner_;
    std::string group_;
    std::string variable_; /* the coordinate's path */
    bool has_variable_ = false;
    std::set<std::string> users_; /* paths of arrays */
};

/* What a coordinate array tells of its axis, with `by_name` by its name as well: a type and a
   direction, or "". */
struct AxisKind {
    std::string type, direction;
};
AxisKind axis_kind(const zb_node *coordinate, bool by_name);

} // namespace zarr3

#endif
