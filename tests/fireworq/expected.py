# SPDX-License-Identifier: Apache-2.0
"""Where Allot answers otherwise than Fireworq, and why: (label, field, reason). A * is any text.

docs/from-fireworq.md tells people of all that a client could notice."""

ADDED = "this listener says so in every answer"
FREE = "the text of such an error is free; no client reads it"
STRICT = "this listener takes well-formed requests of HTTP/1.1 only, each with one Host and a path"
THERE_500 = "Fireworq lets its database refuse it, and answers 500"
NUL = "an escaped NUL byte has no place in a path here"
LONG_NAME = "Fireworq makes a table of the name, and breaks off where MySQL has none so long"
THROTTLE = "a throttle that is wrong is 400, as documented"
CODE = "the field code of an answer's body is not looked at"
TABLES = "Fireworq's tables hold less"

DIFFERENCES = [
    # All answers
    ("*", "fields.cache-control", ADDED),
    ("*", "fields.x-content-type-options", ADDED),
    ("GET /stats*", "fields", ADDED),
    ("*", "fields.connection", "keep_alive = false closes all connections, Fireworq not those of its router"),
    ("* /version*", "text", "the version names Allot's"),
    ("GET /", "text", "the version names Allot's"),
    ("GET /settings", "json.mysql_dsn", "a password is not shown"),
    # Requests
    ("GET *", "type of a redirect", "a redirect without a body says a type here"),
    ("GET *%zz", "*", STRICT),
    ("GET /queue/%", "*", STRICT),
    ("GET /queue/%2", "*", STRICT),
    ("GET /queue/a b", "*", STRICT),
    ("GET *#x", "*", STRICT),
    ("GET an asterisk", "*", STRICT),
    ("GET version", "*", STRICT),
    ("GET http://*", "*", STRICT),
    ("HTTP/*", "*", STRICT),
    ("no Host", "*", STRICT),
    ("two Hosts", "*", STRICT),
    ("no request", "*", STRICT),
    ("only line feeds", "*", STRICT),
    ("another Expect", "text", FREE),
    ("another Expect", "fields.content-type", FREE),
    ("another coding", "*", FREE),
    ("negative length", "*", FREE),
    ("GET /routing/a%0Ab", "text", "a category may have a line break"),
    ("*a%00b*", "*", NUL),
    # Bodies
    ("PUT /queue/throttled *", "status", THROTTLE),
    ("PUT /queue/throttled *", "text", THROTTLE),
    ("PUT /queue/d* 4294967296*", "*", THERE_500),
    ("push * 4294967296*", "*", THERE_500),
    ("GET /queue/d28", "*", "Fireworq makes half of a queue whose throttle its database refuses"),
    ("GET /queue/d*", "json.max_dispatches_per_second", TABLES),
    ("* /queue/d* *u212A*", "json.max_workers", "only ASCII letters are the same in both cases"),
    ("* queue xxxxx*", "*", LONG_NAME),
    ("* queue yyy*", "*", LONG_NAME),
    ("PUT queue zzz*", "*", THERE_500),
    ("PUT routing yyy*", "*", THERE_500),
    ("push routed yyy*", "*", "a category has at most 255 bytes"),
    ("PUT /routing/c *a\\nb*", "text", "a detail is one line"),
    # Jobs
    ("*job*", "*payload", "UNDECIDED"),
    # Dispatch
    ("target saw *", "*.fields.x-allot-task", "Allot names the task, unless send_task is off"),
    ("target saw *", "*.fields.x-allot-attempt", "Allot names the attempt, unless send_attempt is off"),
    ("target saw *", "*.fields.accept-encoding", "Allot takes no compressed answers, and asks for none"),
    ("target saw *", "*.fields.referer", "a redirect is followed without naming where it stood"),
    ("failed job moved-nowhere", "result.status", "a target that is not allowed is a permanent failure"),
    ("failed job float-code", "*", CODE),
    ("which failed", "job float-code", CODE),
]
