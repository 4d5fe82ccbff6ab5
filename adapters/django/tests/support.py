# SPDX-License-Identifier: Apache-2.0
# Shared by the tests: the application in this process, the tables, waiting, and the count of
# passes.
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import django

django.setup()

from allot_django.compat import TaskResultStatus  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import OperationalError, connection, connections  # noqa: E402
from shop import tasks  # noqa: E402
from shop.models import Seen  # noqa: E402

WORK = Path(os.environ["APP_WORK"])
BUILD = os.environ["APP_BUILD"]
ALLOTD = int(os.environ["APP_ALLOTD"])


def prepare():
    with connections["root"].cursor() as root:
        for statement in (Path(__file__).parent / "schema.sql").read_text().split(";\n"):
            if statement.strip():
                root.execute(statement)
    call_command("migrate", run_syncdb=True, verbosity=0)


def eventually(condition, what, seconds=60):
    """Waits until condition() gives something that is true, which is returned."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return found


def equal(expected, actual, what):
    if expected != actual:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def refused(kind, text, call):
    """The call raises this kind of error, with this text in it."""
    try:
        call()
    except kind as error:
        if text not in str(error):
            raise AssertionError(f"{text!r} is not in {error}") from error
        return
    raise AssertionError(f"{kind.__name__} was expected, with {text!r}")


def rows(job):
    return Seen.objects.using("other").filter(job=job).order_by("id")


def seen(job, *what):
    """Events of the job with this name, as what@attempt; by default runs and ends."""
    found = rows(job).filter(what__in=what or ("ran", "failed"))
    return [f"{row.what}@{row.attempt}" for row in found]


def state(task):
    with connections["other"].cursor() as cursor:
        try:
            cursor.execute("CALL allot.allot_task(%s, @state)", [task])
        except OperationalError as error:  # a deadlock with the worker that ends the task
            if error.args[0] != 1213:
                raise
            return "waiting"
        cursor.execute("SELECT @state")
        found = cursor.fetchone()[0]
    return found.decode() if isinstance(found, bytes) else found


def after(expected, result):
    """Waits until the task of this result is in that state: None (it has ended) or dead. Returns its id."""
    eventually(lambda: state(result.id) == expected, f"task {result.id} is {expected or 'at its end'}")
    return result.id


def call(type, payload, options=None):
    """Submits a task as others than the adapter do. Returns its id."""
    with connection.cursor() as cursor:
        cursor.execute("CALL allot.allot_submit('default', %s, %s, %s, @id, @existed)",
                       [type, payload, options and json.dumps(options)])
        cursor.execute("SELECT @id")
        found = cursor.fetchone()[0]
    return found.decode() if isinstance(found, bytes) else found


def command(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def allot(*words):
    return command(f"{BUILD}/bin/allot", *words)


def manage(*words):
    return command(os.environ["APP_PYTHON"], f"{os.environ['APP_HERE']}/app/manage.py", *words)


def shows(task, *texts):
    """The output of allot task show has each text."""
    shown = allot("task", "show", task)
    for text in texts:
        if text not in shown:
            raise AssertionError(f"{text!r} is not in {shown}")


def log_of(text):
    """The lines of the daemon's log that have the text."""
    return [line for line in (WORK / "log").read_text(errors="replace").splitlines() if text in line]


def figures():
    with connections["other"].cursor() as cursor:
        cursor.execute("CALL allot.allot_queue_figures('default')")
        return dict(zip([column[0] for column in cursor.description], cursor.fetchone()))


def queue_is_empty():
    row = figures()
    return row["waiting"] + row["delayed"] + row["detached"] == 0


def dead():
    return figures()["dead"]


def children(parent, text):
    """The children of a process whose command line has the text."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent and text in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            pass  # not a process, or it has ended
    return found


def run(cases):
    """Runs the cases whose name contains the filter; ends the process."""
    prepare()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for name, case in cases.items():
        if wanted not in name:
            continue
        began = time.monotonic()
        try:
            case()
            passed += 1
            print(f"ok      {time.monotonic() - began:5.1f} s  {name}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {time.monotonic() - began:5.1f} s  {name}\n{traceback.format_exc()}", flush=True)
    print(f"Django {django.__version__}, Python {sys.version.split()[0]}: {passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)


__all__ = [name for name in globals() if not name.startswith("_")]
