/* SPDX-License-Identifier: MIT */
/*
 * Coordinate arrays carry units of their own, and a CRS has one for its axes. Where both are
 * lengths, or both are angles, the numbers are converted; a metre's CRS over coordinates in
 * kilometres would put the raster a thousand times too close to the origin.
 *
 * CF takes its units from UDUNITS, which knows hundreds of spellings. The ones here are those that
 * horizontal coordinates are found in; "1000 m" is one of them as well.
 */
#include "geo/units.h"

#include <cmath>

#include "cpl_conv.h"
#include "cpl_string.h"

namespace zarr3 {

namespace {

/* A unit in metres or radians. */
struct Unit {
    enum Kind { Unknown, Length, Angle } kind = Unknown;
    double size = 1;
};

struct Spelling {
    const char *name;
    Unit unit;
};

} // namespace

static constexpr double kDegree = 0.017453292519943295;

static const Spelling kSpellings[] = {
    {"m", {Unit::Length, 1}},
    {"metre", {Unit::Length, 1}},
    {"metres", {Unit::Length, 1}},
    {"meter", {Unit::Length, 1}},
    {"meters", {Unit::Length, 1}},
    {"km", {Unit::Length, 1000}},
    {"kilometre", {Unit::Length, 1000}},
    {"kilometres", {Unit::Length, 1000}},
    {"kilometer", {Unit::Length, 1000}},
    {"kilometers", {Unit::Length, 1000}},
    {"cm", {Unit::Length, 0.01}},
    {"mm", {Unit::Length, 0.001}},
    {"ft", {Unit::Length, 0.3048}},
    {"foot", {Unit::Length, 0.3048}},
    {"feet", {Unit::Length, 0.3048}},
    {"US_survey_foot", {Unit::Length, 1200.0 / 3937}},
    {"US_survey_feet", {Unit::Length, 1200.0 / 3937}},
    {"rad", {Unit::Angle, 1}},
    {"radian", {Unit::Angle, 1}},
    {"radians", {Unit::Angle, 1}},
    {"mrad", {Unit::Angle, 1e-3}},
    {"milliradian", {Unit::Angle, 1e-3}},
    {"milliradians", {Unit::Angle, 1e-3}},
    {"urad", {Unit::Angle, 1e-6}},
    {"microradian", {Unit::Angle, 1e-6}},
    {"microradians", {Unit::Angle, 1e-6}},
    {"degree", {Unit::Angle, kDegree}},
    {"degrees", {Unit::Angle, kDegree}},
};

/* A number, which may be left out, and a name. "degrees_east" and its like are degrees. */
static Unit parse_unit(const std::string &text) {
    const CPLStringList parts(CSLTokenizeString2(text.c_str(), " ", 0));
    Unit found;
    if (parts.size() < 1 || parts.size() > 2)
        return found;
    double count = 1;
    if (parts.size() == 2) {
        if (CPLGetValueType(parts[0]) == CPL_VALUE_STRING)
            return found;
        count = CPLAtof(parts[0]);
    }
    std::string name = parts[parts.size() - 1];
    if (STARTS_WITH(name.c_str(), "degree"))
        name = "degree";
    for (const Spelling &spelling : kSpellings) {
        if (name == spelling.name)
            found = spelling.unit;
    }
    found.size *= count;
    return found.size > 0 && std::isfinite(found.size) ? found : Unit();
}

/* The same unit by two definitions: a factor of 1 that rounding has moved. */
static double quotient(double size, double by) {
    const double factor = size / by;
    return std::fabs(factor - 1) < 1e-12 ? 1 : factor;
}

double to_units_of(const OGRSpatialReference &srs, const std::string &units) {
    const Unit unit = parse_unit(units);
    if (unit.kind == Unit::Length && (srs.IsProjected() || srs.IsLocal()))
        return quotient(unit.size, srs.GetLinearUnits());
    if (unit.kind != Unit::Angle)
        return 1;
    if (srs.IsGeographic())
        return quotient(unit.size, srs.GetAngularUnits());
    const char *projection = srs.GetAttrValue("PROJECTION");
    const double height = srs.GetNormProjParm(SRS_PP_SATELLITE_HEIGHT, 0); /* metres */
    if (projection == nullptr || !EQUAL(projection, SRS_PT_GEOSTATIONARY_SATELLITE) || height <= 0)
        return 1;
    return unit.size * height / srs.GetLinearUnits();
}

/* 13 digits, so that rounding is below what quotient() takes for a factor of 1. */
std::string angular_units(const OGRSpatialReference &srs) {
    const double degrees = quotient(srs.GetAngularUnits(), kDegree);
    return degrees == 1 ? "degree" : std::string(CPLSPrintf("%.13g degree", degrees));
}

} // namespace zarr3
