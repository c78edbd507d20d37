/* SPDX-License-Identifier: MIT */
/*
 * Dates are made of the civil calendar and of units of fixed length. Months and years as units have
 * no fixed length, and the calendars of climate models (noleap, 360_day) no ISO dates: their values
 * keep number and unit and get no date. The same holds for a reference time that is not understood
 * to its last character.
 */
#include "geo/cf_time.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "array/attributes.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_time.h"

namespace zarr3 {

static constexpr int64_t kDay = 86400; /* seconds */

/* Seconds in the unit that the word names, or 0. */
static double seconds_of(const std::string &word) {
    static constexpr struct {
        const char *name;
        double seconds;
    } kUnits[] = {
        {"day", 86400}, {"hour", 3600},        {"hr", 3600},
        {"minute", 60}, {"min", 60},           {"second", 1},
        {"sec", 1},     {"millisecond", 1e-3}, {"week", 604800},
        {"msec", 1e-3}, {"microsecond", 1e-6}, {"nanosecond", 1e-9},
    };
    if (word == "d" || word == "h" || word == "s")
        return word == "d" ? 86400 : word == "h" ? 3600 : 1;
    for (const auto &unit : kUnits) {
        if (word == unit.name || word == std::string(unit.name) + "s")
            return unit.seconds;
    }
    return 0;
}

/* Seconds from 1970 to a date's midnight in the proleptic Gregorian calendar. 400 years, which have
   146097 days, are added and taken away: GDAL's function wants positive years. */
static int64_t gregorian_seconds(int year, int month, int day) {
    struct tm date = {};
    date.tm_year = year + 400 - 1900;
    date.tm_mon = month - 1;
    date.tm_mday = day;
    return CPLYMDHMSToUnixTime(&date) - 146097 * kDay;
}

/* Seconds that a date of the Julian calendar comes after the same date of the Gregorian one. */
static int64_t julian_lag(int year, int month) {
    const int leap_years_of = month > 2 ? year : year - 1;
    return (leap_years_of / 100 - leap_years_of / 400 - 2) * kDay;
}

/* The seconds that a zone is ahead of UTC: "", "Z", "UTC", "+2", "-6:00", "+0530". */
static bool parse_zone(const char *text, int *seconds) {
    *seconds = 0;
    if (*text == '\0' || EQUAL(text, "Z") || EQUAL(text, "UTC") || EQUAL(text, "GMT"))
        return true;
    unsigned hours = 0, minutes = 0;
    int used = 0;
    if (*text != '+' && *text != '-')
        return false;
    const char *digits = text + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count == 4 && digits[4] == '\0')
        sscanf(digits, "%2u%2u%n", &hours, &minutes, &used);
    else if (count > 0 && count <= 2 && digits[count] == ':')
        sscanf(digits, "%2u:%2u%n", &hours, &minutes, &used);
    else if (count > 0 && count <= 2)
        sscanf(digits, "%2u%n", &hours, &used);
    if (used == 0 || digits[used] != '\0' || hours > 24 || minutes > 59)
        return false;
    *seconds = static_cast<int>(hours * 3600 + minutes * 60) * (*text == '-' ? -1 : 1);
    return true;
}

/* The text after the date: "", "T06:30:00Z", " 6:30", " 00:00:0.0 -6:00". */
static bool parse_clock(const char *text, double *seconds) {
    static constexpr char kDigits[] = "0123456789";
    unsigned hour = 0, minute = 0;
    double second = 0;
    int used = 0, zone;
    text += *text == 'T' ? 1 : strspn(text, " ");
    if (strspn(text, kDigits) > 0) {
        if (sscanf(text, "%2u%n", &hour, &used) < 1)
            return false;
        text += used;
        if (*text == ':' && sscanf(text, ":%2u%n", &minute, &used) == 1)
            text += used;
        if (*text == ':' && strspn(text + 1, kDigits) > 0) {
            char *end;
            second = CPLStrtod(text + 1, &end);
            text = end;
        }
    }
    text += strspn(text, " ");
    if (hour > 24 || minute > 59 || !(second < 61) || !parse_zone(text, &zone))
        return false;
    *seconds = hour * 3600.0 + minute * 60.0 + second - zone;
    return true;
}

/* The reference time in seconds from 1970: "1999-01-31", "1999-1-31 6:30", "1999-01-31T06:30:00Z".
   The calendar "standard" is the Julian one before 15 October 1582, and has no year 0. */
static bool parse_reference(const std::string &text, bool is_proleptic, double *seconds) {
    int year, month, day, used = 0;
    double clock;
    if (sscanf(text.c_str(), "%5d-%2d-%2d%n", &year, &month, &day, &used) != 3 || month < 1 ||
        month > 12 || day < 1 || day > 31 || year < (is_proleptic ? 0 : 1) ||
        !parse_clock(text.c_str() + used, &clock))
        return false;
    const int64_t date = gregorian_seconds(year, month, day);
    const bool is_julian = !is_proleptic && date < gregorian_seconds(1582, 10, 15);
    *seconds = static_cast<double>(date + (is_julian ? julian_lag(year, month) : 0)) + clock;
    return true;
}

std::string iso_time(double value, const std::string &units, const std::string &calendar) {
    const bool is_proleptic = EQUAL(calendar.c_str(), "proleptic_gregorian");
    const bool is_civil = is_proleptic || calendar.empty() || EQUAL(calendar.c_str(), "standard") ||
                          EQUAL(calendar.c_str(), "gregorian");
    const size_t since = units.find(" since ");
    double reference;
    if (!is_civil || since == std::string::npos ||
        !parse_reference(units.substr(since + strlen(" since ")), is_proleptic, &reference))
        return {};
    const std::vector<std::string> unit = words(units.substr(0, since));
    const double unit_seconds = unit.size() == 1 ? seconds_of(unit[0]) : 0;
    const double offset = value * unit_seconds;
    if (unit_seconds == 0 || !(std::fabs(offset) < 1e12))
        return {};
    const int64_t time = std::llround(reference + offset);
    if (time < gregorian_seconds(1583, 1, 1) || time >= gregorian_seconds(10000, 1, 1))
        return {};
    struct tm date;
    CPLUnixTimeToYMDHMS(time, &date);
    std::string text =
        CPLSPrintf("%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
    if (date.tm_hour != 0 || date.tm_min != 0 || date.tm_sec != 0)
        text += CPLSPrintf("T%02d:%02d:%02d", date.tm_hour, date.tm_min, date.tm_sec);
    return text;
}

} // namespace zarr3
