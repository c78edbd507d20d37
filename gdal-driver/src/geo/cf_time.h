/* SPDX-License-Identifier: MIT */
/* CF time coordinates ("days since 1999-01-31") as dates that people read. */
#ifndef ZARR3_CF_TIME_H
#define ZARR3_CF_TIME_H

#include <string>

namespace zarr3 {

/* The ISO 8601 text of a time coordinate's value: a date when it is midnight, else date and time to
   the second, in UTC. "" when the units are not those of time, when the calendar is not the civil
   one, or when the year is outside 1583 to 9999, where calendars differ or the text would. */
std::string iso_time(double value, const std::string &units, const std::string &calendar);

} // namespace zarr3

#endif
