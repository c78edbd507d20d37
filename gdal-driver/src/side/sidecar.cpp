/* SPDX-License-Identifier: MIT */
/* The sidecar file: see sidecar.h. */
#include "side/sidecar.h"

#include "cpl_error.h"
#include "cpl_vsi.h"
#include "side/side_properties.h"

namespace zarr3 {

/* edit(root) changes the tree of a file; one that then says nothing is deleted. */
template <class Edit> static void edit_sidecar(const std::string &file, const Edit &edit) {
    bool is_good = true;
    {
        const CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
        VSIStatBufL stat;
        if (VSIStatExL(file.c_str(), &stat, VSI_STAT_EXISTS_FLAG) != 0)
            return;
        const XmlTree parsed(CPLParseXMLFile(file.c_str()));
        CPLXMLNode *root = parsed == nullptr ? nullptr : CPLGetXMLNode(parsed.get(), "=PAMDataset");
        if (root == nullptr)
            return;
        const std::string before = xml_text(root);
        edit(root);
        if (!has_content(root))
            is_good = VSIUnlink(file.c_str()) == 0;
        else if (xml_text(root) != before)
            is_good = CPLSerializeXMLTreeToFile(root, file.c_str()) != FALSE;
    }
    if (!is_good)
        CPLError(CE_Warning, CPLE_FileIO,
                 "%s cannot be changed, and says what the store does not say any more; delete it",
                 file.c_str());
}

/* edit(properties) changes those of the subdatasets of which `meant` is true of the name; "" is the
   root itself. What is left without content goes. */
template <class Meant, class Edit>
static void edit_subdatasets(CPLXMLNode *root, const Meant &meant, const Edit &edit) {
    prune(root, [&](CPLXMLNode *child) {
        if (!is_element(child, "Subdataset") || !meant(CPLGetXMLValue(child, "name", "")))
            return false;
        CPLXMLNode *properties = CPLGetXMLNode(child, "PAMDataset");
        if (properties != nullptr)
            edit(properties);
        return !has_content(properties);
    });
    if (meant(""))
        edit(root);
}

void take_statistics_out_of_sidecar(const std::string &file, const std::string &array) {
    const auto meant = [&array](const std::string &name) {
        return name == array || name.compare(0, array.size() + 1, array + ":") == 0;
    };
    edit_sidecar(file, [&](CPLXMLNode *root) {
        edit_subdatasets(root, meant,
                         [](CPLXMLNode *properties) { drop_statistics(properties, {}); });
    });
}

void take_out_of_sidecar(const std::string &file, const std::string &subdataset) {
    const auto meant = [&subdataset](const std::string &name) { return name == subdataset; };
    edit_sidecar(file, [&](CPLXMLNode *root) {
        edit_subdatasets(root, meant,
                         [](CPLXMLNode *properties) { keep_side_properties(properties, true); });
    });
}

} // namespace zarr3
