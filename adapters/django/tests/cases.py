# SPDX-License-Identifier: Apache-2.0
# Behaviour of the adapter, one case each. Cases of the README's table begin with its first column.
from datetime import timedelta

from support import *  # first: it sets up Django

from allot_django import allot_options, names, payload
from allot_django.backend import prio_of
from allot_django.settings import options_of
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, transaction
from django.test.utils import override_settings
from django.utils import timezone
from shop.models import Order


def acts(name, act, until=0, **using):
    return tasks.acts.using(**using).enqueue(name, act, until)


def committed():
    with transaction.atomic():
        Order.objects.create(name="committed")
        result = tasks.note.enqueue("committed")
        equal("READY", result.status, "status")
    after(None, result)
    equal(["ran@1"], seen("committed"), "what ran")
    equal(result.id, rows("committed").first().task, "the id that the task knows")


def rolled_back():
    with transaction.atomic():
        result = tasks.note.enqueue("rolled back")
        transaction.set_rollback(True)
    equal(None, state(result.id), "state")
    after(None, tasks.note.enqueue("after it"))
    equal([], seen("rolled back"), "what ran")


def returns():
    after(None, acts("returns", "returns"))
    equal(["started@1", "ran@1", "successful@1"], seen("returns", "started", "ran", "successful"), "what happened")


def raises():
    after(None, acts("raises", "raises", 2))
    equal(["ran@1", "ran@2"], seen("raises"), "what ran")
    equal(["successful@2"], seen("raises", "failed", "successful"), "task_finished")


def raises_on_its_last_try():
    task = after("dead", acts("raises always", "raises"))
    equal(["ran@1", "ran@2", "failed@2"], seen("raises always"), "what ran")
    shows(task, "LookupError: no such order: raises always", "tasks.py", "shop.shop.tasks.acts")
    found = allot("dead", "groups", "default")
    equal(True, "LookupError in raises" in found, found)


def asks_for_a_retry():
    after(None, acts("asks", "asks_for_a_retry", 2))
    equal(["ran@1", "ran@2"], seen("asks"), "what ran")
    first, second = (row.at for row in rows("asks").filter(what="ran"))
    equal(True, second - first >= timedelta(seconds=1), "the pause")


def fails_itself():
    task = after("dead", acts("fails", "fails_itself"))
    equal(["ran@1", "failed@1"], seen("fails"), "what ran")
    shows(task, "Fail: not to be retried")


def snoozes():
    after(None, acts("snoozes", "snoozes"))
    equal(["ran@1", "ran@1"], seen("snoozes"), "what ran")


def returns_no_json():
    task = after("dead", acts("no json", "returns_no_json"))
    shows(task, "TypeError: Unsupported type")


def exits():
    task = after("dead", acts("exits", "exits"))
    equal(["ran@1", "ran@2", "failed@2"], seen("exits"), "what ran")
    shows(task, "SystemExit: 3")


def out_of_memory():
    task = after("dead", acts("memory", "uses_up_its_memory"))
    shows(task, "MemoryError", "tasks.py", "in uses_up_its_memory")


def crashes():
    for act in ("crashes", "ends_its_process"):
        task = after("dead", acts(act, act))
        equal(["ran@1", "ran@2", "failed@3"], seen(act), "what ran")
        shows(task, "AttemptsExceeded", "signal 11 (Segmentation fault)" if act == "crashes" else "exit code 3")
    after(None, tasks.note.enqueue("after the crash"))


def killed():
    task = after("dead", acts("killed", "kills"))
    equal(["ran@1", "ran@2", "failed@3"], seen("killed"), "what ran")
    shows(task, "AttemptsExceeded")


def times_out():
    task = after("dead", tasks.limited.enqueue("limited"))
    equal(["ran@1"], seen("limited"), "what ran")
    shows(task, "AttemptsExceeded")
    ends = ("its time limit expired", "cause=timeout")  # by the program or its worker
    equal(True, any(end in line for line in log_of(task) for end in ends), "the log")


def connection_lost():
    after(None, acts("lost", "closes_its_connection", 2))
    equal(["ran@1", "ran@2"], seen("lost"), "what ran")


def transaction_left_open():
    after(None, acts("left open", "leaves_a_transaction_open", 2))
    after(None, tasks.note.enqueue("after left open"))
    equal(False, Order.objects.using("other").filter(name="left open").exists(), "the row")


def function_is_gone():
    for path, reason in {"shop.tasks.gone": "gone", "shop.nowhere.gone": "nowhere",
                         "shop.tasks.not_a_task": "not a task", "gone": "not part of",
                         "antigravity.gone": "not part of an installed application"}.items():
        task = call(f"shop.{path}", payload.signed(path, [], {}), {"max_attempts": 1})
        eventually(lambda: state(task) == "dead", path)
        shows(task, "UnknownTask", reason)


def not_signed():
    with override_settings(SECRET_KEY="another"):
        other = payload.signed("shop.tasks.note", ["unsigned"], {})
    mine = payload.signed("shop.tasks.note", ["unsigned"], {})
    for sent in (b'{"args": ["unsigned"]}', b"x", b"", b"\xff", other, mine[:-1], mine + b" "):
        task = call("shop.shop.tasks.note", sent)
        eventually(lambda: state(task) == "dead", f"{sent} is refused")
        shows(task, "Refused: the payload is not signed")
    for data in (b"[]", b"{", b'{"task": 7}', b"\xff"):
        sent = payload._MARK + payload._hmac(data, "k" * 50) + b"\n" + data
        task = call("shop.shop.tasks.note", sent, {"max_attempts": 1})
        eventually(lambda: state(task) == "dead", f"{data} is refused, though it is signed")
    task = call("shop.shop.tasks.acts", mine)
    eventually(lambda: state(task) == "dead", "a signed payload of another task is refused")
    shows(task, "not of the type")
    task = call("shop.nowhere.gone", b"{}")
    eventually(lambda: state(task) == "dead", "an unsigned payload of no task is refused")
    equal([], seen("unsigned"), "what ran")


def accepts_unsigned():
    for sent, name in {b'{"args": ["others"]}': "others", b'{"kwargs": {"name": "named"}}': "named",
                       b"": "public"}.items():
        task = call("shop.shop.tasks.public", sent)
        eventually(lambda: state(task) is None, f"{sent} runs")
        equal(["ran@1"], seen(name), "what ran")
    allot("schedule", "add", "digest", "15 3 * * *", "default", "shop.shop.tasks.public", '{"args": ["scheduled"]}')
    allot("schedule", "run-now", "digest")
    eventually(lambda: seen("scheduled") == ["ran@1"], "the schedule runs")
    for sent in (b"[]", b"7", b"{", b'{"args": 1}', b'{"kwargs": []}', b'{"x": 1}', b"\xff", b"[" * 100000):
        task = call("shop.shop.tasks.public", sent, {"max_attempts": 1})
        eventually(lambda: state(task) == "dead", f"{sent[:9]} is refused")
    after(None, tasks.note.enqueue("after bad ones"))


def former_key():
    with override_settings(SECRET_KEY="the former key of this application"):
        body = payload.signed("a.b", [], {})
    equal(None, payload.verified(body), "without the former key")
    with override_settings(SECRET_KEY_FALLBACKS=["the former key of this application"]):
        equal(True, payload.verified(body) is not None, "with it")


def arguments_are_wrong():
    task = after("dead", tasks.note.enqueue("a", surprise=1))
    shows(task, "TypeError", "surprise")


def enqueues_itself():
    after(None, acts("itself", "enqueues_itself"))
    eventually(lambda: seen("itself, again") == ["ran@1"], "the other one")


def cancelled():
    result = acts("cancelled", "waits_for_a_stop")
    eventually(lambda: state(result.id) == "running", "it runs")
    allot("task", "cancel", result.id)
    eventually(lambda: rows("cancelled").filter(what="stopped"), "it stops")
    equal("cancelled", rows("cancelled").get(what="stopped").detail, "the reason")


def prints():
    task = after("dead", acts("prints", "prints"))
    shows(task, "LookupError: after it printed")
    equal(True, bool(log_of("printed by prints")), "the log")


def leaves_a_child():
    after(None, acts("child", "leaves_a_child"))
    after(None, tasks.note.enqueue("after the child"))
    equal(["ran@1"], seen("after the child"), "what ran")


def asynchronous():
    after(None, tasks.later_note.enqueue("async"))
    equal(["ran@1"], seen("async"), "what ran")
    import asyncio

    result = asyncio.run(tasks.note.aenqueue("aenqueue"))
    after(None, result)
    equal(["ran@1"], seen("aenqueue"), "what ran")


def run_after():
    at = timezone.now() + timedelta(seconds=2)
    after(None, tasks.note.using(run_after=at).enqueue("later"))
    equal(True, rows("later").get(what="ran").at >= at, "the time")


def priorities():
    equal([0, 0, 1, 1, 2, 2, 3, 3], [prio_of(value) for value in (100, 51, 50, 0, -1, -50, -51, -100)], "classes")
    result = tasks.note.using(priority=-100, run_after=timezone.now() + timedelta(hours=1)).enqueue("low")
    shows(result.id, "prio")
    equal(True, '"prio": 3' in allot("task", "show", result.id, "--json").replace('":3', '": 3'), "prio")


def queues():
    after(None, tasks.note.using(queue_name="other").enqueue("in another"))
    refused(DatabaseError, "queue 'nowhere'", lambda: tasks.note.using(queue_name="nowhere").enqueue("nowhere"))
    with transaction.atomic():  # the transaction continues
        refused(DatabaseError, "queue 'nowhere'", lambda: tasks.note.using(queue_name="nowhere").enqueue("nowhere"))
        result = tasks.note.enqueue("in spite of it")
    after(None, result)


def unique():
    with transaction.atomic():
        tasks.once.enqueue("once")
        transaction.set_rollback(True)
    with transaction.atomic():
        first, second = tasks.once.enqueue("once"), tasks.once.enqueue("once")
    equal(first.id, second.id, "the id")
    after(None, first)
    equal(["ran@1"], seen("once"), "what ran")
    after(None, tasks.once.enqueue("once"))
    equal(["ran@1", "ran@1"], seen("once"), "what ran")


def options():
    refused(TypeError, "below @task", lambda: allot_options(tries=1)(tasks.note))
    refused(TypeError, "set tries", lambda: allot_options(max_attempts=1))
    refused(TypeError, "tries", lambda: allot_options(tries="3"))
    good = {"application": "shop"}
    for given, text in (({}, "application"), ({**good, "trys": 1}, "did you mean 'tries'"),
                        ({**good, "tries": -1}, "tries"), ({**good, "results": "a week"}, "7d"),
                        ({**good, "database": "a`b"}, "database")):
        refused(ImproperlyConfigured, text, lambda: options_of("default", given))


def types():
    equal("shop.orders.tasks.send", names.type_of("shop", "orders.tasks.send"), "a function")
    equal("shop.orders.tasks.send_", names.type_of("shop", "orders.tasks.sendé"), "another letter")
    long = names.type_of("shop", "orders." + "very" * 40 + ".long")
    equal((127, True, True), (len(long), long.startswith("shop."), long.endswith("very.long")), long)
    equal(True, long != names.type_of("shop", "orders." + "very" * 41 + ".long"), "another one")

    equal(127, len(names.type_of("shop", tasks.long_name.module_path)), "a type that is shortened")
    equal(True, len(f"shop.{tasks.long_name.module_path}") > 127, "its whole name")
    result = tasks.long_name.enqueue("long name")
    after(None, result)
    equal(["ran@1"], seen("long name"), "what ran")


def written():
    equal("replica", Order.objects.all().db, "where reads go")
    equal("default", tasks.note.get_backend().connection_alias, "where tasks go")
    after(None, tasks.note.enqueue("split"))
    equal(["ran@1"], seen("split"), "what ran")


def large():
    size = (16 << 20) - 1 - len(payload.signed("shop.tasks.note", ["large", ""], {}))
    after(None, tasks.note.enqueue("large", "x" * size))
    equal(["ran@1"], seen("large"), "what ran")
    refused(DatabaseError, "16 MiB - 1", lambda: tasks.note.enqueue("large", "x" * (size + 1)))


def unusual_text():
    name = "\U0001f600 \x00 ' \\ \u2028 é"
    after(None, tasks.note.enqueue(name))
    equal(["ran@1"], seen(name), "what ran")
    after("dead", tasks.note.enqueue("surrogate", more="\ud800"))


def outside():
    refused(AssertionError, "is started by allotd", lambda: manage("allot_worker"))
    refused(AssertionError, "no backend 'x'", lambda: manage("allot_worker", "--backend", "x"))
    refused(AssertionError, "not AllotBackend", lambda: manage("allot_worker", "--backend", "database"))
    equal(True, "no issues" in manage("check"), "manage.py check")


def restart():
    after(None, tasks.note.enqueue("before"))
    count = lambda: len([line for line in log_of("task.released") if "allot_restart" in line])
    before = count()
    manage("allot_restart")
    after(None, tasks.note.enqueue("after"))
    equal(["ran@1"], seen("after"), "what ran")
    equal(True, count() > before, "the process left")


def no_results():
    refused(NotImplementedError, "", lambda: tasks.note.get_result("x"))
    equal(False, tasks.note.get_backend().supports_get_result, "supports_get_result")


def results():
    from allot_django.models import StoredResult

    with transaction.atomic():
        gone = tasks.note.using(backend="kept").enqueue("gone")
        transaction.set_rollback(True)
    equal(False, StoredResult.objects.using("default").filter(id=gone.id).exists(), "the row of a rolled back task")
    result = tasks.later_note.using(backend="kept", priority=7).enqueue("kept")
    after(None, result)
    result.refresh()
    equal((TaskResultStatus.SUCCESSFUL, {"async": True}, 1, 7), (result.status, result.return_value, result.attempts,
          tasks.later_note.using(backend="kept").get_result(result.id).task.priority), "the result")
    failed = acts("kept fails", "raises", backend="kept")
    after("dead", failed)
    failed.refresh()
    equal((TaskResultStatus.FAILED, 2, 2, LookupError), (failed.status, failed.attempts, len(failed.errors),
          failed.errors[0].exception_class), "the failed one")
    killed = acts("kept killed", "kills", backend="kept")
    after("dead", killed)
    killed.refresh()
    equal((TaskResultStatus.FAILED, True), (killed.status, killed.finished_at is not None), "the killed one")
    lost = acts("kept lost", "closes_its_connection", 2, backend="kept")
    after(None, lost)
    lost.refresh()
    equal((TaskResultStatus.SUCCESSFUL, 2), (lost.status, lost.attempts), "the one that lost its connection")
    left = acts("kept open", "leaves_a_transaction_open", backend="kept")
    after(None, left)
    left.refresh()
    equal(TaskResultStatus.SUCCESSFUL, left.status, "the one that left a transaction open")
    gone = call("kept.shop.tasks.note", b"unsigned")
    eventually(lambda: state(gone) == "dead", "an unsigned one is dead")
    StoredResult.objects.using("default").filter(id=result.id).update(finished_at=timezone.now() - timedelta(days=8))
    after(None, tasks.note.using(backend="kept").enqueue("purges"))
    equal(False, StoredResult.objects.using("default").filter(id=result.id).exists(), "after its time")


def every_row_of_the_readme():
    lines = (Path(__file__).parents[1] / "README.md").read_text().splitlines()
    first = lines.index("| the task function | the task |") + 2
    words = [line.split(" | ")[0].removeprefix("| ") for line in lines[first:] if line.startswith("| ")]
    equal(True, len(words) > 20, "rows")
    equal([], [word for word in words if not any(case.startswith(f"{word}:") for case in CASES)], "rows without a case")


CASES = {
    "A task enqueued in a transaction runs once that commits": committed,
    "A rolled back task does not exist": rolled_back,
    "returns: the task is done, with its signals": returns,
    "raises: a failed attempt, and it is retried": raises,
    "raises on its last try: it is dead, with class, message, file and trace": raises_on_its_last_try,
    "raises Retry: it is retried after that delay": asks_for_a_retry,
    "raises Fail: it is dead at once": fails_itself,
    "raises Snooze: it is put off, and no attempt is counted": snoozes,
    "returns what JSON has no word for: a failed attempt": returns_no_json,
    "calls sys.exit(): a failed attempt": exits,
    "runs out of memory: a failed attempt with file and line": out_of_memory,
    "its process crashes or ends: a failed attempt, and another process": crashes,
    "its process is killed on its last try: one more attempt records the failure": killed,
    "its timeout is over: the process is killed": times_out,
    "loses its connection to the database: a failed attempt, and the next one connects again": connection_lost,
    "leaves a transaction open: it is rolled back": transaction_left_open,
    "its function is gone, or is not a task: a failed attempt with the reason": function_is_gone,
    "its arguments do not fit: a failed attempt": arguments_are_wrong,
    "its payload is not signed with SECRET_KEY: dead at once, and not decoded": not_signed,
    "its function accepts unsigned payloads: it runs": accepts_unsigned,
    "enqueues itself again: a new task": enqueues_itself,
    "is cancelled while it runs: stop_requested() is true": cancelled,
    "prints: the lines go to the log": prints,
    "leaves a child with its descriptors: the next task runs": leaves_a_child,
    "A payload of a former key is accepted with SECRET_KEY_FALLBACKS": former_key,
    "Coroutines run, and aenqueue() enqueues": asynchronous,
    "run_after waits": run_after,
    "Priorities become four classes": priorities,
    "A queue that Allot does not have is refused, and the transaction continues": queues,
    "A unique key holds for one task, and a rollback frees it": unique,
    "Wrong options are refused by name": options,
    "Types are names that Allot takes, and a function with a long name runs": types,
    "The id comes from the connection that writes": written,
    "A payload of 16 MiB - 1 runs, and a larger one is refused": large,
    "Unusual text arrives": unusual_text,
    "The commands say what they are for": outside,
    "allot_restart: the next task runs in another process": restart,
    "Without results there are none": no_results,
    "Results are kept with the application's rows": results,
    "Each row of the README's table has a case": every_row_of_the_readme,
}
run(CASES)
