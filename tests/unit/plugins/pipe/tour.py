# SPDX-License-Identifier: Apache-2.0
# All features of the helper, selected by the payload's first word.
import os, time
import allot_pipe

def tour(task):
    if isinstance(task.payload, bytes) or len(task.payload) > 1000:
        return task.checkpoint(task.payload)
    word, _, rest = task.payload.partition(" ")
    if word == "fail": return allot_pipe.fail("it is b\u00e4d")
    if word == "retry": return allot_pipe.retry("not yet", delay=1.5)
    if word == "snooze": return allot_pipe.snooze(delay=2)
    if word == "release": return allot_pipe.release("not here")
    if word == "throw": raise ValueError("thrown")
    if word == "print": print("a stray line")
    if word == "beat": task.heartbeat()
    if word == "log": task.log("logged", "warn")
    if word == "progress": task.progress(40, "half b\u00e4d")
    if word == "failing":
        try:
            raise ValueError("thrown")
        except ValueError as error:
            return allot_pipe.fail(error) if rest == "fail" else allot_pipe.retry(error, delay=2)
    if word == "checkpoint": task.checkpoint(rest)
    if word == "submit": task.log(task.submit("x.next", rest, delay="5m", prio=2))
    if word == "replace": task.replace_with("x.next", rest, queue="other")
    if word == "refused":
        try:
            task.checkpoint("x")
        except allot_pipe.Refused as error:
            return allot_pipe.fail(error.code)
    if word == "facts":
        task.log(" ".join([task.id, task.queue, task.type, str(task.attempt),
                           str(task.max_attempts), task.traceparent, str(task.stop_requested())]).lower())
    if word == "stop":
        while not task.stop_requested():
            time.sleep(0.005)
        return allot_pipe.retry("stopped: " + task.stop_reason)
    if word == "crash": os._exit(3)
    if word == "return": return {"nothing": None, "true": True, "false": False, "number": 7}[rest]

allot_pipe.run(tour)
