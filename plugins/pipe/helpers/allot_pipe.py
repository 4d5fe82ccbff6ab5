# SPDX-License-Identifier: Apache-2.0
# Runs tasks of Allot (docs/pipe-workers.md): allot_pipe.run(handle). handle(task) returns nothing
# or True, or fail("why"), retry("why", delay=30), snooze(delay=30), release(); delays are seconds.
# The reason of a failure or retry may be an exception.
import base64, functools, json, os, select, sys, traceback

class Verdict(dict): pass
def _text(value): return str(value).encode(errors="replace").decode()
def _error(error):
    trace = traceback.format_exception(type(error), error, error.__traceback__)
    return {"class": type(error).__name__, "message": _text(error), "trace": _text("".join(trace))}
def _verdict(word, reason="", delay=None):
    more = {} if delay is None else {"delay": "%dms" % (delay * 1000)}
    why = _error(reason) if isinstance(reason, BaseException) else {"reason": _text(reason)}
    return Verdict(verdict=word, **why, **more)
success, retry, fail, snooze, release = (
    functools.partial(_verdict, word) for word in "success retry fail snooze release".split())
_buffer, _decode = bytearray(), json.JSONDecoder().raw_decode

class Refused(Exception):  # error of a call that writes; the worker's line is in its fields
    def __init__(self, line):
        super().__init__(line["reason"])
        self.code, self.number = line["code"], line["number"]

def _read(wait=True):
    while (end := _buffer.find(b"\n")) < 0:
        if not wait and not select.select([3], [], [], 0)[0]: return None
        got = os.read(3, 1 << 16)  # capacity of a pipe; a larger buffer costs more
        if not got: sys.exit(0)  # no further task follows
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
    stop_reason = None  # after a stop request: cancelled, time_limit, lease_in_doubt, worker_leaves
    def __init__(self, line):
        self.__dict__.update(line)
        if "payload_base64" in line: self.payload = base64.b64decode(self.payload_base64)
    def _call(self, kind, **fields):
        _write(kind=kind, id=self.id, **fields)
        while (answer := _read())["kind"] == "stop": self.stop_reason = answer["reason"]
        if answer["kind"] == "refused": raise Refused(answer)
        return answer["ids"]
    def stop_requested(self):
        if not self.stop_reason and (line := _read(wait=False)): self.stop_reason = line["reason"]
        return self.stop_reason is not None
    def heartbeat(self): _write(kind="heartbeat", id=self.id)
    def progress(self, percent, word=""):
        _write(kind="progress", id=self.id, percent=int(percent), word=_text(word))
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
        return {"verdict": "exception", **_error(error)}
    if end is None or end is True or isinstance(end, Verdict): return None if end is True else end
    what = "False" if end is False else "a value of the type %s, no verdict" % type(end).__name__
    return retry("the handler returned " + what)

def run(handle):
    sys.stdout.reconfigure(line_buffering=True)
    for fd in (3, 4): os.set_inheritable(fd, False)
    _write(kind="hello", protocol=1)
    while line := _read():
        if line["kind"] == "task":  # else a stop sent before the verdict arrived
            end = _ended(handle, Task(line))
            if end: _write(kind="verdict", id=line["id"], **end)
            else: _send('{"kind": "verdict", "id": "%s", "verdict": "success"}\n' % line["id"])  # fast
