# SPDX-License-Identifier: Apache-2.0
# Verdicts in the form of the pipe protocol.
import traceback

SUCCESS = {"verdict": "success"}


def failed(error):
    """The task is dead, with this error."""
    return {"verdict": "fail", **_why(error)}


def retried(error, delay=None):
    """Another attempt follows, after `delay` seconds or as the policy of the type says."""
    return {"verdict": "retry", **_why(error), **_pause(delay)}


def snoozed(error):
    return {"verdict": "snooze", "reason": _text(error), **_pause(error.delay)}


def released(reason):
    return {"verdict": "release", "reason": reason}


def _why(error):
    trace = "".join(traceback.format_exception(error))
    return {"class": type(error).__qualname__, "message": _text(error), "trace": _text(trace)}


def _pause(seconds):
    return {} if seconds is None else {"delay": f"{max(0, round(seconds * 1000))}ms"}


def _text(value):
    return str(value).encode(errors="replace").decode()  # the line must be UTF-8
