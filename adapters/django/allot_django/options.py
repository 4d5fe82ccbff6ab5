# SPDX-License-Identifier: Apache-2.0
# Options of a task function that the framework does not have.
_OWN = {"tries": int, "timeout": int, "accepts_unsigned": bool}


def allot_options(**options):
    """Sets options of Allot for a task function; goes below @task.

    tries             attempts, 0 for no limit; by default the tries of the backend
    timeout           seconds that an attempt may take; then its process is killed
    accepts_unsigned  also run payloads that this application did not sign
    any other         an option of allot_submit (docs/sql-api.md), or a function of the task's
                      arguments that returns its value; None leaves it out
    """
    for name, kind in _OWN.items():
        if name in options and (type(options[name]) is not kind or options[name] < 0):
            raise TypeError(f"allot_options: {name} must be of the type {kind.__name__} and not negative")
    if "max_attempts" in options:
        raise TypeError("allot_options: max_attempts follows from tries; set tries")

    def mark(function):
        if hasattr(function, "func"):
            raise TypeError("allot_options: put it below @task, so that it gets the function")
        function.allot_options = options
        return function

    return mark


def own_option(function, name, default=None):
    """The value of tries, timeout or accepts_unsigned of a function."""
    return getattr(function, "allot_options", {}).get(name, default)


def submit_options(function, args, kwargs):
    """The options for allot_submit."""
    options = {}
    for name, value in getattr(function, "allot_options", {}).items():
        if name in _OWN:
            continue
        value = value(*args, **kwargs) if callable(value) else value
        if value is not None:
            options[name] = value
    return options
