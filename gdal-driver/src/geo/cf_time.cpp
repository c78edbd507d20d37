/* SPDX-License-Identifier: MIT */
/*
 * Only what can be converted without a table: the civil calendar, fixed units, no time zones.
 * Months and years as units have no fixed length and the calendars of climate models (noleap,
 * 360_day) no ISO dates; those keep their number and unit and get no date. Arithmetic is in whole
 * seconds.
 */
#include "geo/cf_time.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "array/attributes.h"
#include "cpl_string.h"

namespace zarr3 {

static constexpr int64_t kDay = 86400; /* seconds */

/* Seconds in the unit that the word names, or 0. */
static double seconds_of(const std::string &word) {
    static constexpr struct {
        const char *name;
        double seconds;
    } kUnits[] = {
        {"day", 86400}, {"hour", 3600},        {"hr", 3600},         {"minute", 60},
        {"min", 60},    {"second", 1},         {"sec", 1},           {"millisecond", 1e-3},
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

/* Days from 1970-01-01 in the proleptic Gregorian calendar. The year is taken to begin in March, so
   that the leap day is its last: 153 days make five months, 146097 make 400 years. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int *year, int *month, int *day) {
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = static_cast<int>(year_of_era + era * 400 + (*month <= 2));
}

/* The reference time in seconds from 1970: "1999-01-31", "1999-1-31 6:30", "1999-01-31T06:30:00Z".
 */
static bool parse_reference(const std::string &text, int64_t *seconds) {
    int year, month, day, hour = 0, minute = 0, second = 0, used = 0;
    if (sscanf(text.c_str(), "%5d-%2d-%2d%n", &year, &month, &day, &used) != 3 || month < 1 ||
        month > 12 || day < 1 || day > 31)
        return false;
    const char *rest = text.c_str() + used;
    if (*rest == 'T' || *rest == ' ')
        sscanf(rest + 1, "%2d:%2d:%2d", &hour, &minute, &second);
    *seconds =
        days_from_civil(year, month, day) * kDay + hour * int64_t{3600} + minute * 60 + second;
    return true;
}

std::string iso_time(double value, const std::string &units, const std::string &calendar) {
    const std::string civil[] = {"", "standard", "gregorian", "proleptic_gregorian"};
    bool is_civil = false;
    for (const std::string &name : civil)
        is_civil = is_civil || EQUAL(name.c_str(), calendar.c_str());
    const size_t since = units.find(" since ");
    int64_t reference;
    if (!is_civil || since == std::string::npos ||
        !parse_reference(units.substr(since + strlen(" since ")), &reference))
        return {};
    const std::vector<std::string> unit = words(units.substr(0, since));
    const double offset = value * (unit.size() == 1 ? seconds_of(unit[0]) : 0);
    if (!(std::fabs(offset) < 1e12) || (offset == 0 && value != 0))
        return {};
    const int64_t time = reference + std::llround(offset);
    int64_t days = time / kDay, rest = time % kDay;
    if (rest < 0) {
        days--;
        rest += kDay;
    }
    int year, month, day;
    civil_from_days(days, &year, &month, &day);
    if (year < 1583 || year > 9999)
        return {};
    std::string text = CPLSPrintf("%04d-%02d-%02d", year, month, day);
    if (rest != 0)
        text += CPLSPrintf("T%02d:%02d:%02d", static_cast<int>(rest / 3600),
                           static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
    return text;
}

} // namespace zarr3
