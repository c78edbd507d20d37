/* SPDX-License-Identifier: MIT */
/*
 * Names come from users and from GDAL itself, which takes subdataset names apart, replaces the path
 * in them and hands them back; rasterio strips the quotes. All of these must lead to the same node.
 *
 * A plain path may point into the middle of a hierarchy. The description of an array lies partly
 * above it (conventions on its group, coordinates beside it). So the root is looked for upwards,
 * one stat for each level, up to the first directory without a document. On the network, where each
 * level is a request, the part of the name that ends in .zarr is the root.
 */
#include "store/location.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "store/network.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

static constexpr char kPrefix[] = "ZARR3:";
static constexpr size_t kPrefixLength = sizeof kPrefix - 1;

bool has_prefix(const char *name) {
    return STARTS_WITH_CI(name, kPrefix);
}

bool names_document(const std::string &path) {
    return zb_document_start(path.c_str(), path.size()) < path.size();
}

std::string file_in(const std::string &directory, const std::string &name) {
    if (!directory.empty() && directory.back() == '/')
        return directory + name;
    return directory + "/" + name;
}

/* The root directory keeps its slash. */
static void strip_slashes(std::string *text) {
    while (text->size() > 1 && text->back() == '/')
        text->pop_back();
}

/* A path to a document stands for the directory that holds it; that of a URL is found where the URL
   is split. */
static void take_directory(std::string text, Location *location) {
    strip_slashes(&text);
    location->given = text;
    if (!is_url(text) && names_document(text)) {
        text.erase(zb_document_start(text.c_str(), text.size()));
        strip_slashes(&text);
        if (text.empty())
            text = ".";
    }
    location->directory = text;
}

/* Decimal digits only, small enough for uint64. */
bool parse_index(const std::string &text, uint64_t *index) {
    const bool digits =
        !text.empty() && text.size() <= 19 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits)
        *index = std::strtoull(text.c_str(), nullptr, 10);
    return digits;
}

bool parse_range(const std::string &text, IndexRange *range) {
    const size_t dash = text.find('-');
    if (!parse_index(text.substr(0, dash), &range->first))
        return false;
    range->last = range->first;
    return dash == std::string::npos ||
           (parse_index(text.substr(dash + 1), &range->last) && range->first <= range->last);
}

/* A whole number of any sign and size, or two of them: an index or a range, if a bad one. */
static bool is_number(const std::string &text) {
    size_t at = 0;
    for (int numbers = 0; numbers < 2; numbers++) {
        at += at < text.size() && (text[at] == '-' || text[at] == '+');
        const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        if (end == at || end == text.size())
            return end > at;
        if (text[end] != '-')
            return false;
        at = end + 1;
    }
    return false;
}

/* True if the text ends in a colon and a number or range; *colon is the place of the colon then. */
static bool ends_in_number(const std::string &text, size_t *colon) {
    *colon = text.rfind(':');
    return *colon != std::string::npos && is_number(text.substr(*colon + 1));
}

/* The part after the quoted path is empty, or ":/node" and ":index" parts. Node names may hold
   colons, so only trailing parts that are numbers may be indices. */
static bool parse_node(std::string text, Location *location) {
    if (text.empty())
        return true;
    if (text[0] != ':')
        return false;
    text.erase(0, 1);
    for (size_t colon; ends_in_number(text, &colon);) {
        location->tail.insert(location->tail.begin(), text.substr(colon + 1));
        text.erase(colon);
    }
    location->closed = text.size() > 1 && text.back() == '/';
    strip_slashes(&text);
    location->node = !text.empty() && text[0] == '/' ? text.substr(1) : text;
    return true;
}

/* Without quotes (rasterio takes them out of subdataset names) the node begins at the last ":/"
   that does not belong to an address's "://". npos without one. */
static size_t node_separator(const std::string &text) {
    size_t at = text.rfind(":/");
    while (at != std::string::npos && text.compare(at, 3, "://") == 0)
        at = at == 0 ? std::string::npos : text.rfind(":/", at - 1);
    return at;
}

size_t closing_quote(const std::string &name) {
    if (name.compare(kPrefixLength, 1, "\"") != 0)
        return std::string::npos;
    const size_t before_node = name.find("\":", kPrefixLength + 1);
    if (before_node != std::string::npos)
        return before_node;
    return name.size() > kPrefixLength + 1 && name.back() == '"' ? name.size() - 1
                                                                 : std::string::npos;
}

bool parse_location(const char *name, Location *location) {
    *location = Location();
    if (!has_prefix(name)) {
        take_directory(name, location);
        return true;
    }
    const std::string rest = name + kPrefixLength;
    if (rest.empty() || rest[0] != '"') {
        const size_t colon = node_separator(rest);
        take_directory(rest.substr(0, colon), location);
        return colon > 0 && !rest.empty() &&
               (colon == std::string::npos || parse_node(rest.substr(colon), location));
    }
    const std::string whole = name;
    const size_t quote = closing_quote(whole);
    if (quote == std::string::npos || quote < kPrefixLength + 2)
        return false;
    take_directory(whole.substr(kPrefixLength + 1, quote - kPrefixLength - 1), location);
    return parse_node(whole.substr(quote + 1), location);
}

std::string shown_name(const std::string &name) {
    Location location;
    const bool holds_url = parse_location(name.c_str(), &location) && is_url(location.directory);
    return without_secrets(holds_url ? location.directory : name);
}

std::string slice_name(const std::string &node, const IndexRanges &indices, bool closed) {
    size_t colon;
    std::string name = node;
    if ((closed && !indices.empty()) || ends_in_number(node, &colon))
        name += "/";
    for (const IndexRange &range : indices) {
        name += ":" + std::to_string(range.first);
        if (range.last != range.first)
            name += "-" + std::to_string(range.last);
    }
    return name;
}

std::string subdataset_name(const std::string &directory, const std::string &node,
                            const IndexRanges &indices, bool closed) {
    return std::string(kPrefix) + "\"" + directory + "\":/" + slice_name(node, indices, closed);
}

/* Existence is enough here; the document is read when it is opened. */
static bool exists(const char *directory, const char *name) {
    VSIStatBufL stat;
    return VSIStatExL(file_in(directory, name).c_str(), &stat, VSI_STAT_EXISTS_FLAG) == 0;
}

bool holds_v2(const char *directory) {
    for (unsigned i = 1; zb_document_name(i) != nullptr; i++) {
        if (exists(directory, zb_document_name(i)))
            return true;
    }
    return false;
}

namespace {

/* A question of the core's, which no exception may pass. */
struct HoldsDocument {
    bool any; /* of version 2, too */
    std::exception_ptr thrown;

    static bool ask(void *context, const char *directory) noexcept {
        HoldsDocument *self = static_cast<HoldsDocument *>(context);
        try {
            return exists(directory, "zarr.json") || (self->any && holds_v2(directory));
        } catch (...) {
            self->thrown = std::current_exception();
            return false;
        }
    }
};

} // namespace

void climb_to_root(Location *location, bool any) {
    HoldsDocument question = {any, nullptr};
    char *root_text = nullptr, *node_text = nullptr;
    const char *directory = location->directory.c_str();
    const enum zb_code code = names_store(location->directory)
                                  ? zb_url_split(directory, &root_text, &node_text, nullptr)
                                  : zb_path_split(directory, HoldsDocument::ask, &question,
                                                  &root_text, &node_text, nullptr);
    const CoreText root(root_text), node(node_text);
    if (question.thrown != nullptr)
        std::rethrow_exception(question.thrown);
    if (code != ZB_OK)
        throw std::bad_alloc();
    location->directory = root.get();
    if (*node != '\0')
        location->node =
            location->node.empty() ? node.get() : std::string(node.get()) + "/" + location->node;
}

} // namespace zarr3
