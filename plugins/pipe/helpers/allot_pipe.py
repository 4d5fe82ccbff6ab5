# SPDX-License-Identifier: Apache-2.0
# Runs tasks of Allot (docs/pipe-workers.md): allot_pipe.run(handle). handle(task) returns nothing or
# True, or fail("why"), retry("why", delay=30), snooze(delay=30), release(); delays are seconds.
import base64, functools, json, os, select, sys, traceback

class Verdict(dict): pass
def _text(value): return str(value).encode(errors="replace").decode()
def _verdict(word, reason="", delay=None):
    more = {} if delay is None else {"delay": "%dms" % (delay * 1000)}
    return Verdict(verdict=word, reason=_text(reason), **more)
success, retry, fail, snooze, release = (
    functools.partial(_verdict, word) for word in "success retry fail snooze release".split())
_buffer, _decode = bytearray(), json.JSONDecoder().raw_decode

class Refused(Exception):  # of a call that writes; the worker's line is in its fields
    def __init__(self, line):
        super().__init__(line["reason"])
        self.code, self.number = line["code"], line["number"]

def _read(wait=True):
    while (end := _buffer.find(b"\n")) < 0:
        if not wait and not select.select([3], [], [], 0)[0]: return None
        got = os.read(3, 1 << 16)  # a pipe holds no more, and a larger buffer costs more
        if not got: sys.exit(0)  # no task will come
        _buffer.extend(got)
    line = _decode(_buffer[:end].decode())[0]
    del _buffer[:end + 1]
    return line

def _send(text):
    data = text.encode()
    while (sent := os.write(4, data)) < len(data): data = memoryview(data)[sent:]
def _write(**line): _send(json.dumps(line) + "\n")

def _payload(data):
    try:
        return {"payload": data if isinstance(data, str) else bytes(data).decode()}
    except UnicodeDecodeError:
        return {"payload_base64": base64.b64encode(data).decode()}

class Task:  # id, queue, type, attempt, max_attempts, time_left_ms; payload: str, or bytes if no text
    def __init__(self, line):
        self.__dict__.update(line)
        self._stopped = False
        if "payload_base64" in line: self.payload = base64.b64decode(self.payload_base64)
    def _call(self, kind, **fields):
        _write(kind=kind, id=self.id, **fields)
        while (answer := _read())["kind"] == "stop": self._stopped = True
        if answer["kind"] == "refused": raise Refused(answer)
        return answer["ids"]
    def stop_requested(self):
        self._stopped = self._stopped or _read(wait=False) is not None
        return self._stopped
    def heartbeat(self): _write(kind="heartbeat", id=self.id)
    def log(self, text, level="info"): _write(kind="log", id=self.id, level=level, text=text)
    def checkpoint(self, data): self._call("checkpoint", **_payload(data))
    def submit(self, type, payload="", **options):
        return self._call("submit", tasks=[{"type": type, **_payload(payload), **options}])[0]
    def replace_with(self, type, payload="", **options):
        self._call("replace_with", tasks=[{"type": type, **_payload(payload), **options}])

def _ended(handle, task):  # None is success
    try:
        end = handle(task)
    except Exception as error:
        return {"verdict": "exception", "class": type(error).__name__, "message": _text(error),
                "trace": _text(traceback.format_exc())}
    if end is None or end is True or isinstance(end, Verdict): return None if end is True else end
    what = "False" if end is False else "a value of the type %s, no verdict" % type(end).__name__
    return retry("the handler returned " + what)

def run(handle):
    sys.stdout.reconfigure(line_buffering=True)
    for fd in (3, 4): os.set_inheritable(fd, False)
    _write(kind="hello", protocol=1)
    while line := _read():
        if line["kind"] == "task":  # else a stop that crossed a verdict
            end = _ended(handle, Task(line))
            if end: _write(kind="verdict", id=line["id"], **end)
            else: _send('{"kind": "verdict", "id": "%s", "verdict": "success"}\n' % line["id"])  # fast
