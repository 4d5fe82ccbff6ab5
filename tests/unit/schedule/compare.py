#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what schedules mean here with what they mean elsewhere.

compare.py PROGRAM croniter [COUNT]   random expressions and instants, in UTC, with python3-croniter
compare.py PROGRAM zones              the hours around the changes of three zones until 2045, with
                                      the rules of docs/decisions/0019 written down over zoneinfo

PROGRAM answers lines of daemon/schedule/answer.h, here for the first tick after an instant. The exit code is 1 when an
answer differs, and 77 when the module to compare with is not installed.
"""
import bisect
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone

SEED = 20261123
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


def ask(program, questions):
    """Sends all questions "AFTER ZONE EXPRESSION" at once; returns "next N", "never" or an error."""
    lines = "".join(f"upcoming {question.split()[0]} 0 1 {question.split(' ', 1)[1]}\n"
                    for question in questions)
    done = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = [line.replace("upcoming", "next") if line != "upcoming" else "never"
               for line in done.stdout.splitlines()]
    if len(answers) != len(questions):
        sys.exit(f"{len(questions)} questions, but {len(answers)} answers")
    return answers


def report(what, differences, asked):
    for line in differences[:20]:
        print(line)
    print(f"{what}: {asked} compared, {len(differences)} differ")
    return 1 if differences or not asked else 0


# --- random expressions ---------------------------------------------------------------------------

def item(rng, low, high, names):
    """A value, a range or *, some of them with a step."""
    def word(value):
        if names and rng.random() < 0.5:
            return names[value - low]
        return str(value)
    first, second = sorted((rng.randint(low, high), rng.randint(low, high)))
    step = rng.randint(1, high - low + 1)
    kind = rng.randrange(5)
    if kind == 0:
        return f"{word(first)}-{word(second)}"
    if kind == 1:
        return f"{word(first)}-{word(second)}/{step}"
    if kind == 2:
        return f"*/{step}"
    # croniter counts Sunday at both ends of a week here: decision 0019.
    if kind == 3 and names is not WEEKDAYS:
        return f"{word(first)}/{step}"
    return word(first)


def field(rng, low, high, names=None, star=0.4):
    if rng.random() < star:
        return "*"
    return ",".join(item(rng, low, high, names) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def expression(rng):
    """Fields with the second first, or without it."""
    if rng.random() < 0.02:
        return [rng.choice("@hourly @daily @midnight @weekly @monthly @yearly @annually".split())]
    day = field(rng, 1, 31, star=0.5)
    weekday = field(rng, 0, 6, WEEKDAYS, star=0.5)
    if rng.random() < 0.1:
        day = rng.choice(("L", f"{rng.randint(1, 31)},L"))
    if rng.random() < 0.15:
        # croniter refuses or ignores some combinations with other values, or with a day of month.
        day = "*"
        weekday = ",".join(rng.choice((f"{rng.randint(0, 6)}#{rng.randint(1, 5)}",
                                       f"{rng.choice(WEEKDAYS)}#{rng.randint(1, 5)}",
                                       f"L{rng.randint(0, 6)}"))
                           for _ in range(rng.choice((1, 1, 2))))
    fields = [field(rng, 0, 59), field(rng, 0, 23), day, field(rng, 1, 12, MONTHS), weekday]
    if rng.random() < 0.3:
        fields.insert(0, field(rng, 0, 59))
    return fields


def compare_with_croniter(program, count):
    try:
        import croniter  # noqa: F401
    except ImportError:
        print("python3-croniter is not installed")
        return 77
    rng = random.Random(SEED)
    start = int(datetime(2000, 1, 1, tzinfo=timezone.utc).timestamp())
    end = int(datetime(2045, 1, 1, tzinfo=timezone.utc).timestamp())
    cases = [(expression(rng), rng.randrange(start, end)) for _ in range(count)]
    answers = ask(program, [f"{after} UTC {' '.join(fields)}" for fields, after in cases])
    differences = []
    against_itself = 0
    for (fields, after), answer in zip(cases, answers):
        if answer.startswith("error ") and answer.endswith("would never run"):
            answer = "never"
        if answer == by_croniter(fields, after):
            continue
        wanted = by_croniter_day_by_day(fields, after)
        if answer == wanted:
            against_itself += 1
        else:
            differences.append(f"{' '.join(fields)} after {after}: {answer}, croniter: {wanted}")
    print(f"croniter: {against_itself} times it passes over a day that it finds when asked for it alone")
    if against_itself * 200 > len(cases):
        differences.append("that is too often to be croniter's mistake")
    return report("croniter", differences, len(cases))


def for_croniter(fields):
    """croniter has the second last. With six fields it takes */N of weekdays to 7, which never comes."""
    if len(fields) == 1:
        return fields[0]
    *others, weekday = fields
    weekday = weekday.replace("*/", "0-6/")
    if len(others) == 5:
        return " ".join(others[1:] + [weekday, others[0]])
    return " ".join(others + [weekday])


def by_croniter(fields, after):
    from croniter import croniter, CroniterBadDateError
    try:
        return f"next {int(croniter(for_croniter(fields), after).get_next())}"
    except CroniterBadDateError:
        return "never"


def by_croniter_day_by_day(fields, after):
    """The earliest of what croniter says for each day of month, and for the weekdays, alone."""
    from croniter import croniter
    if len(fields) == 1:
        return by_croniter(fields, after)
    weekdays = fields[-1]
    at = len(fields) - 3
    expanded = croniter.expand(for_croniter(fields))[0]
    both = expanded[2] != ["*"] and expanded[4] != ["*"]
    either = [(day, "*" if both else weekdays) for day in expanded[2]]
    if both:
        either.append(("*", weekdays))
    answers = [by_croniter(fields[:at] + [str(day).upper(), fields[at + 1], weekday], after)
               for day, weekday in either]
    return min(answers, key=lambda answer: (answer == "never", len(answer), answer))


# --- changes of zones -----------------------------------------------------------------------------

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
LAST_YEAR = 2045

# An expression, and the hours and minutes that it admits; whether it is a time of day.
SCHEDULES = (
    ("30 2 * * *", {2}, {30}, True),
    ("0 2 * * *", {2}, {0}, True),
    ("0 3 * * *", {3}, {0}, True),
    ("45 1 * * *", {1}, {45}, True),
    ("15 2 * * *", {2}, {15}, True),
    ("0 0 * * *", {0}, {0}, True),
    ("* * * * *", set(range(24)), set(range(60)), False),
    ("*/15 * * * *", set(range(24)), {0, 15, 30, 45}, False),
    ("30 * * * *", set(range(24)), {30}, False),
    ("30 1-3 * * *", {1, 2, 3}, {30}, False),
    ("0,30 2 * * *", {2}, {0, 30}, False),
    ("*/20 1,2 * * *", {1, 2}, {0, 20, 40}, False),
    ("0 */6 * * *", {0, 6, 12, 18}, {0}, False),
)


def changes(zone, year):
    """The instants of that year in which the zone's offset changes."""
    at = datetime(year, 1, 1, tzinfo=timezone.utc)
    found = []
    while at.year == year:
        later = at + timedelta(minutes=30)
        if at.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset():
            found.append(int(later.timestamp()))
        at = later
    return found


def runs(minutes, hours_of, minutes_of, fixed):
    """When the schedule runs within these minutes, which are pairs of an instant and its local time."""
    if not fixed:
        return [at for at, local in minutes if local.hour in hours_of and local.minute in minutes_of]
    # The highest local time so far: in a fold nothing new is reached, and after a gap all skipped
    # times are reached.
    found = []
    (hour,), (minute,) = hours_of, minutes_of
    shown = minutes[0][1]
    for at, local in minutes[1:]:
        if local <= shown:
            continue
        wanted = shown.replace(hour=hour, minute=minute)
        if wanted <= shown:
            wanted += timedelta(days=1)
        if wanted <= local:
            found.append(at)
        shown = local
    return found


def compare_with_zoneinfo(program):
    from zoneinfo import ZoneInfo
    questions, wanted = [], []
    for name in ZONES:
        zone = ZoneInfo(name)
        for year in range(2025, LAST_YEAR + 1):
            found = changes(zone, year)
            if len(found) != 2:
                sys.exit(f"{name} has {len(found)} changes in {year}, not two")
            for change in found:
                first = change - 30 * 3600
                minutes = [(at, datetime.fromtimestamp(at, zone).replace(tzinfo=None, fold=0))
                           for at in range(first, change + 54 * 3600, 60)]
                for text, hours_of, minutes_of, fixed in SCHEDULES:
                    instants = runs(minutes, hours_of, minutes_of, fixed)
                    for after in range(change - 26 * 3600, change + 26 * 3600, 3600):
                        after -= after // 3600 % 2  # the second before, every other time
                        questions.append(f"{after} {name} {text}")
                        wanted.append(f"next {instants[bisect.bisect_right(instants, after)]}")
    answers = ask(program, questions)
    differences = [f"{question}: {answer}, zoneinfo: {right}"
                   for question, answer, right in zip(questions, answers, wanted) if answer != right]
    return report("zoneinfo", differences, len(questions))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in ("croniter", "zones"):
        sys.exit(__doc__)
    if sys.argv[2] == "zones":
        sys.exit(compare_with_zoneinfo(sys.argv[1]))
    sys.exit(compare_with_croniter(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 20000))
