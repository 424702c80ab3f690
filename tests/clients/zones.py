"""Days of time zones by Python's zoneinfo with the tzdata package.

    python zones.py ASKED ANSWERED

Reads lines `zone milliseconds` and writes for each the local day with its first second and the first
behind it, in UTC. A day begins at the first instant at which clocks show it or a later one; where
clocks are set back across midnight, the repeated minutes belong to the day that has begun already.
"""
import functools
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone

STEP = 300  # Midnights since 1972 lie on these: Kiritimati was 10 h 40 min from UTC until 1979.
zoneinfo.reset_tzpath(to=[])  # The package alone, whatever the machine has.


def shown(zone, seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).astimezone(zone).date()


@functools.lru_cache(maxsize=None)
def start(zone, day):
    """The first instant, found step by step around midnight."""
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp())
    offset = zone.utcoffset(datetime(day.year, day.month, day.day)).total_seconds()
    at = midnight - int(offset) - 3 * 3600
    at -= at % STEP
    while shown(zone, at) < day:
        at += STEP
    return at


def answer(name, milliseconds):
    zone = zoneinfo.ZoneInfo(name)
    day = shown(zone, milliseconds // 1000)
    behind = day + timedelta(1)
    if start(zone, behind) <= milliseconds // 1000:
        day, behind = behind, behind + timedelta(1)
    return f"{day} {start(zone, day)} {start(zone, behind)}"


with open(sys.argv[1], encoding="utf-8") as asked, open(sys.argv[2], "w", encoding="utf-8") as out:
    for line in asked:
        name, milliseconds = line.split()
        out.write(answer(name, int(milliseconds)) + "\n")
