# SPDX-License-Identifier: MIT
"""What the bands of a raster mean, by their descriptions and items: times, colours, or places along a dimension.

No GDAL and no QGIS: a band is told by a `Band`.
"""

import re
from datetime import datetime, timedelta
from typing import Dict, List, NamedTuple, Optional, Tuple

COLOURS = ("red", "green", "blue")
# Micrometres: what counts as a colour, and the best wavelength of it.
WAVELENGTHS = {"red": (0.6, 0.7, 0.66), "green": (0.5, 0.6, 0.56), "blue": (0.43, 0.5, 0.48)}
MICROMETRES = {"nm": 1e-3, "nanometer": 1e-3, "nanometers": 1e-3, "nanometre": 1e-3, "um": 1.0, "µm": 1.0, "μm": 1.0,
               "micrometer": 1.0, "micrometers": 1.0, "micrometre": 1.0, "micron": 1.0, "m": 1e6, "meter": 1e6,
               "metre": 1e6, "angstrom": 1e-4, "å": 1e-4}
LABELS = r"DIM_.*_VALUE|(band|common)_?name|colou?r"


class Band(NamedTuple):
    """A band: its description, its items, the name of its colour interpretation, whether it holds floating point."""
    description: str = ""
    items: Dict[str, str] = {}
    colour: str = ""
    is_float: bool = False
    wavelength: str = ""  # micrometres, where GDAL knows them


class Place(NamedTuple):
    """Where a band lies along one dimension."""
    dimension: str
    index: int
    label: str
    time: Optional[datetime]


def places(band) -> List[Place]:
    """Along all dimensions besides rows and columns, in the array's order, which is that of the items."""
    found = []
    for key, value in band.items.items():
        match = re.fullmatch(r"DIM_(.*)_INDEX", key)
        if match:
            start = f"DIM_{match[1]}_"
            time, unit = band.items.get(start + "TIME", ""), band.items.get(start + "UNIT", "")
            label = time or f"{band.items.get(start + 'VALUE', value)} {unit if unit != '1' else ''}".strip()
            found.append(Place(match[1], int(value), label, parse_time(time)))
    return found


def parse_time(text) -> Optional[datetime]:
    """A time of the driver, 1999-03-31 or 1999-03-31T12:00:00.5Z; UTC. None for what is none, or none of Python's."""
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?Z?", text)
    if match is None:
        return None
    numbers = [int(group or 0) for group in match.groups()[:6]]
    try:
        return datetime(*numbers, int((match[7] or "").ljust(6, "0")[:6]))
    except ValueError:  # the year 0, a leap second
        return None


def steps(bands) -> Dict[int, Tuple[datetime, datetime]]:
    """For each band (from 1) of a stack of times, when it is shown: until the next one, the end not included.

    Where other dimensions lie beside time, the bands at the first band's place along these.
    """
    times, beside = {}, None
    for number, band in enumerate(bands, 1):
        along = places(band)
        time = [place.time for place in along if place.time is not None]
        others = [place.index for place in along if place.time is None]
        if len(time) != 1:
            return {}
        beside = others if beside is None else beside
        if others == beside:
            times[number] = time[0]
    ordered = sorted(set(times.values()))
    if len(ordered) < 2:
        return {number: (time, later(time, timedelta(days=1))) for number, time in times.items()}
    ends = dict(zip(ordered, [*ordered[1:], after(ordered)]))
    return {number: (time, ends[time]) for number, time in times.items()}


def after(times):
    """When the last one ends: as long as the one before, in months where all are whole months."""
    count, unit = interval(times)
    return add_months(times[-1], count) if unit == "months" else later(times[-1], times[-1] - times[-2])


def later(time, step):
    """A step later, as far as Python's times go: some stores have 9999-12-31 for what has no end."""
    return datetime.max if step > datetime.max - time else time + step


def add_months(time, count):
    """The same day of a later month, or that month's last day."""
    month = time.year * 12 + time.month - 1 + count
    if month // 12 > datetime.max.year:
        return datetime.max
    for day in range(time.day, 0, -1):
        try:
            return time.replace(year=month // 12, month=month % 12 + 1, day=day)
        except ValueError:
            continue
    raise ValueError(time)


def interval(times) -> Tuple[int, str]:
    """The step between times in order: (1, "months"), (6, "hours"), or (0, "") where steps differ."""
    months = {(b.year - a.year) * 12 + b.month - a.month for a, b in zip(times, times[1:])}
    last_days = all(time.month != later(time, timedelta(days=1)).month for time in times)
    if len(months) == 1 and min(months) > 0 and len({time.time() for time in times}) == 1 and (
            last_days or len({time.day for time in times}) == 1):
        return min(months), "months"
    seconds = {(b - a).total_seconds() for a, b in zip(times, times[1:])}
    if len(seconds) != 1:
        return 0, ""
    step = seconds.pop()
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if step >= size and step % size == 0:
            return int(step // size), unit
    return 0, ""


def wavelength(band) -> Optional[float]:
    """In micrometres; by a coordinate or an item of the band, else by what GDAL knows."""
    items = {key.lower(): value for key, value in band.items.items()}
    for name in ("wavelength", "central_wavelength", "center_wavelength"):
        for key, unit in ((f"dim_{name}_value", f"dim_{name}_unit"), (name, name + "_unit")):
            if key in items:
                return micrometres(items[key], items.get(unit) or items.get("wavelength_units", ""))
    return micrometres(band.wavelength, "um")


def micrometres(text, unit) -> Optional[float]:
    """Of a number without a unit, those below 20 are micrometres, others nanometres."""
    try:
        value = float(text)
    except ValueError:
        return None
    factor = MICROMETRES.get(unit.strip().lower(), None if unit else 1.0 if value < 20 else 1e-3)
    return None if factor is None else value * factor


def named_colour(band) -> str:
    """red, green or blue by GDAL's colour interpretation, else by a name of the band; "" for none."""
    said = [band.colour, band.description.split("=")[-1]]
    said += [value for key, value in band.items.items() if re.fullmatch(LABELS, key, re.IGNORECASE)]
    for word in said:
        if word.strip().lower() in COLOURS:
            return word.strip().lower()
    return ""


def colours(bands) -> Optional[Tuple[int, int, int]]:
    """The numbers (from 1) of the red, green and blue band; None where they cannot be told."""
    names = [named_colour(band) for band in bands]
    if all(names.count(colour) > 0 for colour in COLOURS):
        return tuple(names.index(colour) + 1 for colour in COLOURS)
    lengths = {number: length for number, band in enumerate(bands, 1) if (length := wavelength(band)) is not None}
    chosen = []
    for colour in COLOURS:
        low, high, best = WAVELENGTHS[colour]
        fit = [number for number, length in lengths.items() if low <= length < high]
        chosen += sorted(fit, key=lambda number, best=best: abs(lengths[number] - best))[:1]
    return tuple(chosen) if len(chosen) == 3 else None


def spread(count, most) -> List[int]:
    """The numbers of at most so many bands, the first and the last among them."""
    chosen = min(count, most)
    return sorted({1 + round(index * (count - 1) / max(chosen - 1, 1)) for index in range(chosen)})


def drawing(bands) -> str:
    """How they are drawn: "colours", "ramp" for a field of numbers, or "" for QGIS's own choice."""
    if colours(bands) is not None:
        return "colours"
    along = {place.dimension for place in places(bands[0])} if bands else set()
    if len(bands) == 1:
        return "ramp" if bands[0].is_float and bands[0].colour != "palette" else ""
    # Bands along time, depth, ... show one quantity; those of an unknown kind may be anything.
    return "ramp" if along - {"band", "bands", "channel", "c"} else ""
