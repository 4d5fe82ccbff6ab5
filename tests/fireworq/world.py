# SPDX-License-Identifier: Apache-2.0
"""One of the two programs that tests/nightly/fireworq asks the same, and the target of its jobs."""
import datetime
import decimal
import json
import re
import socket
import socketserver
import subprocess
import threading
import time


# Details of errors that Fireworq's document describes, or that programs read.
FIXED = "EOF|Missing field|No (routing|such queue|node)|Undefined queue|Cannot configure|MaxDispatches"


def parse_json(text):
    """Objects as dictionaries, but for one that has a key twice; numbers as they are."""

    def pairs(members):
        return dict(members) if len(dict(members)) == len(members) else ["twice", members]

    return json.loads(text, object_pairs_hook=pairs, parse_float=decimal.Decimal)


def read_message(stream, has_body=True):
    """Start line, fields and body of a message; body is None where the end of the connection broke it."""
    start = stream.readline().decode("latin-1").rstrip("\r\n")
    fields = []
    for line in iter(lambda: stream.readline().decode("latin-1").rstrip("\r\n"), ""):
        name, _, value = line.partition(":")
        fields.append((name.strip().lower(), value.strip()))
    known = dict(fields)
    body = b""
    if not has_body or start.startswith("HTTP/1.1 1"):
        pass
    elif "content-length" in known:
        body = stream.read(int(known["content-length"]))
        body = body if len(body) == int(known["content-length"]) else None
    elif "chunked" in known.get("transfer-encoding", ""):
        while size := int(stream.readline() or b"0", 16):
            body += stream.read(size)
            stream.readline()
        stream.readline()
    elif start.startswith("HTTP"):
        body = stream.read()
    return start, fields, body


class Target:
    """Takes jobs; gives each path its answers in turn, and repeats the last one."""

    def __init__(self):
        target = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                with target.lock:
                    target.connections += 1
                goes_on = True
                while goes_on:
                    start, fields, body = read_message(self.rfile)
                    goes_on = start and target.serve(self.connection, start, fields, body)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 100

        self.lock = threading.Lock()
        self.answers = {}  # path: list of bytes, or of functions of the connection
        self.connections = 0
        self.requests = []  # (path, start, fields, body, monotonic time)
        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, connection, start, fields, body):
        """Whether the connection stays open."""
        path = start.split(" ")[1]
        with self.lock:
            self.requests.append((path, start, fields, body, time.monotonic()))
            asked = sum(1 for each in self.requests if each[0] == path)
            answers = self.answers.get(path, [said(200, '{"status":"success"}')])
        answer = answers[min(asked, len(answers)) - 1]
        try:
            if callable(answer):
                answer(connection)
            else:
                connection.sendall(answer)
                return dict(fields).get("connection") != "close"
        except OSError:
            pass
        return False

    def of(self, path):
        with self.lock:
            return [each for each in self.requests if each[0] == path]


def said(status, body, *fields):
    """An answer of the target."""
    body = body.encode() if isinstance(body, str) else body
    lines = ["HTTP/1.1 %d Said" % status, "Content-Length: %d" % len(body), *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def within(seconds, what, condition):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError("not within %s s: %s" % (seconds, what))


class World:
    """One program, and what it answered: records[label] = what is compared."""

    def __init__(self, name, port, pause=None):
        self.name = name
        self.port = port
        self.pause_command = pause
        self.target = Target()
        self.records = {}
        self.ids = {}  # (queue, number in this world): what it is called in both

    def awaken(self):
        """Waits until it runs queues."""
        self.json("PUT", "/queue/probe", {})
        within(30, self.name + " runs queues", lambda: self.json("GET", "/queue/probe/stats")["active_nodes"])
        self.json("DELETE", "/queue/probe")

    def settle(self):
        """Fireworq restarts all queues, with their stats, a second after one was changed."""
        time.sleep(3)

    def pause(self, queue):
        """Ours starts jobs at once; Fireworq only every polling_interval."""
        if self.pause_command:
            subprocess.run([*self.pause_command, queue], check=True, stdout=subprocess.DEVNULL)

    def record(self, label, value):
        assert label not in self.records, label
        self.records[label] = value

    def raw(self, request, later=b"", reads_body=True):
        """`later` is sent once an interim answer came."""
        with socket.create_connection(("127.0.0.1", self.port), 30) as peer:
            peer.sendall(request)
            with peer.makefile("rb") as stream:
                start, fields, body = read_message(stream, reads_body)
                interim = []
                while start.startswith("HTTP/1.1 1"):
                    interim.append(start)
                    peer.sendall(later)
                    start, fields, body = read_message(stream, reads_body)
        return start, fields, body or b"", interim

    def send(self, method, path, body=None, fields=(), reads_body=True):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: 127.0.0.1:%d" % self.port, *fields]
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        request = "\r\n".join([*lines, "", ""]).encode("utf-8") + (body or b"")
        return self.raw(request, b"", reads_body)

    def ask(self, method, path, body=None, fields=(), label=None):
        """Sends a request, and records its answer below a label that tells what was asked."""
        self.asked(
            label or method + " " + path + ("" if body is None else " " + show(body)),
            self.send(method, path, body, fields, method != "HEAD"),
            path.split("/")[2] if path.startswith("/queue/") else None,
        )

    def asked(self, label, answer, queue=None):
        start, fields, body, interim = answer
        record = {"status": start.split(" ")[1] if " " in start else start, "interim": interim, "fields": {}}
        for name, value in fields:
            if name not in ("date", "content-length"):
                record["fields"][name] = self.plain(value)
        if record["status"] == "301":
            record["type of a redirect"] = record["fields"].pop("content-type", None)
        record["length"] = "content-length" in dict(fields)
        text = self.plain(body.decode("utf-8", "surrogateescape"))
        if dict(fields).get("content-type") == "application/json" and body:
            record["json"] = self.normal(parse_json(text), queue)
            record["end"] = text[-1:].isspace()
        elif start.split(" ")[1:2] in (["400"], ["500"]) and text.count("\n") == 3:
            record["text"], record["detail"] = text.split("\n\n", 1)
            if not re.match(FIXED, record["detail"]):
                record["detail"] = "in words that no client reads"
        else:
            record["text"] = text
        self.record(label, record)

    def json(self, method, path, body=None):
        """The JSON of an answer that is not compared; None if there is none."""
        start, _, text, _ = self.send(method, path, body)
        return parse_json(text.decode("utf-8", "surrogateescape")) if " 200 " in start else None

    def push(self, name, category="c", answers=None, **fields):
        """A job that is called by a name in both worlds; its answer is recorded."""
        if answers is not None:
            self.target.answers["/" + name] = answers
        body = json.dumps({"url": self.target.origin + "/" + name, **fields})
        return self.push_raw(name, body, category)

    def push_raw(self, name, body, category="c"):
        answer = self.send("POST", "/job/" + category, body)
        number = queue = None
        if " 200 " in answer[0]:
            pushed = parse_json(answer[2].decode("utf-8", "surrogateescape"))
            number, queue = pushed["id"], pushed["queue_name"]
            self.ids[queue, number] = "job " + name
        self.asked("push " + name, answer, queue)
        return number

    def plain(self, text):
        text = text.replace(self.target.origin, "TARGET").replace(self.target.origin[len("http://") :], "TARGET")
        return text.replace("127.0.0.1:%d" % self.port, "HERE")

    def normal(self, value, queue=None, key=""):
        if isinstance(value, dict):
            return {name: each if name == "payload" else self.normal(each, queue, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self.normal(each, queue, key) for each in value]
        if key in ("id", "job_id") and isinstance(value, int):
            return self.ids.get((queue, value), value)
        if key == "id" and isinstance(value, str) and value.isdigit():
            return "a number"  # of a connection
        if key == "max_dispatches_per_second":
            return float(value)
        if key in ("pushes_per_second", "pops_per_second") and isinstance(value, int):
            return "a number"  # how many were in the last second
        if key in ("created_at", "next_try", "failed_at"):
            return time_of(value)
        if key == "next_cursor" and value:
            return "a cursor"
        return value


def time_of(text):
    """When from now on, where it is a time as Fireworq writes them; "now" is this minute."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?Z", text):
        return text
    then = datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()
    minutes = round((then - time.time()) / 60)
    return "now" if minutes == 0 else "in %d min" % minutes


def show(body):
    text = body if isinstance(body, str) else json.dumps(body) if not isinstance(body, bytes) else repr(body)
    return text if len(text) <= 100 else text[:80] + "... (%d)" % len(text)
