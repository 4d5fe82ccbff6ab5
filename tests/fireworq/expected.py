# SPDX-License-Identifier: Apache-2.0
"""Where answers of Allot differ from Fireworq, and why: (label, field, reason). A * is any text. The
reason is followed by the answers of Fireworq and of Allot.

docs/from-fireworq.md describes every difference that a client can notice."""

NONE = "(none)"  # it is not there
ADDED = "this listener says so in every answer"
FREE = "the text of such an error is free; no client reads it"
STRICT = "this listener takes well-formed requests of HTTP/1.1 only, each with one Host and a path"
THERE_500 = "Fireworq lets its database refuse it, and answers 500"
NUL = "an escaped NUL byte has no place in a path here"
THROTTLE = "a throttle that is wrong is 400, as documented"
CODE = "the field code of an answer's body is not looked at"
TWICE = "a key that an answer of a target has twice makes it a failure"
LONG_CATEGORY = "a category has at most 255 bytes"
ENCODED = "what is sent as %XX, and need not be"
ESCAPE = "a % of a URL that is not an escape is sent unchanged"
REDIRECTS = "ten redirects are followed, and not nine"

DIFFERENCES = [
    # All answers
    ("*", "fields.cache-control", ADDED, NONE, "no-store"),
    ("*", "fields.x-content-type-options", ADDED, NONE, "nosniff"),
    ("GET /stats*", "fields", ADDED),
    ("*", "fields.connection", "keep_alive = false closes all connections, Fireworq not connections of its router", NONE, "close"),
    ("* /version*", "text", "the version names Allot's"),
    ("GET /", "text", "the version names Allot's"),
    ("GET /settings", "json.mysql_dsn", "a password is not shown"),
    # Requests
    ("GET *", "type of a redirect", "a redirect without a body says a type here", None, "text/plain; charset=utf-8"),
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
    ("define* {*65537}", "*", "max_workers is at most 65536"),
    ("job *4000000000}", "json.next_try", "a job runs in 100 years at the latest"),
    ("job *4294967296}", "", "a number is at most 4294967295, also where Fireworq's table holds more"),
    ("GET *limit=-1", "*", "a negative limit is as none"),
    ("PUT /queue/throttled *", "status", THROTTLE, "500", "400"),
    ("PUT /queue/throttled *", "text", THROTTLE, "500 Internal Server Error", "400 Bad Request"),
    ("define* {*4294967296*", "*", THERE_500),
    ("push *4294967296}", "*", THERE_500),
    ("defined by *3.3333333333*", "json.max_dispatches_per_second", "Fireworq's table holds less of it"),
    ("define*u212A*", "json.max_workers", "a key is compared without regard to the case of ASCII letters only"),
    ("PUT queue zzz*", "*", THERE_500),
    ("PUT routing yyy*", "*", THERE_500),
    ("push routed yyy*", "*", LONG_CATEGORY),
    ("push category *(256)", "*", LONG_CATEGORY),
    ("PUT /routing/c *a\\nb*", "text", "a detail is one line"),
    ("push url *", "*", "a URL that can never be sent to, or is not allowed, is refused at once"),
    ("push more than 16 MiB", "*", "the answer is 413"),
    # Jobs
    ("settings with a default queue", "json.mysql_dsn", "a password is not shown"),
    ("their field Connection", "*", "keep-alive goes without saying, and is said here", None, "keep-alive"),
    ("failed of deleted", "*", "a job that was deleted while it ran is not among the failed"),
    # Dispatch
    ("target saw *", "*.fields.x-allot-task", "Allot names the task, unless send_task is off"),
    ("target saw *", "*.fields.x-allot-attempt", "Allot names the attempt, unless send_attempt is off"),
    ("target saw *", "*.fields.accept-encoding", "Allot takes no compressed answers, and asks for none", "gzip", NONE),
    ("target saw *", "*.fields.referer", "a redirect is followed without naming its origin"),
    ("failed job moved-nowhere", "result.status", "a target that is not allowed is a permanent failure"),
    ("failed job float-code", "*", CODE),
    ("failed job text-code", "result.message", CODE),
    ("which failed", "job float-code", CODE),
    ("failed job twice", "*", TWICE),
    ("which failed", "job twice", TWICE),
    ("target saw /moved-for-ever", "", REDIRECTS),
    ("target saw /posted-for-ever", "", REDIRECTS),
    ("target saw", "/*-for-ever", REDIRECTS),
    ("target saw /x*y", "", ENCODED),
    ("target saw", "/x*y", ENCODED),
    ("target saw*", "*/q?a*", "what has no place in a query is sent as %XX as in a path; Fireworq sends it as it is"),
    ("target saw /q?a*", "", "what has no place in a query is sent as %XX as in a path; Fireworq sends it as it is"),
    ("*%zz", "", ESCAPE),
    ("target saw", "/%zz", ESCAPE),
    ("which failed", "*%zz", ESCAPE),
]
