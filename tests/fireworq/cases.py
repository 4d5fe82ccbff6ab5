# SPDX-License-Identifier: Apache-2.0
"""Requests to both programs. Each function is a part: PARTS run in one world, OTHER_PARTS in another
that is configured with queue_default and keep_alive."""
import base64
import json
import re
import socket
import struct
import time

from world import read_message, said, within

SUCCESS = '{"status":"success"}'
LATER = {"run_after": 3600}


def requests(world):
    """Methods, paths and fields that any request may have."""
    world.json("PUT", "/queue/first", {})
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "FOO"):
        for path in ("/version", "/queue/first", "/queues", "/nothing", "/queue/first/node"):
            if path == "/queue/first/node" and method != "GET":
                continue
            if (method, path) in (("PUT", "/queue/first"), ("DELETE", "/queue/first")):
                continue
            world.ask(method, path)
    for method in ("GET", "HEAD", "PUT", "DELETE", "post", "PATCH"):
        world.ask(method, "/job/c")
    for method in ("POST", "PATCH", "HEAD"):
        world.ask(method, "/routing/nothing")
        world.ask(method, "/queue/first/job/1")
    for path in (
        "/", "/version/", "/queues/", "/queue", "/queue/", "/queue/first/", "/queue/first/job", "/queue/first/job/",
        "/queue/first/job/1/", "/queue/first/job/1/2", "/queue/first/failed/", "/queue/first/failed/1/", "/job",
        "/job/", "/routing", "/routing/", "/routings/", "/stats/", "/settings/", "/queues/stats/", "/Version",
        "/queue/first/Node", "/queue/first/nothing", "/queues/nothing",
        "//", "//version", "/./version", "/queues//stats", "/queue/../version", "/../version", "/queue//first",
        "/queue/./first?a=b", "/routing/a/../b", "/routing/a//b", "/routing/%2e%2e/b", "/routing/a%2F%2Fb",
        "/queue/first/.", "/queue/first/..", "/queue/../..", "/queue/first/../first/node", "/routing/ü//x",
        "/routing/%c3%bc//x", "/routing/a%20b//%25x", "/routing/(a)*!'//x;,", "/routing/a[]//\"x", "//%zz",
        "/%zz", "/queue/%", "/queue/%2", "/queue/a%2Fb", "/queue/a%2Fnode", "/queue/first%2Fnode", "/queue/a%00b",
        "/routing/a%0Ab", "/routing/a%0Db", "/queue/a%0Ab", "/queue/%FF", "/queue/ü", "/queue/a b", "/queue/a+b",
        "/queue/first?x=%zz", "/queue/first?", "/queue/first#x", "/version?x", "/version;x", "/queue/first;x",
        "/queue/" + "q" * 255, "/queue/" + "q" * 256, "/routing/" + "r" * 256, "/queue/" + "q" * 3000,
        "version", "http://127.0.0.1/version", "http://127.0.0.1/", "http://127.0.0.1", "http://other:1/version",
        "/queue/first/stats?x=1", "/queue/nothing/stats", "/queue/nothing/node",
    ):  # fmt: skip
        world.ask("GET", path, label="GET " + (path if len(path) < 100 else "%s... (%d)" % (path[:20], len(path))))
    world.ask("GET", "*", label="GET an asterisk")
    for fields in (
        ("Content-Type: text/plain",), ("Content-Type: nonsense",), ("Accept: text/html",),
        ("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"),
        ("Accept-Encoding: gzip",), ("Connection: keep-alive",), ("Connection: close",),
        ("Authorization: Basic eDp5",), ("Range: bytes=0-1",), ("If-None-Match: *",), ("X-Forwarded-For: 127.0.0.1",),
        ("Cookie: a=b",),
    ):  # fmt: skip
        for path in ("/version", "/queue/first", "/nothing", "/queue/nothing"):
            world.ask("GET", path, fields=fields, label="GET %s with %s" % (path, fields[0]))
    for method in ("GET", "DELETE"):
        for body in ("null", "{}", "", "x", "{"):
            world.ask(method, "/queue/nothing", body)
            world.ask(method, "/version", body)
    host = b"Host: 127.0.0.1\r\n"
    for label, request in (
        ("HTTP/1.0", b"GET /version HTTP/1.0\r\n\r\n"),
        ("HTTP/1.0 with keep-alive", b"GET /version HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
        ("no Host", b"GET /version HTTP/1.1\r\n\r\n"),
        ("two Hosts", b"GET /version HTTP/1.1\r\n" + host + host + b"\r\n"),
        ("HTTP/2.0", b"GET /version HTTP/2.0\r\n" + host + b"\r\n"),
        ("no request", b"nonsense\r\n\r\n"),
        ("only line feeds", b"GET /version HTTP/1.1\nHost: 127.0.0.1\n\n"),
        ("another Expect", b"PUT /queue/first HTTP/1.1\r\n" + host + b"Expect: x\r\nContent-Length: 2\r\n\r\n{}"),
        ("Expect of what reads no body",
         b"PUT /nothing HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"),
        ("chunks", b"PUT /queue/first HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("broken chunks", b"PUT /queue/first HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n"),
        ("another coding", b"PUT /queue/first HTTP/1.1\r\n" + host + b"Transfer-Encoding: gzip\r\n\r\n"),
        ("no length", b"PUT /queue/first HTTP/1.1\r\n" + host + b"\r\n"),
        ("negative length", b"PUT /queue/first HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n"),
    ):  # fmt: skip
        world.asked(label, world.raw(request))
    expects = b"PUT /queue/first HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    world.asked("Expect", world.raw(expects, b"{}"))


def whole(world):
    """Requests that concern the whole server."""
    world.ask("GET", "/queues", label="no queues yet")
    world.ask("GET", "/queues/stats", label="no stats yet")
    world.ask("GET", "/routings", label="no routings yet")
    world.ask("GET", "/settings")
    for query in ("", "?pp=0", "?pp=1", "?pp=true"):
        start, fields, body, _ = world.send("GET", "/stats" + query)
        stats = json.loads(body)
        world.record("GET /stats" + query, {
            "status": start,
            "fields": sorted(name + ": " + value for name, value in fields if name not in ("date", "content-length")),
            "keys": {name: type(value).__name__ for name, value in stats.items()},
            "indented": b"\n  " in body,
        })  # fmt: skip


WRONG_JSON = (
    "", " ", "{", "}", "[", '{"', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{'a':1}", "nul", "nullx", "x",
    "1", '"x"', "true", "[]", "[{}]", "{}}", "{} x", "{}{", "null", '{"a":01}', '{"a":.5}', '{"a":1.}', '{"a":-}',
    '{"a":+1}', '{"a":1e}', '{"a":NaN}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\n"}', '{"a":"\t"}', '{"a":1 "b":2}',
    "\ufeff{}", "/* */{}", '{"a":"\\ud800"}', '{"\\u0061":1}', " {}", "\n{}", "\v{}", '{"a":' * 50 + "1" + "}" * 50,
    '{"a":' + "[" * 10050 + "]" * 10050 + "}",
)  # fmt: skip


def queues(world):
    """Definitions of queues: their fields, and the results."""
    for number, body in enumerate(WRONG_JSON):
        world.ask("PUT", "/queue/j%d" % number, body, label="wrong JSON: PUT /queue/j%d %.30s" % (number, body))
    definitions = [
        {}, {"max_workers": 5}, {"polling_interval": 1000}, {"max_workers": 0, "polling_interval": 0},
        {"name": "other"}, {"name": None}, {"name": 5}, {"MAX_WORKERS": 3}, {"Max_Workers": 3, "x": [1, {"y": None}]},
        {"max_workers": None, "polling_interval": None, "max_dispatches_per_second": None, "max_burst_size": None},
        {"max_workers": "5"}, {"max_workers": -1}, {"max_workers": True}, {"max_workers": []}, {"max_workers": {}}, {"max_workers": 65536}, {"max_workers": 65537},
        {"max_dispatches_per_second": 2.5, "max_burst_size": 5}, {"max_dispatches_per_second": 2, "max_burst_size": 5},
        {"max_dispatches_per_second": 0, "max_burst_size": 0},
        {"max_dispatches_per_second": "2", "max_burst_size": 5}, {"max_dispatches_per_second": 2, "max_burst_size": -5},
        {"max_dispatches_per_second": 2, "max_burst_size": 1.5}, {"polling_interval": 300, "max_dispatches_per_second": 7,
                                                                  "max_burst_size": 1},
        {"max_dispatches_per_second": 0.125, "max_burst_size": 1}, {"max_dispatches_per_second": 1000000, "max_burst_size": 9},
        {"polling_interval": 4294967295}, {"polling_interval": 4294967296}, {"polling_interval": 60000.5},
        {"max_burst_size": 4294967295, "max_dispatches_per_second": 1}, {"max_burst_size": 4294967296, "max_dispatches_per_second": 1},
    ]  # fmt: skip
    texts = [json.dumps(each) for each in definitions] + [
        '{"max_workers":1e1}', '{"max_workers":10.0}', '{"max_workers":-0}', '{"max_workers":1,"max_workers":2}',
        '{"max_workers":1,"MAX_WORKERS":2}', '{"max_workers":7,"max_workers":null}', '{"max_workers":1.5}',
        '{"max_dispatches_per_second":1e400,"max_burst_size":1}', '{"max_dispatches_per_second":1e2,"max_burst_size":1}',
        '{"max_dispatches_per_second":1e-3,"max_burst_size":1}', '{"max_dispatches_per_second":-0.0}',
        '{"max_dispatches_per_second":0.1,"max_burst_size":1}', '{"max_dispatches_per_second":3.3333333333,"max_burst_size":1}',
        '{"max_wor\\u212Aers":4}', '{"max_worKers":4}', '{"max_workers ":4}', '{"max_workers":99999999999999999999}',
    ]  # fmt: skip
    for throttle in ({"max_dispatches_per_second": 2}, {"max_burst_size": 2}, {"max_dispatches_per_second": -1},
                     {"max_dispatches_per_second": -1, "max_burst_size": 2}, {"max_dispatches_per_second": 0, "max_burst_size": 3},
                     {"max_dispatches_per_second": 3, "max_burst_size": 0}):  # fmt: skip
        world.ask("PUT", "/queue/throttled", throttle)
    for number, text in enumerate(texts):
        world.ask("PUT", "/queue/d%d" % number, text, label="define " + text)
        world.ask("GET", "/queue/d%d" % number, label="defined by " + text)
        world.json("DELETE", "/queue/d%d" % number)
    for name in ("a b", "ü", "a:b", "My::Queue", "a.b", "-", "_", "A", "a%00b", "%FF%FE", "a%22b", "a%60b", "a%5Cb",
                 "a%3Fb", "a%25b", "a;b", "%f0%9f%98%80", "z" * 256, "select", "...", "n" * 46, "a%0Ab",
                 "a%e2%80%aeb"):  # fmt: skip
        # A longer one ends Fireworq, which cannot make its table.
        shown = name if len(name) < 70 else "%s... (%d)" % (name[:3], len(name))
        path = "/queue/" + name.replace(" ", "%20").replace("ü", "%c3%bc")
        for method, below in (("PUT", ""), ("GET", ""), ("GET", "/waiting"), ("DELETE", "")):
            world.ask(method, path + below, "{}" if method == "PUT" else None, label="%s queue %s %s" % (method, shown, below))
    world.ask("PUT", "/queue/same", {"max_workers": 3}, label="make a queue")
    world.ask("PUT", "/queue/same", {"max_workers": 3}, label="the same again")
    world.ask("PUT", "/queue/same", {"max_workers": 6, "polling_interval": 500}, label="make it wider")
    world.ask("PUT", "/queue/same", {"max_workers": 2}, label="make it narrower")
    world.ask("PUT", "/queue/same", {"max_dispatches_per_second": 5, "max_burst_size": 2}, label="throttle it")
    world.ask("GET", "/queue/same", label="a throttled queue")
    world.ask("PUT", "/queue/same", {}, label="throttle it no longer")
    world.ask("GET", "/queue/same", label="a queue that was throttled")
    world.ask("DELETE", "/queue/same", label="delete a queue")
    world.ask("DELETE", "/queue/same", label="delete it again")
    world.ask("GET", "/queue/same", label="a deleted queue")
    world.ask("GET", "/queue/same/waiting", label="jobs of a deleted queue")
    world.json("PUT", "/queue/My::Queue", {"max_workers": 4})
    world.settle()
    world.ask("GET", "/queue/My::Queue/stats")
    world.ask("GET", "/queue/My::Queue/node")
    world.ask("PUT", "/queue/Order", {})
    world.ask("PUT", "/queue/order", {})
    names = [each["name"] for each in world.json("GET", "/queues")]
    world.record("order of queues", names)
    listed = world.json("GET", "/queues/stats")
    world.record("queues that have stats", {name: sorted(each) for name, each in listed.items()})


def routings(world):
    """Routings, and the queue that a push finds."""
    for name in ("r1", "r2", "gone"):
        world.json("PUT", "/queue/" + name, {})
    for number, body in enumerate(WRONG_JSON):
        world.ask("PUT", "/routing/j%d" % number, body, label="wrong JSON: PUT /routing/j%d %.30s" % (number, body))
    for body in ({"queue_name": "r1"}, {"queue_name": "r1", "job_category": "other"}, {"QUEUE_NAME": "r2"},
                 {"queue_name": "nothing"}, {"queue_name": ""}, {}, {"queue_name": None}, {"queue_name": 5},
                 {"queue_name": "r1", "job_category": 5}, {"queue_name": "R1"}, {"queue_name": "r1 "},
                 {"queue_name": "a\nb"}, {"queue_name": "r1", "x": 1}, {"queue_name": "x" * 300}):  # fmt: skip
        world.ask("PUT", "/routing/c", body)
        world.ask("GET", "/routing/c", label="GET /routing/c after " + json.dumps(body)[:60])
    for category in ("My::Worker", "a/b/c", "a b", "ü", "x" * 255, "y" * 256, "%FF", "a%00b", "a%2Fb", "A%2525", "a+b"):
        path = "/routing/" + category.replace(" ", "%20").replace("ü", "%c3%bc")
        label = category if len(category) < 100 else "%s... (%d)" % (category[:3], len(category))
        world.ask("PUT", path, {"queue_name": "r2"}, label="PUT routing " + label)
        world.ask("GET", path, label="GET routing " + label)
        world.ask("POST", path, label="POST routing " + label)
        body = json.dumps({"url": world.target.origin + "/routed", **LATER})
        number = world.push_raw("routed " + label, body, path[len("/routing/"):])
        if number:
            world.ask("GET", "/queue/r2/job/%d" % number, label="routed job of " + label)
            world.ask("DELETE", "/queue/r2/job/%d" % number, label="delete routed job of " + label)
        world.ask("DELETE", path, label="DELETE routing " + label)
        world.ask("DELETE", path, label="DELETE routing again " + label)
    world.push("no-routing", "none-such")
    for category, queue in (("z", "r1"), ("b", "r2"), ("a", "r2"), ("lost", "gone")):
        world.json("PUT", "/routing/" + category, {"queue_name": queue})
    world.record("order of routings", [each["queue_name"] for each in world.json("GET", "/routings")])
    world.record("routings", sorted(str(sorted(each.items())) for each in world.json("GET", "/routings")))
    world.json("DELETE", "/queue/gone")
    world.ask("GET", "/routing/lost")
    world.push("to-a-queue-that-is-gone", "lost")
    world.json("PUT", "/queue/gone", {"polling_interval": 600000})
    world.push("to-a-queue-that-is-back", "lost", **LATER)
    world.ask("DELETE", "/queue/gone", label="delete a queue with a job")
    world.ask("GET", "/queue/gone/deferred", label="its jobs")
    world.json("PUT", "/queue/gone", {"polling_interval": 600000})
    world.ask("GET", "/queue/gone/deferred", label="its jobs, after it came back")


def pushes(world):
    """Bodies of pushed jobs, and how the job is shown; none of them is due."""
    world.json("PUT", "/queue/pushed", {})
    world.json("PUT", "/routing/c", {"queue_name": "pushed"})
    url = world.target.origin + "/x"
    for number, text in enumerate(WRONG_JSON):
        world.push_raw("wrong JSON: %d %.30s" % (number, text), text)
    plain = '{"url":"%s","run_after":3600,' % url
    payloads = (
        "null", '""', '"text"', '"\\u00fc"', '"\\"quoted\\""', '"{\\"a\\":1}"', '"5"', '"null"', '"\\u0000"',
        '"\\ud800"', '"\\ud83d\\ude00"', '"a\\nb"', '"\\ud800\\u0041"', '"\\udc00"', '"<&>"', '"\\/"', "{}", "[]",
        "5", "-0", "1.0", "1e5", "12345678901234567890123", "0.1000", "true", "false", '{ "a" : 1 , "a":2}',
        '{"b":1,\n"a":2}', '{"<":"<"}', '{"a":"\\u003c"}', '[1, 2,\t3]', '{"a":"\u2028"}', '" "', '"{"', '"[1,2"',
        '"[1,2]"', '" {} "', '"\\u0007"', '"%s"' % ("x" * 100000),
    )  # fmt: skip
    bodies = [plain + '"payload":%s}' % each for each in payloads]
    bodies += [
        plain[:-1] + "}",
        plain + '"payload":1,"payload":2}', plain + '"PayLoad":{"a":1}}', plain + '"payload":1,"payload":null}',
        plain + '"payload":{"a":1}} trailing', plain + '"category":"other"}', plain + '"category":5}', plain + '"id":7}',
        plain + '"category":null}', plain + '"queue_name":7}',
        plain + '"timeout":5,"retry_delay":6,"max_retries":7}', plain + '"timeout":null,"retry_delay":null}',
        plain + '"timeout":-1}', plain + '"timeout":1.5}', plain + '"timeout":"5"}', plain + '"timeout":1e2}',
        plain + '"max_retries":4294967295}', plain + '"max_retries":4294967296}', plain + '"max_retries":99996}',
        plain + '"retry_delay":4294967295}', plain + '"timeout":4294967295}', plain + '"retry_delay":4294967296}',
        plain + '"max_retries":18446744073709551616}', plain + '"TIMEOUT":9}', plain + '"timeout":true}',
        '{"url":"%s","run_after":-1}' % url, '{"url":"%s","run_after":"1"}' % url,
        '{"url":"%s","run_after":1.5}' % url, '{"url":"%s","run_after":31536000}' % url,
        '{"url":"%s","run_after":4000000000}' % url, '{"url":"%s","run_after":4294967296}' % url,
        '{"URL":"%s","RUN_AFTER":3600}' % url, '{"url":"%s","url":"%s2","run_after":3600}' % (url, url),
        '{"url":"%s","url":null,"run_after":3600}' % url,
        "{}", '{"url":""}', '{"url":null}', '{"url":5}', '{"url":[]}', '{"payload":1}',
        '{"url":"%s?a=b&c=<>","run_after":3600}' % url, '{"url":"%s#frag","run_after":3600}' % url,
        '{"url":"%s/\u00fc","run_after":3600}' % url, '{"url":"%s/a b","run_after":3600}' % url,
        '{"url":"%s/%%20","run_after":3600}' % url, '{"url":"HTTP%s","run_after":3600}' % url[4:],
        '{"url":"%s","run_after":3600,"payload":"%s"}' % (url, "\\u00fc" * 1000),
    ]  # fmt: skip
    shown = [each.replace(world.target.origin[7:], "TARGET") for each in bodies]
    for number, (text, label) in enumerate(zip(bodies, shown)):
        label = "%d %s" % (number, label if len(label) < 130 else label[:110] + "...")
        job = world.push_raw(label, text)
        if job:
            world.ask("GET", "/queue/pushed/job/%d" % job, label="job " + label)
    raw = plain.encode() + b'"payload":"\xff\xc3"}'
    job = world.push_raw("a payload that is not UTF-8", raw)
    world.ask("GET", "/queue/pushed/job/%d" % job, label="job of a payload that is not UTF-8")
    for body in ('{"url":"ftp://127.0.0.1/"}', '{"url":"nonsense"}', '{"url":"http://"}', '{"url":"http://[::1"}',
                 '{"url":"http://127.0.0.1:99999/"}', '{"url":"/path"}', '{"url":"http://other.example/"}',
                 '{"url":" http://127.0.0.1/"}', '{"url":"http://a:b@127.0.0.1/"}', '{"url":"http://127.0.0.1:x/"}'):  # fmt: skip
        world.push_raw("url " + body, body[:-1] + ',"run_after":3600}')
    for category in ("", "c%2Fd", "%FF", "x" * 255, "x" * 256):
        world.json("PUT", "/routing/" + category, {"queue_name": "pushed"}) if category else None
        world.push_raw("category %.20s (%d)" % (category, len(category)), plain[:-1] + "}", category)
    big = '{"url":"%s","run_after":3600,"payload":"%s"}'
    world.push_raw("more than 16 MiB", big % (url, "x" * (16 << 20)))


def jobs(world):
    """Lists of jobs, their parameters and cursors; single jobs."""
    world.json("PUT", "/queue/listed", {"polling_interval": 600000})
    world.json("PUT", "/routing/l", {"queue_name": "listed"})
    world.settle()
    world.pause("listed")
    for each in ("waiting", "deferred", "grabbed", "failed"):
        world.ask("GET", "/queue/listed/" + each, label="empty " + each)
        world.ask("GET", "/queue/nothing/" + each)
    numbers = []
    for number in range(5):
        numbers.append(world.push("due%d" % number, "l", payload={"n": number}, max_retries=number))
        time.sleep(0.02)  # Fireworq's cursor goes wrong where times are the same
    for number in range(5):
        world.push("later%d" % number, "l", run_after=3600 * (number + 1), payload=str(number))
    for each in ("waiting", "deferred", "grabbed"):
        path = "/queue/listed/" + each
        for query in ("", "?order=asc", "?order=desc", "?order=x", "?limit=2", "?limit=0", "?limit=1&order=asc",
                      "?limit=x", "?limit=", "?limit=5", "?limit=4", "?limit=2.0", "?limit=-1", "?limit=%202", "?limit=%2B2",
                      "?limit=1000", "?LIMIT=1", "?limit=1&limit=2", "?cursor=", "?cursor=x", "?cursor=!!",
                      "?cursor=" + base64.b64encode(b"x,y").decode(), "?cursor=" + base64.b64encode(b"5").decode(),
                      "?limit=2;order=asc", "?order=%61sc", "?ORDER=asc", "?limit=99999999999999999999"):  # fmt: skip
            world.ask("GET", path + query)
        for order in ("asc", "desc"):
            cursor, pages = "", []
            while len(pages) < 10:
                page = world.json("GET", "%s?limit=2&order=%s&cursor=%s" % (path, order, cursor.replace("=", "%3D")))
                pages.append([world.ids["listed", each["id"]] for each in page["jobs"]])
                cursor = page["next_cursor"]
                if not cursor:
                    break
                ms, _, number = base64.b64decode(cursor).decode().partition(",")
                assert ms.isdigit() and number.isdigit(), cursor
            world.record("pages of %s %s" % (each, order), pages)
    for path in ("job", "failed"):
        for word in ("x", "1.5", "-1", "0", "00", "1x", "%20", "9223372036854775807", "9223372036854775808",
                     "18446744073709551616", "1e3", "999999"):  # fmt: skip
            world.ask("GET", "/queue/listed/%s/%s" % (path, word))
            world.ask("GET", "/queue/nothing/%s/%s" % (path, word))
        world.ask("DELETE", "/queue/listed/%s/999999" % path)
        world.ask("PUT", "/queue/listed/%s/999999" % path)
    for method in ("GET", "POST", "PUT", "DELETE", "GET", "DELETE"):
        nth = sum(1 for label in world.records if label.startswith("one job " + method))
        world.ask(method, "/queue/listed/job/%d" % numbers[2], label="one job %s %d" % (method, nth))
    for before in ("0", "+", "+0", "-", "%2B", "%20"):
        world.ask("GET", "/queue/listed/job/%s%d" % (before, numbers[1]), label="a job behind '%s'" % before)
    world.ask("GET", "/queue/listed/waiting", label="what is left waiting")
    world.ask("GET", "/queue/listed/failed", label="none failed")
    world.settle()
    world.ask("GET", "/queue/listed/stats", label="stats of a queue that does not run")
    for number in range(3):
        world.json("POST", "/job/l", {"url": world.target.origin + "/rate", "run_after": 3600})
    within(5, world.name + " counts a second", lambda: world.json("GET", "/queue/listed/stats")["pushes_per_second"])
    within(5, world.name + " counts no more", lambda: not world.json("GET", "/queue/listed/stats")["pushes_per_second"])
    world.json("PUT", "/queue/other", {})
    world.ask("GET", "/queue/other/job/%d" % numbers[0], label="a job of another queue")


def breaks_off(connection):
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"status":"success"}')


def resets(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def hangs(connection):
    connection.settimeout(8)
    connection.recv(1)


def moved(status, path, *fields):
    return said(status, "", "Location: " + path, *fields)


def verdicts():
    """Answers of the target: (name, answers, fields of the job)."""
    simple = {
        "success": said(200, SUCCESS), "success-500": said(500, SUCCESS), "success-404": said(404, SUCCESS),
        "success-204": b"HTTP/1.1 204 No\r\n\r\n", "success-key": said(200, '{"STATUS":"success"}'),
        "failure": said(200, '{"status":"failure","message":"why"}'),
        "failure-503": said(503, '{"status":"failure","message":"why","code":7}'),
        "permanent": said(200, '{"status":"permanent-failure","message":"why"}'),
        "internal": said(200, '{"status":"internal-failure","message":"why"}'),
        "no-message": said(200, '{"status":"failure"}'), "null-message": said(200, '{"status":"failure","message":null}'),
        "number-message": said(200, '{"status":"failure","message":5}'),
        "text-code": said(200, '{"status":"failure","code":"5"}'), "float-code": said(200, '{"status":"success","code":1.5}'),
        "upper": said(200, '{"status":"SUCCESS"}'), "space": said(200, '{"status":" success"}'),
        "ok": said(200, '{"status":"ok"}'), "no-status": said(200, '{"message":"x"}'), "empty-object": said(200, "{}"),
        "null-status": said(200, '{"status":null}'), "null": said(200, "null"), "list": said(200, "[]"),
        "number": said(200, "5"), "string": said(200, '"foo bar"'), "text": said(200, "foo bar"), "empty": said(200, ""),
        "half-json": said(200, '{"status":'), "trailing": said(200, '{"status":"success"} x'),
        "trailing-space": said(200, ' {"status":"success"}\n\n'), "twice": said(200, '{"status":"failure","status":"success"}'),
        "two-values": said(200, '{"status":"success"}{"status":"failure"}'), "extra": said(200, '{"status":"success","x":{}}'),
        "number-status": said(200, '{"status":1}'), "binary": said(200, b"\xff\x00\xfe"),
        "bad-utf8": said(200, b'{"status":"failure","message":"a\xffb"}'), "surrogate": said(200, '{"status":"failure","message":"\\ud800"}'),
        "quotes": said(200, '{"status":"failure","message":"\\"<&>\\n\\u0000\u00fc"}'), "bom": said(200, "\ufeff" + SUCCESS),
        "long-message": said(200, json.dumps({"status": "failure", "message": "m" * 5000})),
        "html": said(502, "<html>\n<b>bad</b>\n</html>"), "deep": said(200, '{"status":"success","x":' + "[" * 500 + "]" * 500 + "}"),
        "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + SUCCESS.encode() + b"\r\n0\r\n\r\n",
        "to-the-end": b"HTTP/1.1 200 OK\r\n\r\n" + SUCCESS.encode(), "http-1.0": b"HTTP/1.0 200 OK\r\n\r\n" + SUCCESS.encode(),
        "interim": b"HTTP/1.1 100 Continue\r\n\r\n" + said(200, SUCCESS), "early-hints": b"HTTP/1.1 103 Hints\r\nX: y\r\n\r\n" + said(200, SUCCESS),
        "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 20\n\n" + SUCCESS.encode(),
        "no-http": b"nonsense\r\n\r\n", "closed": lambda connection: None, "reset": resets, "broken": breaks_off,
        "broken-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{",
        "bad-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{",
        "bad-length": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{", "not-modified": b"HTTP/1.1 304 No\r\n\r\n",
        "moved-without-place": said(301, SUCCESS), "300": said(300, SUCCESS, "Location: /end"), "304": said(304, ""),
        "moved-nowhere": moved(302, "http://127.0.0.1:1/"), "moved-badly": moved(302, "http://[::1"),
        "moved-to-ftp": moved(302, "ftp://127.0.0.1/x"),
        "moved-for-ever": moved(302, "/moved-for-ever"), "posted-for-ever": moved(307, "/posted-for-ever"),
    }  # fmt: skip
    for status in (301, 302, 303, 307, 308):
        simple["moved-%d" % status] = moved(status, "/end-%d" % status)
    simple["moved-relative"] = moved(302, "end-relative?a=b")
    simple["moved-fragment"] = moved(302, "/end-fragment#part")
    simple["posted-307-404"] = moved(307, "/end-404")
    for name, answer in simple.items():
        yield name, [answer], {}
    failed = said(200, '{"status":"failure","message":"again"}')
    yield "retried", [failed, said(200, SUCCESS)], {"max_retries": 3}
    yield "retried-until-it-fails", [failed, said(200, '{"status":"failure","message":"last"}')], {"max_retries": 2}
    yield "retried-permanently", [failed, said(200, '{"status":"permanent-failure"}')], {"max_retries": 5}
    yield "retried-after-nonsense", [said(200, "x"), resets, said(200, SUCCESS)], {"max_retries": 5}
    yield "times-out", [hangs], {"timeout": 1}
    yield "times-out-and-is-retried", [hangs, said(200, SUCCESS)], {"timeout": 1, "max_retries": 1}


def dispatch(world):
    """Requests that the target sees, and the effect of its answers."""
    world.json("PUT", "/queue/run", {"max_workers": 10, "polling_interval": 100})
    world.json("PUT", "/routing/run", {"queue_name": "run"})
    world.json("PUT", "/queue/odd", {"polling_interval": 100})
    world.json("PUT", "/routing/odd", {"queue_name": "odd"})
    world.settle()
    world.target.answers["/end-404"] = [said(404, '{"status":"permanent-failure","message":"end"}')]
    for name, answers, fields in verdicts():
        category = "odd" if name in ("float-code", "text-code", "twice") else "run"  # not counted in the stats of "run"
        world.push(name, category, answers, payload={"case": name}, **fields)
    payloads = {"none": None, "text": "a text", "empty": "", "object": {"a": [1, "\u00fc<>"]}, "unicode": "\u00fc\U0001f600"}
    for name, payload in payloads.items():
        world.push("payload-" + name, "run", payload=payload)
    for name, payload in (("spaces", '{ "b" : 1,\n "a":2 }'), ("number", "1.000"), ("escapes", '{"a":"\\u003c\\/"}'),
                          ("nul", '"a\\u0000b"'), ("surrogate", '"\\ud800"'), ("big", '"%s"' % ("y" * 300000))):  # fmt: skip
        world.push_raw("raw-" + name, '{"url":"%s/raw-%s","payload":%s}' % (world.target.origin, name, payload), "run")
    for path in ("q?a=b&c=d", "q?", "frag#x", "%c3%bc", "\u00fc", "a b", "a%20b", "a//b", "a/../b", "a/./b", "a%2Fb", "x;y", "x'\"y",
                 "[x]", "?only", "x|y{}^`\\", "q?a b\"", "+", "~_-.", "@:!$&()*,="):  # fmt: skip
        world.push_raw("path " + path, json.dumps({"url": world.target.origin + "/" + path, "max_retries": 0}), "run")
    world.push_raw("path %zz", json.dumps({"url": world.target.origin + "/%zz"}), "odd")
    world.push_raw("no path", json.dumps({"url": world.target.origin}), "run")
    world.push_raw("only a query", json.dumps({"url": world.target.origin + "?q"}), "run")
    world.push_raw("upper case scheme", json.dumps({"url": "HTTP" + world.target.origin[4:] + "/upper"}), "run")

    queues = ("run", "odd")

    def done():
        lists = ("waiting", "grabbed", "deferred")
        return not any(world.json("GET", "/queue/%s/%s" % (name, each))["jobs"] for name in queues for each in lists)

    within(60, world.name + " has run all jobs", done)
    failed = {}
    for name in queues:
        for each in world.json("GET", "/queue/%s/failed?limit=1000" % name)["failed_jobs"]:
            failed[world.ids[name, each["job_id"]]] = (name, each)
    for name, (queue, each) in failed.items():
        shown = json.loads(world.plain(json.dumps(each, default=str)))
        shown = world.normal(shown, queue)
        shown["id"] = "its own"
        shown["result"]["message"] = re.sub(
            r"^(Request failed|Cannot (read body|parse body as JSON|create http request)): .*", r"\1: why",
            shown["result"]["message"])  # fmt: skip
        world.record("failed " + name, shown)
    world.record("which failed", dict.fromkeys(failed, True))
    seen = {}
    for path, start, fields, body, _ in world.target.requests:
        shown = {name: world.plain(value) for name, value in fields}
        body = None if body is None else body.decode("utf-8", "backslashreplace")
        seen.setdefault(path, []).append({"start": start, "fields": shown, "body": body if body is None or len(body) < 1000 else len(body)})
    for path, each in seen.items():
        world.record("target saw " + path, each)
    world.record("target saw", {path: len(each) for path, each in seen.items()})
    within(10, world.name + " has counted all jobs", lambda: world.json("GET", "/queue/run/stats")["idle_workers"] == 10)
    stats = world.json("GET", "/queue/run/stats")
    stats["total_elapsed"] = stats["total_elapsed"] > 0
    del stats["pushes_per_second"], stats["pops_per_second"]
    world.record("stats after all ran", stats)


def failures(world):
    """Failed jobs: their list, order, cursors; single ones."""
    world.json("PUT", "/queue/failing", {"max_workers": 1, "polling_interval": 50})
    world.json("PUT", "/routing/f", {"queue_name": "failing"})
    count = 0

    def failed():
        return len(world.json("GET", "/queue/failing/failed")["failed_jobs"]) == count

    for number, answer in enumerate(("failure", "permanent-failure", "nonsense", "failure", "failure")):
        said_so = said(500 + number, json.dumps({"status": answer, "message": "m%d" % number}))
        retries = {"max_retries": 1} if number == 3 else {}
        world.push("fails%d" % number, "f", [said_so], payload={"n": number}, **retries)
        count += 1
        within(20, "%s: job %d failed" % (world.name, number), failed)
    path = "/queue/failing/failed"
    numbers = {}
    for each in world.json("GET", path)["failed_jobs"]:
        numbers[world.ids["failing", each["job_id"]]] = each["id"]
    for query in ("", "?order=created", "?order=asc", "?order=failed", "?limit=2", "?limit=0", "?limit=x", "?cursor=x"):
        page = world.json("GET", path + query)
        for each in page["failed_jobs"]:
            del each["id"]
        world.record("GET " + path + query, world.normal(json.loads(world.plain(json.dumps(page))), "failing"))
    for order in ("created", "failed"):
        cursor, pages = "", []
        while len(pages) < 10:
            page = world.json("GET", "%s?limit=2&order=%s&cursor=%s" % (path, order, cursor.replace("=", "%3D")))
            pages.append([each["payload"]["n"] for each in page["failed_jobs"]])
            cursor = page["next_cursor"]
            if not cursor:
                break
        world.record("pages of failed by " + order, pages)
    number = numbers["job fails1"]
    for method in ("GET", "POST", "PUT", "DELETE", "GET", "DELETE"):
        nth = sum(1 for label in world.records if label.startswith("one failure " + method))
        start, fields, body, interim = world.send(method, path + "/%d" % number)
        if " 200 " in start:
            shown = json.loads(body)
            assert shown.pop("id") == number
            body = json.dumps(shown).encode()
        world.asked("one failure %s %d" % (method, nth), (start, fields, body, interim), "failing")
    world.record("left after DELETE", len(world.json("GET", path)["failed_jobs"]))
    world.ask("GET", "/queue/failing/job/%d" % number, label="a job that failed")


def running(world):
    """Jobs that are deleted while they run."""
    world.json("PUT", "/queue/busy", {"max_workers": 2, "polling_interval": 50})
    world.json("PUT", "/routing/b", {"queue_name": "busy"})
    world.settle()

    def waits_and_says(answer):
        def serve(connection):
            time.sleep(3)
            connection.sendall(answer)

        return serve

    permanent = said(200, '{"status":"permanent-failure","message":"m"}')
    number = world.push("runs", "b", [waits_and_says(said(200, SUCCESS))], payload=1)
    within(10, world.name + " runs a job", lambda: world.target.of("/runs"))
    world.ask("GET", "/queue/busy/grabbed", label="grabbed while one runs")
    world.ask("GET", "/queue/busy/waiting", label="waiting while one runs")
    world.ask("GET", "/queue/busy/job/%d" % number, label="a job that runs")
    stats = world.json("GET", "/queue/busy/stats")
    for each in ("pushes_per_second", "pops_per_second"):
        del stats[each]
    world.record("stats while one runs", stats)
    deleted = world.push("deleted", "b", [waits_and_says(permanent)], payload=2)
    within(10, world.name + " runs another job", lambda: world.target.of("/deleted"))
    world.ask("DELETE", "/queue/busy/job/%d" % deleted, label="delete a job that runs")
    world.ask("GET", "/queue/busy/job/%d" % deleted, label="a job that was deleted while it ran")
    retried = world.push("deleted-and-retried", "b", [waits_and_says(said(200, "x"))], max_retries=5)
    within(10, world.name + " runs a third job", lambda: world.target.of("/deleted-and-retried"))
    world.ask("DELETE", "/queue/busy/job/%d" % retried, label="delete a job that runs and would be retried")
    within(20, world.name + " runs nothing", lambda: world.json("GET", "/queue/busy/stats")["idle_workers"] == 2)
    time.sleep(1)
    world.record("failed of deleted", [each["payload"] for each in world.json("GET", "/queue/busy/failed")["failed_jobs"]])
    world.record("runs of deleted", len(world.target.of("/deleted-and-retried")))
    world.ask("GET", "/queue/busy/grabbed", label="grabbed after all")
    world.push("pause", "b", [said(200, "x"), said(200, SUCCESS)], max_retries=1, retry_delay=3600)
    within(10, world.name + " defers it", lambda: world.json("GET", "/queue/busy/deferred")["jobs"])
    world.ask("GET", "/queue/busy/deferred", label="deferred by a retry")
    world.ask("DELETE", "/queue/busy", label="delete a queue with a deferred job")
    world.json("PUT", "/queue/busy", {"max_workers": 2, "polling_interval": 50})
    world.ask("GET", "/queue/busy/deferred", label="deferred after DELETE and PUT")


def order(world):
    """When jobs start: one at a time in the order in which they are due, never more than max_workers, as
    many in a second as the throttle says, and again after retry_delay."""
    world.json("PUT", "/queue/one", {"max_workers": 1, "polling_interval": 100})
    world.json("PUT", "/routing/o", {"queue_name": "one"})
    for number, after in enumerate((3, 0, 2, 0, 1)):
        world.push("order%d" % number, "o", run_after=after)
    within(30, world.name + " ran all in order", lambda: all(world.target.of("/order%d" % each) for each in range(5)))
    with world.target.lock:
        order = [path for path, *_ in world.target.requests if path.startswith("/order")]
    world.record("order of one worker", order)
    now, most = [0], [0]

    def counts(connection):
        with world.target.lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.3)
        with world.target.lock:
            now[0] -= 1
        connection.sendall(said(200, SUCCESS))

    world.json("PUT", "/queue/three", {"max_workers": 3, "polling_interval": 100})
    world.json("PUT", "/routing/t", {"queue_name": "three"})
    for number in range(12):
        world.push("three%d" % number, "t", [counts])
    within(30, world.name + " ran all of three", lambda: all(world.target.of("/three%d" % each) for each in range(12)))
    world.record("most at a time", most[0])
    world.json("PUT", "/queue/five", {"max_dispatches_per_second": 5, "max_burst_size": 1})
    world.json("PUT", "/routing/five", {"queue_name": "five"})
    world.settle()
    for number in range(11):
        world.push("five%d" % number, "five")
    within(30, world.name + " ran all of five", lambda: all(world.target.of("/five%d" % each) for each in range(11)))
    moments = sorted(world.target.of("/five%d" % each)[0][4] for each in range(11))
    world.record("a second has five of them", 1.7 < moments[-1] - moments[0] < 3)
    world.push("after-two", "t", [said(200, "x"), said(200, SUCCESS)], max_retries=1, retry_delay=2)
    within(20, world.name + " tries again", lambda: len(world.target.of("/after-two")) == 2)
    first, second = (each[4] for each in world.target.of("/after-two"))
    world.record("again after retry_delay", 1.9 < second - first < 3)


def default_queue(world):
    """With queue_default."""
    world.settle()
    world.ask("GET", "/settings", label="settings with a default queue")
    world.ask("GET", "/queues", label="queues with a default queue")
    world.ask("GET", "/queue/fallback")
    world.ask("GET", "/queue/fallback/stats", label="stats of the default queue")
    world.push("into-the-default-queue", "none-such", **LATER)
    world.push("into-it-too", "My::Worker/x", **LATER)
    world.ask("GET", "/routing/none-such", label="the default queue is not a routing")
    world.ask("GET", "/routings", label="nor among them")
    world.json("PUT", "/queue/routed", {})
    world.json("PUT", "/routing/none-such", {"queue_name": "routed"})
    world.push("into-a-routed-queue", "none-such", **LATER)
    world.json("DELETE", "/routing/none-such")
    world.push("into-the-default-queue-again", "none-such", **LATER)
    world.ask("PUT", "/queue/fallback", {"max_workers": 3}, label="define the default queue")
    world.ask("DELETE", "/queue/fallback", label="delete the default queue")
    within(10, world.name + " has its default queue again", lambda: world.json("GET", "/queue/fallback"))
    world.settle()
    world.ask("GET", "/queue/fallback/deferred", label="jobs of the default queue that came back")
    world.push("into-the-one-that-came-back", "none-such", **LATER)
    world.json("PUT", "/queue/gone", {})
    world.json("PUT", "/routing/lost", {"queue_name": "gone"})
    world.json("DELETE", "/queue/gone")
    world.push("of-a-queue-that-is-gone-not-into-it", "lost", **LATER)


def kept_alive(world):
    """With keep_alive, on both sides."""
    for label, first in (
        ("none", b""), ("keep-alive", b"Connection: keep-alive\r\n"), ("close", b"Connection: close\r\n"),
    ):  # fmt: skip
        for path in (b"/queues", b"/queue/nothing", b"/nothing", b"/job/c"):
            with socket.create_connection(("127.0.0.1", world.port), 30) as peer, peer.makefile("rb") as stream:
                seen = []
                for _ in range(3):
                    try:
                        peer.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + first + b"\r\n")
                        start, fields, _ = read_message(stream)
                    except OSError:
                        start, fields = "", []
                    seen.append([start.split(" ")[1:2], dict(fields).get("connection")])
            world.record("%s thrice on a connection with %s" % (path.decode(), label), seen)
    world.json("PUT", "/queue/kept", {"max_workers": 1, "polling_interval": 50})
    world.json("PUT", "/routing/kept", {"queue_name": "kept"})
    world.settle()
    for number in range(3):
        path = "/kept%d" % number
        world.push(path[1:], "kept", [said(200, '{"status":"failure"}')])
        within(20, world.name + " has POSTed " + path, lambda: world.target.of(path))
        within(20, world.name + " keeps it", lambda: len(world.json("GET", "/queue/kept/failed")["failed_jobs"]) == number + 1)
    world.record("less connections than jobs", world.target.connections < 3)  # each worker has its own
    world.record("their field Connection", [dict(each[2]).get("connection") for each in world.target.requests])


OTHER_PARTS = (default_queue, kept_alive)
PARTS = (whole, requests, queues, routings, pushes, jobs, dispatch, failures, running, order)
