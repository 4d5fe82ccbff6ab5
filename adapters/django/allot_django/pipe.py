# SPDX-License-Identifier: Apache-2.0
# The lines between allotd and a long-running program: docs/pipe-workers.md. Used by one thread.
import base64
import json
import os
import select
import stat
import sys

_IN, _OUT = 3, 4


class Pipe:
    def __init__(self):
        for descriptor in (_IN, _OUT):
            os.set_inheritable(descriptor, False)
        self._buffer = bytearray()
        self._write({"kind": "hello", "protocol": 1})

    def next_task(self):
        """Waits for the next task, with its payload as bytes; None: no task will come."""
        while (line := self._read()) and line["kind"] != "task":
            pass  # a stop sent before the verdict arrived
        if line:
            base = line.pop("payload_base64", None)
            line["payload"] = line["payload"].encode() if base is None else base64.b64decode(base)
        return line

    def verdict(self, task, verdict):
        self._write({"kind": "verdict", "id": task, **verdict})

    def last_verdict(self, task, verdict):
        """A verdict after which this process ends: it is given no further task."""
        self.verdict(task, {**verdict, "last": True})

    def progress(self, task, percent, word):
        self._write({"kind": "progress", "id": task, "percent": min(100, max(0, int(percent))), "word": str(word)})

    def stop_reason(self):
        """The reason of a stop that has arrived; None: there is none yet."""
        if b"\n" not in self._buffer and not select.select([_IN], [], [], 0)[0]:
            return None
        line = self._read()
        return line["reason"] if line else "worker_leaves"

    def _read(self):
        while (end := self._buffer.find(b"\n")) < 0:
            got = os.read(_IN, 1 << 16)
            if not got:
                return None
            self._buffer += got
        line = json.loads(self._buffer[:end])
        del self._buffer[:end + 1]
        return line

    def _write(self, line):
        data = memoryview((json.dumps(line) + "\n").encode())
        try:
            while data:
                data = data[os.write(_OUT, data):]
        except BrokenPipeError:
            sys.exit(1)  # allotd no longer reads


def started_by_allotd():
    """Whether allotd has opened the descriptors."""
    try:
        modes = [os.fstat(descriptor).st_mode for descriptor in (_IN, _OUT)]
    except OSError:
        return False
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)
