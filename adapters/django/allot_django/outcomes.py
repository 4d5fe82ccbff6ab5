# SPDX-License-Identifier: Apache-2.0
# Exceptions with which a task function decides the outcome of its task. Any other exception is a
# failed attempt, which is retried while tries are left.


class Fail(Exception):
    """The task fails at once, without another try."""


class Retry(Exception):
    """The attempt failed; the next one starts after `delay` seconds."""

    def __init__(self, reason="", *, delay=None):
        super().__init__(reason)
        self.delay = delay


class Snooze(Exception):
    """Not now: the task runs again after `delay` seconds, and no attempt is counted."""

    def __init__(self, delay, reason=""):
        super().__init__(reason)
        self.delay = delay


class AttemptsExceeded(Exception):
    """The last try ended without a verdict: its process was killed, or its time limit was over."""


class UnknownTask(Exception):
    """The task's name leads to no task function of this application."""


class Refused(Exception):
    """The payload may not be run by this application."""
