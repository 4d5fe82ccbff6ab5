# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path

import allot_django
from django.db import connection, connections, transaction

from . import signals

try:
    from django.tasks import task
except ImportError:
    from django_tasks import task


_version = Path(os.environ["APP_WORK"], "version")
VERSION = _version.read_text() if _version.exists() else "1"  # loaded code


@task(takes_context=True)
def versioned(context, name):
    signals.note(name, "began", context.task_result, VERSION)
    time.sleep(0.01)
    signals.note(name, "ran", context.task_result, VERSION)


@task(takes_context=True)
def note(context, name, *rest):
    signals.note(name, "ran", context.task_result)
    return len(rest)


@task(takes_context=True)
async def later_note(context, name):
    from asgiref.sync import sync_to_async

    await sync_to_async(signals.note)(name, "ran", context.task_result)
    return {"async": True}


@task(takes_context=True)
@allot_django.allot_options(tries=20)
def counts(context, name):
    signals.note(name, "ran", context.task_result)


@task(takes_context=True)
def a_name_with_an_é_which_is_so_long_that_its_type_has_to_be_shortened_but_which_keeps_its_prefix_and_its_whole_tail(
        context, name):
    signals.note(name, "ran", context.task_result)


# Its path exceeds the length of a type.
long_name = (
    a_name_with_an_é_which_is_so_long_that_its_type_has_to_be_shortened_but_which_keeps_its_prefix_and_its_whole_tail)


@task
def nothing():
    pass


@task(takes_context=True)
@allot_django.allot_options(accepts_unsigned=True)
def public(context, name="public"):
    signals.note(name, "ran", context.task_result)


@task(takes_context=True)
@allot_django.allot_options(timeout=12)  # a process may take half of it to start
def limited(context, name):
    signals.note(name, "ran", context.task_result)
    time.sleep(60)


@task(takes_context=True)
@allot_django.allot_options(unique_key=lambda name: f"once {name}", unique_for="0s")
def once(context, name):
    signals.note(name, "ran", context.task_result)


@task(takes_context=True)
@allot_django.allot_options(tries=2)
def acts(context, name, act, until=0):
    """Does what act says, until its attempt `until` (0: always)."""
    signals.note(name, "ran", context.task_result)
    if until == 0 or context.attempt < until:
        return globals()[act](context, name)


def raises(context, name):
    raise LookupError(f"no such order: {name}")


def asks_for_a_retry(context, name):
    raise allot_django.Retry("the printer is busy", delay=1)


def fails_itself(context, name):
    raise allot_django.Fail("not to be retried")


def snoozes(context, name):
    file = f"{os.environ['APP_WORK']}/snoozed"
    if not os.path.exists(file):
        open(file, "w").close()
        raise allot_django.Snooze(0.2, "not now")


def returns_no_json(context, name):
    return object()


def prints(context, name):
    print('{"kind": "verdict"}')
    print(f"printed by {name}", file=sys.stderr)
    raise LookupError("after it printed")


def exits(context, name):
    sys.exit(3)


def ends_its_process(context, name):
    os._exit(3)


def crashes(context, name):
    ctypes.string_at(0)


def uses_up_its_memory(context, name):
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, before[1]))
    try:
        bytearray(1 << 31)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def kills(context, name):
    os.kill(os.getpid(), signal.SIGKILL)


def closes_its_connection(context, name):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        with connections["other"].cursor() as other:
            other.execute(f"KILL {cursor.fetchone()[0]}")
        cursor.execute("SELECT 1")


def leaves_a_transaction_open(context, name):
    transaction.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO shop_order (name) VALUES (%s)", [name])


def leaves_a_child(context, name):
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)


def enqueues_itself(context, name):
    acts.enqueue(f"{name}, again", "returns")


def returns(context, name):
    return {"of": name}


def waits_for_a_stop(context, name):
    allot_django.progress(40, "waiting")
    deadline = time.monotonic() + 30
    while not allot_django.stop_requested() and time.monotonic() < deadline:
        time.sleep(0.02)
    signals.note(name, "stopped", context.task_result, allot_django.stop_reason() or "")
    raise allot_django.Fail("stopped")


def not_a_task():
    raise AssertionError("it was called")
