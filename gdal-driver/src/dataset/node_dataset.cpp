/* SPDX-License-Identifier: MIT */
/*
 * Three things that GDAL does by default are wrong for a directory of small files. It would write
 * its sidecar file into the directory that it was given, where other Zarr readers list it; the
 * sidecar goes beside the hierarchy's root instead. It would report all files below; the list has
 * the one document that says what the dataset is. And it would keep metadata in one container with
 * what the sidecar adds, so that saving statistics would save copies of all attributes; ours are
 * kept apart and merged for each answer.
 */
#include "dataset/node_dataset.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "array/attributes.h"
#include "cpl_conv.h"
#include "dataset/pam_items.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"

using namespace zarr3;

/* The whole document of the node, for programs that need members that no GDAL concept covers. */
static constexpr char kDocumentDomain[] = "json:zarr.json";

Zarr3NodeDataset::Zarr3NodeDataset(Hierarchy hierarchy) : hierarchy_(std::move(hierarchy)) {
    /* Lets GDAL make its thread-safe datasets by opening one per thread. */
    m_bCanBeReopened = true;
}

/* Beside a store on a server nothing can be put; what the store itself says counts there, too. */
void Zarr3NodeDataset::use_sidecar(const std::string &subdataset) {
    if (!has_place_beside(hierarchy_.root)) {
        nPamFlags |= GPF_NOSAVE;
        TryLoadXML();
        return;
    }
    const std::string name = CPLGetFilename(hierarchy_.root.c_str());
    sidecar_name_ = subdataset;
    if (name.empty() || name == "." || name == "..") {
        nPamFlags |= GPF_NOSAVE; /* the directory has no name to put a file beside */
        TryLoadXML();
        return;
    }
    SetPhysicalFilename(hierarchy_.root.c_str());
    if (!subdataset.empty())
        SetSubdatasetName(subdataset.c_str());
    TryLoadXML();
    /* gdaladdo -ro: overviews of arrays that have none of their own, one file for each array. */
    std::string base = hierarchy_.root;
    if (!subdataset.empty())
        base += "." + subdataset;
    std::replace(base.begin() + static_cast<std::ptrdiff_t>(hierarchy_.root.size()), base.end(),
                 '/', '.');
    oOvManager.Initialize(this, base.c_str());
    outer_overviews_ = base + ".ovr";
}

/* The pointer stays valid until the next call for the same domain, as GDAL promises its callers. */
MetadataList Zarr3NodeDataset::GetMetadata(const char *domain) {
    if (domain == nullptr)
        domain = "";
    if (EQUAL(domain, kDocumentDomain)) {
        if (metadata_.items(kDocumentDomain) == nullptr) {
            CPLStringList document;
            document.AddString(compact_json(zb_node_document(node())).c_str());
            metadata_.set(kDocumentDomain, document.List());
        }
        return metadata_.items(kDocumentDomain);
    }
    MetadataList other = GDALPamDataset::GetMetadata(domain);
    return metadata_.items(domain) != nullptr ? metadata_.merged(domain, other) : other;
}

const char *Zarr3NodeDataset::GetMetadataItem(const char *name, const char *domain) {
    const char *other = pam_item<GDALPamDataset>(this, name, domain);
    return other != nullptr ? other : metadata_.item(domain == nullptr ? "" : domain, name);
}

char **Zarr3NodeDataset::GetMetadataDomainList() {
    CPLStringList names(metadata_.add_names(GDALPamDataset::GetMetadataDomainList()), TRUE);
    if (names.FindString(kDocumentDomain) < 0)
        names.AddString(kDocumentDomain);
    return names.StealList();
}

/* Programs copy and delete the files that are listed here, and some stat each entry: three names at
   most, and none of a URL, for which they have no functions. */
char **Zarr3NodeDataset::GetFileList() {
    if (is_url(hierarchy_.root))
        return nullptr;
    CPLStringList files;
    const char *document = zb_node_format(node()) == 3        ? "zarr.json"
                           : zb_node_array(node()) != nullptr ? ".zarray"
                                                              : ".zgroup";
    if (is_archive(hierarchy_.root))
        files.AddString(hierarchy_.root.c_str());
    else
        files.AddString(
            file_in(hierarchy_.root, join_path(zb_node_path(node()), document)).c_str());
    if (!has_place_beside(hierarchy_.root))
        return files.StealList();
    VSIStatBufL stat;
    /* GDAL writes the sidecar when the dataset closes; another program may have done so before. */
    for (const std::string &beside : {hierarchy_.root + ".aux.xml", outer_overviews_}) {
        if (!beside.empty() && VSIStatExL(beside.c_str(), &stat, VSI_STAT_EXISTS_FLAG) == 0)
            files.AddString(beside.c_str());
    }
    return files.StealList();
}
