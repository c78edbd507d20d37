/* SPDX-License-Identifier: MIT */
/*
 * The directory stands at the end of an archive: fixed records with a name each, and an end record
 * with the offset of the first one. Archives above 4 GiB, or of more than 65535 entries, have a
 * second end record and wider fields in an extension of each entry. Offsets count from the
 * archive's beginning, which is later than that of the file where something was put in front of it.
 *
 * All numbers come from the file and are checked before they are used. An archive whose directory
 * cannot be read is an error, because its names may lead to other entries then.
 */
#include "store/zip_repeats.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <new>

#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "store/vsi_web.h"
#include "zarrbridge/limits.h"

namespace zarr3 {

/* Bytes of a directory; a million entries with names of a hundred bytes take 150 MB. */
static constexpr uint64_t kMaxDirectory = uint64_t{512} << 20;
/* Archives that are remembered. */
static constexpr size_t kRemembered = 16;

/* ---- Numbers ---- */

static uint16_t u16(const unsigned char *at) {
    return static_cast<uint16_t>(at[0] | at[1] << 8);
}

static uint32_t u32(const unsigned char *at) {
    return u16(at) | static_cast<uint32_t>(u16(at + 2)) << 16;
}

static uint64_t u64(const unsigned char *at) {
    return u32(at) | static_cast<uint64_t>(u32(at + 4)) << 32;
}

/* ---- Paths ---- */

static bool is_file(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           !VSI_ISDIR(stat.st_mode);
}

/* "a/../b" as "b", no doubled slashes, none at the ends. */
static std::string plain_path(const std::string &path) {
    std::vector<std::string> parts;
    const CPLStringList given(CSLTokenizeString2(path.c_str(), "/\\", 0));
    for (int i = 0; i < given.size(); i++) {
        if (EQUAL(given[i], "..") && !parts.empty())
            parts.pop_back();
        else if (!EQUAL(given[i], "."))
            parts.push_back(given[i]);
    }
    std::string plain;
    for (const std::string &part : parts)
        plain += (plain.empty() ? "" : "/") + part;
    return plain;
}

static std::vector<std::string> archive_suffixes() {
    std::vector<std::string> suffixes = {".zip", ".kmz", ".dwf", ".ods", ".xlsx", ".xlsm"};
    const CPLStringList more(
        CSLTokenizeString2(CPLGetConfigOption("CPL_VSIL_ZIP_ALLOWED_EXTENSIONS", ""), ", ", 0));
    suffixes.insert(suffixes.end(), more.begin(), more.end());
    return suffixes;
}

/* {archive}/inside, with braces inside the braces. */
static bool split_braces(const std::string &rest, std::string *archive, std::string *inside) {
    size_t depth = 0;
    for (size_t i = 0; i < rest.size(); i++) {
        depth += rest[i] == '{' ? 1 : 0;
        depth -= rest[i] == '}' ? 1 : 0;
        if (depth > 0)
            continue;
        *archive = rest.substr(1, i - 1);
        *inside = plain_path(rest.substr(i + 1));
        return is_file(*archive);
    }
    return false;
}

bool split_zip_path(const std::string &path, std::string *archive, std::string *inside) {
    static const std::string kPrefix = "/vsizip/";
    if (path.compare(0, kPrefix.size(), kPrefix) != 0)
        return false;
    std::string rest = path.substr(kPrefix.size());
    if (!rest.empty() && rest[0] == '{')
        return split_braces(rest, archive, inside);
    if (STARTS_WITH(rest.c_str(), "vsi")) /* "/vsizip/vsicurl/...", with one slash */
        rest = "/" + rest;
    const std::vector<std::string> suffixes = archive_suffixes();
    for (size_t i = 0; i < rest.size(); i++) {
        for (const std::string &suffix : suffixes) {
            const size_t end = i + suffix.size();
            if (!EQUALN(rest.c_str() + i, suffix.c_str(), suffix.size()) ||
                (end < rest.size() && rest[end] != '/') || !is_file(rest.substr(0, end)))
                continue;
            *archive = rest.substr(0, end);
            *inside = plain_path(rest.substr(end));
            return true;
        }
    }
    return false;
}

/* ---- The directory ---- */

namespace {

/* The place of the directory in the file, and that of the archive's beginning. */
struct Directory {
    uint64_t start = 0, size = 0, count = 0, shift = 0;
};

} // namespace

static bool read_at(VSILFILE *file, uint64_t offset, void *buffer, size_t size) {
    return VSIFSeekL(file, offset, SEEK_SET) == 0 && VSIFReadL(buffer, 1, size, file) == size;
}

/* The wide end record, which a locator in front of the narrow one (at `end`) leads to. */
static bool find_wide_end(VSILFILE *file, uint64_t end, Directory *found) {
    unsigned char locator[20], record[56];
    if (end < sizeof locator || !read_at(file, end - sizeof locator, locator, sizeof locator) ||
        u32(locator) != 0x07064b50)
        return false;
    /* Right in front of the locator; its offset is wrong by what stands before the archive. */
    const uint64_t told = u64(locator + 8), near = end - sizeof locator - sizeof record;
    for (const uint64_t at : {near, told}) {
        if (at > end || !read_at(file, at, record, sizeof record) || u32(record) != 0x06064b50)
            continue;
        found->count = u64(record + 32);
        found->size = u64(record + 40);
        found->start = u64(record + 48);
        found->shift = at - told;
        return at >= told;
    }
    return false;
}

/* The end record is the last thing in the file but for a comment. */
static bool find_directory(VSILFILE *file, uint64_t file_size, Directory *found) {
    static constexpr size_t kRecord = 22, kComment = 65535;
    const size_t size = static_cast<size_t>(std::min<uint64_t>(file_size, kRecord + kComment));
    std::vector<unsigned char> tail(size);
    if (size < kRecord || !read_at(file, file_size - size, tail.data(), size))
        return false;
    for (size_t i = size - kRecord + 1; i-- > 0;) {
        const unsigned char *record = tail.data() + i;
        if (u32(record) != 0x06054b50 || u16(record + 20) != size - kRecord - i)
            continue; /* or it is a part of the comment */
        const uint64_t end = file_size - size + i;
        found->count = u16(record + 10);
        found->size = u32(record + 12);
        found->start = u32(record + 16);
        const bool narrow =
            found->count != 0xffff && found->size != 0xffffffff && found->start != 0xffffffff;
        if (!find_wide_end(file, end, found)) {
            /* The directory ends where its end record begins. */
            if (!narrow || found->size > end || found->start > end - found->size)
                return false;
            found->shift = end - found->size - found->start;
        }
        return found->size <= end && found->start <= end && found->shift <= end &&
               found->start + found->shift <= end - found->size;
    }
    return false;
}

/* The wide fields of an entry are in its extension 1, in the order of those that say 0xffffffff. */
static bool read_wide(const unsigned char *extra, size_t size, ZipEntry *entry) {
    while (size >= 4) {
        const uint16_t id = u16(extra), length = u16(extra + 2);
        if (length > size - 4)
            return false;
        const unsigned char *at = extra + 4, *end = at + length;
        for (uint64_t *field : {&entry->size, &entry->stored_size, &entry->header}) {
            if (id != 1 || *field != 0xffffffff)
                continue;
            if (end - at < 8)
                return false;
            *field = u64(at);
            at += 8;
        }
        extra += 4 + length;
        size -= 4 + static_cast<size_t>(length);
    }
    return true;
}

/* As GDAL names entries. */
static std::string entry_name(const unsigned char *text, size_t size) {
    std::string name(reinterpret_cast<const char *>(text), size);
    std::replace(name.begin(), name.end(), '\\', '/');
    return name.compare(0, 2, "./") == 0 ? name.substr(2) : name;
}

namespace {

/* A record of the directory: bytes before its name, and where they are. */
constexpr size_t kRecord = 46;
struct Named {
    std::string name;
    size_t at;
};

} // namespace

static bool read_names(const std::vector<unsigned char> &text, std::vector<Named> *names) {
    for (size_t at = 0; at < text.size();) {
        const unsigned char *record = text.data() + at;
        if (text.size() - at >= 4 && u32(record) == 0x05054b50)
            break; /* a signature of the whole */
        if (text.size() - at < kRecord || u32(record) != 0x02014b50)
            return false;
        const size_t length = u16(record + 28);
        const size_t whole = kRecord + length + u16(record + 30) + u16(record + 32);
        if (whole > text.size() - at)
            return false;
        names->push_back({entry_name(record + kRecord, length), at});
        at += whole;
    }
    return true;
}

static bool read_entry(const unsigned char *record, const Directory &directory, ZipEntry *entry) {
    *entry = {u32(record + 42), u32(record + 20), u32(record + 24),
              u32(record + 16), u16(record + 10), u16(record + 8)};
    return read_wide(record + kRecord + u16(record + 28), u16(record + 30), entry) &&
           !__builtin_add_overflow(entry->header, directory.shift, &entry->header);
}

static bool read_entries(const std::vector<unsigned char> &text, const Directory &directory,
                         std::map<std::string, ZipEntry> *repeated) {
    std::vector<Named> names;
    if (!read_names(text, &names) ||
        (names.size() != directory.count && names.size() % 65536 != directory.count))
        return false;
    std::sort(names.begin(), names.end(), [](const Named &a, const Named &b) {
        return a.name != b.name ? a.name < b.name : a.at < b.at;
    });
    for (size_t i = 1; i < names.size(); i++) {
        const std::string &name = names[i].name;
        if (name != names[i - 1].name || name.empty() || name.back() == '/')
            continue;
        ZipEntry entry;
        if (!read_entry(text.data() + names[i].at, directory, &entry))
            return false;
        (*repeated)[name] = entry; /* ascending: the last one stays */
    }
    return true;
}

static enum zb_code read_repeats(const std::string &archive, ZipRepeats *repeats, zb_error *err) {
    const FileHandle file(VSIFOpenL(archive.c_str(), "rb"));
    Directory directory;
    if (file == nullptr)
        return zb_fail(err, ZB_EIO, "%s cannot be opened", archive.c_str());
    if (!find_directory(file.get(), repeats->file_size, &directory))
        return zb_fail(err, ZB_EFORMAT, "%s: the zip archive has no readable directory",
                       archive.c_str());
    if (directory.size > kMaxDirectory)
        return zb_fail(err, ZB_ELIMIT, "%s: the archive's directory is larger than %llu bytes",
                       archive.c_str(), static_cast<unsigned long long>(kMaxDirectory));
    std::vector<unsigned char> text(static_cast<size_t>(directory.size));
    if (!read_at(file.get(), directory.start + directory.shift, text.data(), text.size()))
        return zb_fail(err, ZB_EIO, "%s: the archive's directory cannot be read", archive.c_str());
    if (!read_entries(text, directory, &repeats->last))
        return zb_fail(err, ZB_EFORMAT, "%s: the zip archive's directory is damaged",
                       archive.c_str());
    return ZB_OK;
}

namespace {

/* What is known of archives. Guarded by the lock of find_zip_repeats. */
class KnownArchives {
  public:
    /* Null for an archive that is not known, or is another file by now. */
    std::shared_ptr<const ZipRepeats> find(const std::string &archive, const ZipRepeats &now) {
        const auto there = std::find_if(list_.begin(), list_.end(),
                                        [&](const Known &item) { return item.first == archive; });
        if (there == list_.end())
            return nullptr;
        if (there->second->file_size != now.file_size ||
            there->second->file_time != now.file_time) {
            list_.erase(there);
            return nullptr;
        }
        list_.splice(list_.begin(), list_, there);
        return there->second;
    }

    void add(const std::string &archive, const std::shared_ptr<const ZipRepeats> &repeats) {
        list_.emplace_front(archive, repeats);
        if (list_.size() > kRemembered)
            list_.pop_back();
    }

  private:
    using Known = std::pair<std::string, std::shared_ptr<const ZipRepeats>>;
    std::list<Known> list_; /* latest use first */
};

} // namespace

enum zb_code find_zip_repeats(const std::string &archive, std::shared_ptr<const ZipRepeats> *out,
                              zb_error *err) {
    static std::mutex lock_scope;
    static KnownArchives known;
    VSIStatBufL stat;
    if (VSIStatL(archive.c_str(), &stat) != 0) { /* it was there when the store was opened */
        forget_answers(archive);
        return zb_fail(err, ZB_EIO, "%s is not there any more, or cannot be asked for",
                       archive.c_str());
    }
    auto fresh = std::make_shared<ZipRepeats>();
    fresh->file_size = static_cast<uint64_t>(stat.st_size);
    fresh->file_time = static_cast<int64_t>(stat.st_mtime);
    const std::lock_guard<std::mutex> guard(lock_scope);
    const std::shared_ptr<const ZipRepeats> before = known.find(archive, *fresh);
    if (before != nullptr) {
        *out = before;
        return ZB_OK;
    }
    enum zb_code code;
    try {
        code = read_repeats(archive, fresh.get(), err);
    } catch (const std::bad_alloc &) { /* this may be one of the core's threads */
        code = zb_fail(err, ZB_ENOMEM, "no memory for the directory of %s", archive.c_str());
    }
    if (code != ZB_OK)
        return code;
    known.add(archive, fresh);
    *out = fresh;
    return ZB_OK;
}

/* ---- An entry ---- */

using Bytes = VsiMemory<unsigned char>;

/* Deflate makes at most this of a byte; a directory that promises more lies. */
static constexpr uint64_t kMaxRatio = 1040;

static enum zb_code inflate(const unsigned char *stored, const ZipEntry &entry, Bytes *out,
                            zb_error *err) {
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor *)> tool(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    const size_t size = static_cast<size_t>(entry.size);
    size_t got = 0;
    out->reset(static_cast<unsigned char *>(VSIMalloc(size + 1)));
    if (tool == nullptr || *out == nullptr)
        return zb_fail(err, ZB_ENOMEM, "no memory to decompress an entry of an archive");
    if (libdeflate_deflate_decompress(tool.get(), stored, static_cast<size_t>(entry.stored_size),
                                      out->get(), size, &got) != LIBDEFLATE_SUCCESS ||
        got != size)
        return zb_fail(err, ZB_EFORMAT, "the archive's entry is damaged");
    if (libdeflate_crc32(0, out->get(), size) != entry.crc)
        return zb_fail(err, ZB_ECHECKSUM, "the checksum of the archive's entry does not match");
    return ZB_OK;
}

static enum zb_code read_compressed(VSILFILE *file, uint64_t base, const ZipEntry &entry,
                                    Bytes *out, zb_error *err) {
    const uint64_t limit = zb_limits_get()->shard_bytes;
    if (entry.size > limit || entry.stored_size > limit)
        return zb_fail(err, ZB_ELIMIT, "a compressed entry exceeds the limit shard_bytes of %llu",
                       static_cast<unsigned long long>(limit));
    VSIFSeekL(file, 0, SEEK_END);
    const uint64_t end = VSIFTellL(file);
    if (base > end || entry.stored_size > end - base || entry.size / kMaxRatio > entry.stored_size)
        return zb_fail(err, ZB_EFORMAT, "the archive's directory is damaged");
    const Bytes stored(
        static_cast<unsigned char *>(VSIMalloc(static_cast<size_t>(entry.stored_size) + 1)));
    if (stored == nullptr)
        return zb_fail(err, ZB_ENOMEM, "no memory to decompress an entry of an archive");
    if (!read_at(file, base, stored.get(), static_cast<size_t>(entry.stored_size)))
        return zb_fail(err, ZB_EIO, "an entry of the archive cannot be read");
    return inflate(stored.get(), entry, out, err);
}

enum zb_code open_zip_entry(const std::string &archive, const ZipEntry &entry, ZipContent *out,
                            zb_error *err) {
    static constexpr uint16_t kEncrypted = 1, kStored = 0, kDeflated = 8;
    FileHandle file(VSIFOpenL(archive.c_str(), "rb"));
    unsigned char header[30];
    if (file == nullptr || !read_at(file.get(), entry.header, header, sizeof header))
        return zb_fail(err, ZB_EIO, "%s cannot be read", archive.c_str());
    if (u32(header) != 0x04034b50)
        return zb_fail(err, ZB_EFORMAT, "%s: the archive's directory leads nowhere",
                       archive.c_str());
    if ((entry.flags & kEncrypted) != 0 || (entry.method != kStored && entry.method != kDeflated))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s: an entry is encrypted, or compressed by method %u", archive.c_str(),
                       entry.method);
    out->base = entry.header + sizeof header + u16(header + 26) + u16(header + 28);
    out->entry = entry;
    out->is_packed = entry.method == kDeflated;
    if (!out->is_packed && entry.size != entry.stored_size)
        return zb_fail(err, ZB_EFORMAT, "%s: the archive's directory is damaged", archive.c_str());
    out->file = file.release();
    return ZB_OK;
}

enum zb_code unpack_zip_entry(ZipContent *content, zb_error *err) {
    const enum zb_code code =
        read_compressed(content->file, content->base, content->entry, &content->bytes, err);
    content->is_packed = code != ZB_OK;
    return code;
}

} // namespace zarr3
