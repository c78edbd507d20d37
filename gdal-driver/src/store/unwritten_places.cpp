/* SPDX-License-Identifier: MIT */
#include "store/unwritten_places.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "store/node.h"

namespace zarr3 {

static std::mutex mutex;
static std::multiset<std::string> places; /* under the mutex */

/* One text for all names of a node. What is no local path has one name. */
static std::string key_of(const std::string &root, const std::string &node) {
    const std::unique_ptr<char, decltype(&free)> real(realpath(root.c_str(), nullptr), free);
    const std::string path = real == nullptr ? root : real.get();
    return node.empty() ? path : path + "/" + node;
}

UnwrittenPlace::UnwrittenPlace(const std::string &root, const std::string &group)
    : key_(key_of(root, group)) {
    const std::lock_guard<std::mutex> lock(mutex);
    places.insert(key_);
}

UnwrittenPlace::~UnwrittenPlace() {
    const std::lock_guard<std::mutex> lock(mutex);
    places.erase(places.find(key_));
}

bool is_unwritten(const std::string &root, const std::string &node) {
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (places.empty()) /* nearly always */
            return false;
    }
    std::string key = key_of(root, node);
    const std::lock_guard<std::mutex> lock(mutex);
    for (; places.count(key) == 0; key.resize(key.rfind('/'))) {
        if (key.rfind('/') == std::string::npos)
            return false;
    }
    return true;
}

} // namespace zarr3
