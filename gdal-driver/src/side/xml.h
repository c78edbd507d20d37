/* SPDX-License-Identifier: MIT */
/* Trees of XML elements. */
#ifndef ZARR3_XML_H
#define ZARR3_XML_H

#include <string>

#include "cpl_minixml.h"

namespace zarr3 {

using XmlTree = CPLXMLTreeCloser;

bool is_element(const CPLXMLNode *node, const char *name);

/* True if the tree has elements. */
bool has_content(const CPLXMLNode *tree);

std::string xml_text(const CPLXMLNode *tree);

/* One element without those that follow it. */
std::string own_text(const CPLXMLNode *node);
CPLXMLNode *copy_of(const CPLXMLNode *node);

/* Appends to children without a walk along them: *last is the last one that was appended, or null
   at first. Returns the child. */
CPLXMLNode *append(CPLXMLNode *parent, CPLXMLNode **last, CPLXMLNode *child);

/* Takes away the children of which `drop` is true. */
template <class Drop> void prune(CPLXMLNode *parent, const Drop &drop) {
    for (CPLXMLNode **link = &parent->psChild; *link != nullptr;) {
        CPLXMLNode *child = *link;
        if (drop(child)) {
            *link = child->psNext;
            child->psNext = nullptr;
            CPLDestroyXMLNode(child);
        } else {
            link = &child->psNext;
        }
    }
}

} // namespace zarr3

#endif
