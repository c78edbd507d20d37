/* SPDX-License-Identifier: MIT */
/* Trees of XML elements: see xml.h. */
#include "side/xml.h"

#include "base/handles.h"

namespace zarr3 {

bool is_element(const CPLXMLNode *node, const char *name) {
    return node->eType == CXT_Element && EQUAL(node->pszValue, name);
}

bool has_content(const CPLXMLNode *tree) {
    const CPLXMLNode *child = tree == nullptr ? nullptr : tree->psChild;
    for (; child != nullptr; child = child->psNext) {
        if (child->eType == CXT_Element)
            return true;
    }
    return false;
}

std::string xml_text(const CPLXMLNode *node) {
    const GdalText text(CPLSerializeXMLTree(node));
    return text == nullptr ? std::string() : text.get();
}

static CPLXMLNode alone(const CPLXMLNode *node) {
    CPLXMLNode one = *node;
    one.psNext = nullptr;
    return one;
}

std::string own_text(const CPLXMLNode *node) {
    const CPLXMLNode one = alone(node);
    return xml_text(&one);
}

CPLXMLNode *append(CPLXMLNode *parent, CPLXMLNode **last, CPLXMLNode *child) {
    if (*last == nullptr)
        CPLAddXMLChild(parent, child); /* behind the attributes */
    else
        (*last)->psNext = child;
    return *last = child;
}

CPLXMLNode *copy_of(const CPLXMLNode *node) {
    const CPLXMLNode one = alone(node);
    return CPLCloneXMLTree(&one);
}

} // namespace zarr3
