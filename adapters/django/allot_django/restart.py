# SPDX-License-Identifier: Apache-2.0
# S83: the mark of a deployment is the modification time of a file, which `manage.py allot_restart`
# touches. A process compares it before each task.
import os
import time

_SLACK = 0.02  # seconds; the clocks of files and processes tick every 10 ms


class RestartMark:
    def __init__(self, file):
        self._file = file
        self._first = self._read()
        # Touched while this process was loading, which may have the old code.
        self._stale = self._first is not None and 0 <= time.time() - self._first / 1e9 <= _age() + _SLACK

    def has_changed(self):
        return self._stale or self._read() != self._first

    def _read(self):
        try:
            return os.stat(self._file).st_mtime_ns if self._file else None
        except FileNotFoundError:
            return None


def _age():
    """Seconds since this process was started."""
    with open("/proc/self/stat", "rb") as stat:
        ticks = int(stat.read().rpartition(b")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
