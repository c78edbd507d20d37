/* SPDX-License-Identifier: MIT */
/*
 * Where the side properties of a raster live (side_properties.h). GDAL keeps them in memory in one
 * form, PAM, and this file decides from where they come and where they go:
 *
 * - A dataset that is open for update puts them into the array's attribute, and takes them out of
 *   the sidecar file, where an older value would win.
 * - A dataset that is open for reading never changes the store. What GDAL or a program remembers
 *   (statistics) goes into the sidecar file, and wins over the attribute, since it is younger. The
 *   file does not repeat what the attribute says: a copy would outlive its original.
 * - A slice shows what the array says of its band, and has a place in the sidecar file for the
 *   rest: the array's attribute is for those who see all of its bands.
 */
#include "array/attributes.h"
#include "cpl_conv.h"
#include "dataset/band.h"
#include "dataset/dataset.h"
#include "side/sidecar.h"
#include "side/side_merge.h"
#include "side/side_properties.h"

#include "zarrbridge/json.h"

using namespace zarr3;

/* GDAL's switch for sidecar files must not turn off what is in the store. */
void Zarr3Dataset::enable_side_properties() {
    const CPLConfigOptionSetter on("GDAL_PAM_ENABLED", "YES", false);
    PamInitialize();
}

static bool has_sidecars() {
    return CPLTestBool(CPLGetConfigOption("GDAL_PAM_ENABLED", "YES"));
}

/* Of all bands, counted from 1 as in side properties; ascending. */
std::vector<uint64_t> Zarr3Dataset::numbers_in_array() const {
    std::vector<uint64_t> numbers;
    for (int band = 0; band < layout_.bands; band++)
        numbers.push_back(layout_.number_in_array(array_.info(), band) + 1);
    return numbers;
}

XmlTree Zarr3Dataset::stored_side_properties() const {
    XmlTree tree = side_properties_of(node());
    if (tree != nullptr && !pinned_.empty())
        keep_bands(tree.get(), numbers_in_array());
    return tree;
}

CPLErr Zarr3Dataset::TryLoadXML(CSLConstList siblings) {
    enable_side_properties();
    const XmlTree tree = stored_side_properties();
    if (tree != nullptr)
        XMLInit(tree.get(), "");
    note_side_properties();
    nPamFlags &= ~GPF_DIRTY;
    if (!has_sidecars() || (nPamFlags & GPF_NOSAVE) != 0)
        return CE_None;
    return GDALPamDataset::TryLoadXML(siblings);
}

/* Called for the store's tree, and by GDAL for that of the sidecar file. */
CPLErr Zarr3Dataset::XMLInit(const CPLXMLNode *tree, const char *directory) {
    const CPLErr result = GDALPamDataset::XMLInit(tree, directory);
    read_exact(tree, this);
    return result;
}

/* FlushCache() writes what is noted here. */
CPLErr Zarr3Dataset::TrySaveXML() {
    const bool in_store = updates() && pinned_.empty();
    if (!in_store && has_sidecars())
        return GDALPamDataset::TrySaveXML();
    nPamFlags &= ~GPF_DIRTY;
    edits.side_properties = edits.side_properties || in_store;
    return CE_None;
}

CPLXMLNode *Zarr3Dataset::serialize_exactly() {
    XmlTree tree(GDALPamDataset::SerializeToXML(""));
    if (tree != nullptr)
        write_exact(tree.get(), this);
    return tree.release();
}

/* What goes into the sidecar file. Never null: GDAL would delete a file that other arrays have a
   part in. */
CPLXMLNode *Zarr3Dataset::SerializeToXML(const char *) {
    XmlTree tree(serialize_exactly());
    if (tree == nullptr)
        return no_side_properties().release();
    drop_descriptions(tree.get(), [this](int band) {
        return static_cast<Zarr3RasterBand *>(GetRasterBand(band))->is_described();
    });
    const XmlTree known = stored_side_properties();
    if (updates() && pinned_.empty())
        keep_side_properties(tree.get(), true);
    else if (known != nullptr)
        drop_known(tree.get(), known.get());
    return tree.release();
}

XmlTree Zarr3Dataset::own_side_properties() {
    XmlTree tree(serialize_exactly());
    if (tree != nullptr)
        keep_side_properties(tree.get(), false);
    return tree;
}

/* What this dataset changes from now on is what it stores. The sidecar file's win over these, and
   go to the store with them. */
void Zarr3Dataset::note_side_properties() {
    if (updates() && pinned_.empty())
        known_side_properties_ = own_side_properties();
}

/* A slice only knows that the statistics of its bands are of the past. */
void Zarr3Dataset::collect_side_properties(AttributeChanges *changes) {
    const bool drops = array_.drops_statistics();
    const std::vector<uint64_t> bands =
        pinned_.empty() ? std::vector<uint64_t>() : numbers_in_array();
    if (!pinned_.empty() || !edits.side_properties) {
        change_side_properties(changes, [drops, bands](XmlTree *tree) {
            return drops && drop_statistics(tree->get(), bands);
        });
        return;
    }
    using Shared = std::shared_ptr<CPLXMLNode>;
    const Shared before(CPLCloneXMLTree(known_side_properties_.get()), CPLDestroyXMLNode),
        after(own_side_properties().release(), CPLDestroyXMLNode);
    change_side_properties(changes, [drops, before, after](XmlTree *tree) {
        const bool dropped = drops && drop_statistics(tree->get(), {});
        return merge_side_properties(before.get(), after.get(), tree) || dropped;
    });
}

/* Called when the attributes have been written: a sidecar file that is there must not contradict
   them. */
void Zarr3Dataset::update_sidecar() {
    const std::string file = hierarchy_.root + ".aux.xml";
    VSIStatBufL stat;
    if (!pinned_.empty() || psPam == nullptr || psPam->osPhysicalFilename.empty() ||
        (nPamFlags & GPF_NOSAVE) != 0 || VSIStatExL(file.c_str(), &stat, VSI_STAT_EXISTS_FLAG) != 0)
        return;
    if (has_sidecars())
        GDALPamDataset::TrySaveXML();
    take_out_of_sidecar(file, psPam->osSubdatasetName);
}

/* Pixels are about to change, and what the store says of their distribution would be wrong. */
void Zarr3Dataset::forget_statistics() {
    array_.note_change();
    if (statistics_gone_)
        return;
    statistics_gone_ = true;
    drop_statistics(known_side_properties_.get(), {});
    for (int i = 1; i <= nBands; i++)
        static_cast<Zarr3RasterBand *>(GetRasterBand(i))->forget_statistics();
}

/* Blocks that a program has changed in GDAL's cache may have been written by any thread. */
void Zarr3Dataset::follow_writes() {
    if (array_.has_changed())
        (masked_ != nullptr ? masked_ : this)->forget_statistics();
}

bool Zarr3Dataset::keep_statistics() {
    if (mask_if_open() != nullptr && !mask_if_open()->keep_statistics())
        return false;
    for (int i = 1; updates() && i <= nBands; i++) {
        if (GetRasterBand(i)->FlushCache(false) != CE_None)
            return false;
    }
    follow_writes();
    statistics_gone_ = false;
    array_.statistics_are_set();
    return true;
}

/* The items of the default domain that are no statistics are not of PAM's making. */
void Zarr3RasterBand::forget_statistics() {
    const CPLStringList items(CSLDuplicate(GDALPamRasterBand::GetMetadata()), TRUE);
    CPLStringList kept;
    for (int i = 0; i < items.size(); i++) {
        if (!is_statistic(items[i]))
            kept.AddString(items[i]);
    }
    if (kept.size() != items.size())
        GDALPamRasterBand::SetMetadata(kept.List());
    if (psPam != nullptr && psPam->psSavedHistograms != nullptr) {
        CPLDestroyXMLNode(psPam->psSavedHistograms);
        psPam->psSavedHistograms = nullptr;
        MarkPamDirty();
    }
}
