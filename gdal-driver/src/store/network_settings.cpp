/* SPDX-License-Identifier: MIT */
#include "store/network_settings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"

namespace zarr3 {

namespace {

/* A place of GDAL's options: that of a virtual path. */
class Place {
  public:
    explicit Place(const std::string &url) {
        constexpr char s3[] = "s3://", azure[] = "az://";
        const std::string name = url.substr(0, url.find_first_of("?#"));
        is_azure = STARTS_WITH_CI(name.c_str(), azure);
        path = is_azure                           ? "/vsiaz/" + name.substr(strlen(azure))
               : STARTS_WITH_CI(name.c_str(), s3) ? "/vsis3/" + name.substr(strlen(s3))
                                                  : "/vsicurl/" + name;
    }

    /* An option's value, or "". */
    std::string get(const char *name) const {
        return VSIGetPathSpecificOption(path.c_str(), name, "");
    }

    /* The same of an option that is also a variable which the core reads: the core knows which of
       several variables counts first. */
    std::string get_beyond_variable(const char *name) const {
        const std::string value = get(name);
        const char *variable = getenv(name);
        return variable != nullptr && value == variable ? "" : value;
    }

    bool is_azure;

  private:
    std::string path;
};

struct Setting {
    const char *option; /* the core's */
    const char *name;   /* GDAL's */
};

/* Of those for one option the last that is set counts. */
constexpr Setting kSettings[] = {
    {"ca_file", "SSL_CERT_FILE"},
    {"ca_file", "CURL_CA_BUNDLE"},
    {"ca_file", "GDAL_CURL_CA_BUNDLE"},
};
constexpr Setting kS3[] = {
    {"anon", "AWS_NO_SIGN_REQUEST"},    {"region", "AWS_DEFAULT_REGION"}, {"region", "AWS_REGION"},
    {"profile", "AWS_DEFAULT_PROFILE"}, {"profile", "AWS_PROFILE"},
};
constexpr Setting kAzure[] = {
    {"anon", "AZURE_NO_SIGN_REQUEST"},
};

void add(std::string *options, const char *name, const std::string &value) {
    if (value.empty())
        return;
    char *escaped = CPLEscapeString(value.c_str(), static_cast<int>(value.size()), CPLES_URL);
    *options += std::string(name) + "=" + escaped + "&";
    CPLFree(escaped);
}

void add_endpoint(const Place &place, std::string *options) {
    const std::string host = place.get_beyond_variable("AWS_S3_ENDPOINT");
    const std::string https = place.get("AWS_HTTPS");
    if (host.empty())
        return;
    const bool is_plain = !https.empty() && !CPLTestBool(https.c_str());
    const char *scheme = host.find("://") != std::string::npos ? ""
                         : is_plain                            ? "http://"
                                                               : "https://";
    add(options, "endpoint", scheme + host);
}

void add_proxy(const Place &place, bool is_https, std::string *options) {
    const std::string secure = is_https ? place.get("GDAL_HTTPS_PROXY") : "";
    add(options, "proxy", secure.empty() ? place.get("GDAL_HTTP_PROXY") : secure);
}

void add_all(const Place &place, const Setting *begin, const Setting *end, std::string *options) {
    for (const Setting *setting = begin; setting != end; setting++)
        add(options, setting->option, place.get_beyond_variable(setting->name));
}

void add_s3(const Place &place, std::string *options) {
    add_all(place, std::begin(kS3), std::end(kS3), options);
    const std::string hosting = place.get_beyond_variable("AWS_VIRTUAL_HOSTING");
    const std::string payer = place.get_beyond_variable("AWS_REQUEST_PAYER");
    add_endpoint(place, options);
    if (!hosting.empty())
        add(options, "path_style", CPLTestBool(hosting.c_str()) ? "0" : "1");
    if (!payer.empty())
        add(options, "requester_pays", EQUAL(payer.c_str(), "requester") ? "1" : "0");
}

/* GDAL separates headers by line ends, or where there are none, by commas outside of quotes. */
std::string headers_of(const Place &place) {
    std::string text = place.get("GDAL_HTTP_HEADERS");
    if (text.find('\n') == std::string::npos) {
        const CPLStringList parts(CSLTokenizeString2(
            text.c_str(), ",", CSLT_HONOURSTRINGS | CSLT_STRIPLEADSPACES | CSLT_STRIPENDSPACES));
        text.clear();
        for (int i = 0; i < parts.Count(); i++)
            text += std::string(parts[i]) + "\n";
    }
    const std::string bearer = place.get("GDAL_HTTP_BEARER"), way = place.get("GDAL_HTTP_AUTH");
    if (!bearer.empty() && (way.empty() || EQUAL(way.c_str(), "BEARER")))
        text +=
            (text.empty() || text.back() == '\n' ? "" : "\n") + ("Authorization: Bearer " + bearer);
    return text;
}

/* The key of GDAL's configuration where that says anything that the environment does not: a new
   secret or token of the environment's key as well, for the three are one. The environment's secret
   is no part of another key. */
void add_key(const Place &place, std::string *id, std::string *secret, std::string *token) {
    constexpr const char *kOfS3[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                     "AWS_SESSION_TOKEN"};
    constexpr const char *kOfAzure[] = {"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCESS_KEY",
                                        "AZURE_STORAGE_SAS_TOKEN"};
    const auto &kNames = place.is_azure ? kOfAzure : kOfS3;
    const auto differs = [&](const char *name) { return !place.get_beyond_variable(name).empty(); };
    if (std::none_of(std::begin(kNames), std::end(kNames), differs))
        return;
    *id = place.get(kNames[0]);
    *secret = differs(kNames[0]) ? place.get_beyond_variable(kNames[1]) : place.get(kNames[1]);
    if (!id->empty()) /* a token is that of the key beside it, wherever both are */
        *token = place.get(kNames[2]);
}

const char *or_null(const std::string &text) {
    return text.empty() ? nullptr : text.c_str();
}

} // namespace

NetworkSettings::NetworkSettings(const std::string &url) {
    const Place place(url);
    add_all(place, std::begin(kSettings), std::end(kSettings), &options);
    if (place.is_azure)
        add_all(place, std::begin(kAzure), std::end(kAzure), &options);
    else
        add_s3(place, &options);
    add_proxy(place, !STARTS_WITH_CI(url.c_str(), "http://"), &options);
    options += place.get("ZARR3_REMOTE_OPTIONS");
    headers = headers_of(place);
    add_key(place, &key_id, &secret_key, &session_token);
}

zb_store_settings NetworkSettings::view() const {
    return {or_null(options), or_null(headers), or_null(key_id), or_null(secret_key),
            or_null(session_token)};
}

} // namespace zarr3
