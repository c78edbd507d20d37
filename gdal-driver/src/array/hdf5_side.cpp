/* SPDX-License-Identifier: MIT */
/* The HDF5 extension of nodes: see hdf5_side.h. */
#include "array/hdf5_side.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "array/attributes.h"
#include "base/json_text.h"

namespace zarr3 {

Hdf5Extension hdf5_side_of(const zb_node *node) {
    return node == nullptr ? Hdf5Extension() : parse_hdf5_side(attribute(node, kHdf5Side));
}

/* A lack of memory is all that can go wrong, and must not look like an attribute that is not
   ours. */
Hdf5Extension parse_hdf5_side(const zb_json *value) {
    zb_hdf5_extension *extension = nullptr;
    if (zb_hdf5_extension_parse(value, &extension, nullptr) != ZB_OK)
        throw std::bad_alloc();
    return Hdf5Extension(extension);
}

Hdf5Extension parse_hdf5_side(const std::string &value) {
    return parse_hdf5_side(value.empty() ? nullptr : parse_json(value).get());
}

/* A text of the core's, which the caller owns; "" for none. These calls fail without memory
   alone. */
static std::string take_text(enum zb_code code, char *text) {
    if (code != ZB_OK)
        throw std::bad_alloc();
    const std::unique_ptr<char, decltype(&free)> owner(text, free);
    return text == nullptr ? "" : text;
}

namespace {

/* A question that the core asks about names of attributes. What it throws passes no C function:
   finish() throws it again. */
class Question {
  public:
    explicit Question(std::function<bool(const char *name)> fn) : fn_(std::move(fn)) {
    }
    static bool ask(void *context, const char *name) {
        auto *self = static_cast<Question *>(context);
        try {
            return self->fn_(name);
        } catch (...) {
            self->thrown_ = std::current_exception();
            return false;
        }
    }
    std::string finish(enum zb_code code, char *text) const {
        std::string taken = take_text(code, text);
        if (thrown_ != nullptr)
            std::rethrow_exception(thrown_);
        return taken;
    }

  private:
    std::function<bool(const char *name)> fn_;
    std::exception_ptr thrown_;
};

} // namespace

std::string with_hdf5_entries(const zb_hdf5_extension *side, const zb_json *entries) {
    const zb_hdf5_change change = {ZB_HDF5_ATTRIBUTES, nullptr, entries, nullptr};
    char *text = nullptr;
    const enum zb_code code =
        zb_hdf5_extension_change(side, side, &change, 1, nullptr, nullptr, &text, nullptr);
    return take_text(code, text);
}

enum zb_code lost_links(const zb_node *node, std::vector<std::string> *places, zb_error *err) {
    Question add([&](const char *path) {
        places->emplace_back(path);
        return true;
    });
    const auto visit = [](void *context, const char *path) { Question::ask(context, path); };
    const enum zb_code code = zb_hdf5_lost_links(node, visit, &add, err);
    add.finish(ZB_OK, nullptr);
    return code;
}

/* ---- Copies ---- */

std::string hdf5_side_of_copies(const zb_node *node, bool same_shape,
                                const std::function<bool(const zb_json *member)> &has) {
    const Hdf5Extension side = hdf5_side_of(node);
    const auto attributes = members_of(zb_node_attributes(node));
    Question question([&](const char *name) {
        const auto found = attributes.find(name);
        return found != attributes.end() && has(found->second);
    });
    char *text = nullptr;
    const enum zb_code code = zb_hdf5_extension_for_copies(side.get(), same_shape, Question::ask,
                                                           &question, &text, nullptr);
    return question.finish(code, text);
}

/* The value of `now` with `copied` joined to it. Another program's attribute stays. */
static std::string joined(const zb_json *now, const std::string &copied,
                          const std::function<bool(const std::string &name)> *is_own) {
    const Hdf5Extension own = parse_hdf5_side(now), other = parse_hdf5_side(copied);
    if (now != nullptr && own == nullptr)
        return compact_json(now);
    Question question([&](const char *name) { return (*is_own)(name); });
    char *text = nullptr;
    const enum zb_code code = zb_hdf5_extension_join(own.get(), other.get(), is_own != nullptr,
                                                     Question::ask, &question, &text, nullptr);
    return question.finish(code, text);
}

void follow_hdf5_side(const std::string &side,
                      const std::function<bool(const std::string &name)> &is_own,
                      AttributeChanges *changes) {
    changes->derive(kHdf5Side,
                    [side, is_own](const zb_json *now) { return joined(now, side, &is_own); });
}

static bool has_same_shape(const zb_node *one, const zb_node *other) {
    const zb_array_info *a = zb_node_array(one), *b = zb_node_array(other);
    return a != nullptr && b != nullptr && a->ndim == b->ndim &&
           std::equal(a->shape, a->shape + a->ndim, b->shape);
}

void copy_hdf5_side(const zb_node *from, const zb_node *copy, AttributeChanges *changes) {
    if (attribute(from, kHdf5Side) == nullptr)
        return;
    const auto attributes = members_of(zb_node_attributes(copy));
    const auto has = [&](const zb_json *member) {
        const auto found = attributes.find(zb_json_name(member));
        return found != attributes.end() && is_same_value(found->second, member);
    };
    const std::string side = hdf5_side_of_copies(from, has_same_shape(from, copy), has);
    if (!side.empty())
        changes->derive(kHdf5Side,
                        [side](const zb_json *now) { return joined(now, side, nullptr); });
}

} // namespace zarr3
