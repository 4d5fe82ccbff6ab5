# SPDX-License-Identifier: Apache-2.0
# The task that this process runs, if any. Outside a worker these functions do nothing, so a task
# function that uses them also runs in tests and with other backends.
_task = None


def begin(task):
    global _task
    _task = task


def end():
    global _task
    _task = None


def progress(percent, word=""):
    """Reports how far the task is: 0 to 100, and a word of up to 47 bytes."""
    if _task:
        _task.progress(percent, word)


def stop_requested():
    """True when the task should end soon."""
    return stop_reason() is not None


def stop_reason():
    """Why the task should end: cancelled, time_limit, lease_in_doubt or worker_leaves; else None."""
    return _task.stop_reason() if _task else None
