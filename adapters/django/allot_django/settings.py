# SPDX-License-Identifier: Apache-2.0
# OPTIONS of a backend in TASKS: read once; an error names the wrong value and the remedy.
import difflib
import re
from dataclasses import dataclass
from datetime import timedelta

from django.core.exceptions import ImproperlyConfigured

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True)
class Options:
    application: str  # prefix of task types
    database: str = "allot"  # Allot's database, on the server of the connection
    connection: str | None = None  # an alias of DATABASES; None: the database routers decide
    tries: int = 1  # default of a task function; 0: no limit
    start_seconds: int = 10  # start of a process, added to each timeout
    results: str | None = None  # retention of results, as in "7d"; None: not stored
    restart_file: str | None = None  # manage.py allot_restart touches it

    @property
    def retention(self):
        return self.results and timedelta(**{_UNITS[self.results[-1]]: int(self.results[:-1])})


def options_of(alias, given):
    def refuse(text):
        raise ImproperlyConfigured(f"TASKS[{alias!r}]['OPTIONS']: {text}")

    known = Options.__dataclass_fields__
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            refuse(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    options = Options(**{"application": "", **given})
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,32}", str(options.application)):
        refuse("'application' must have 1 to 32 of A-Z a-z 0-9 . _ -")
    if not re.fullmatch(r"[A-Za-z0-9_$-]{1,64}", str(options.database)):
        refuse(f"'database' is not a database name: {options.database!r}")
    for name in ("tries", "start_seconds"):
        if type(getattr(options, name)) is not int or getattr(options, name) < 0:
            refuse(f"{name!r} must be a whole number, 0 or more")
    if options.results is not None and not re.fullmatch(r"[0-9]{1,6}[smhd]", str(options.results)):
        refuse(f"'results' is {options.results!r}; expected a number and a unit, such as '7d'")
    return options
