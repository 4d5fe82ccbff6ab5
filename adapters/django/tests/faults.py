# SPDX-License-Identifier: Apache-2.0
# Enqueues ALLOT_JOBS tasks (10,000), each in a transaction with a row of shop_order, every seventh
# rolled back, while workers, Python processes and the database server are killed. Exactly the tasks
# of the committed rows run.
import random
import signal
from datetime import timezone

from support import *  # first: it sets up Django

from django.db import DatabaseError, InterfaceError, transaction
from shop.models import Order

WORKERS = int(os.environ.get("ALLOT_WORKERS", 2))


def kill_one(kind):
    """Kills one process of the kind; False: there is none at the moment."""
    workers = children(ALLOTD, "allot-worker")
    if kind == "server":
        found = [int((WORK / "db/pid").read_text())] if (WORK / "db/pid").exists() else []
    elif kind == "python":
        found = [child for worker in workers for child in children(worker, "allot_worker")]
    else:
        found = workers
    try:
        if found:
            os.kill(random.choice(found), signal.SIGKILL)
        return bool(found)
    except ProcessLookupError:
        return False


def connects():
    connection.close()
    connections["other"].close()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True
    except (DatabaseError, InterfaceError):
        return False


def enqueued(number):
    """Whether it was committed is what shop_order says, also where the reply was lost."""
    try:
        with transaction.atomic():
            Order.objects.create(name=f"job {number}")
            tasks.counts.enqueue(f"job {number}")
            if number % 7 == 0:
                transaction.set_rollback(True)
    except (DatabaseError, InterfaceError):
        eventually(connects, "the server is back")


def exactly_the_committed():
    jobs = int(os.environ.get("ALLOT_JOBS", 10000))
    killed = {"worker": 0, "python": 0, "server": 0}
    for number in range(1, jobs + 1):
        enqueued(number)
        if number % 97 == 0:
            kind = "server" if number % 970 == 0 else "worker" if number % 2 else "python"
            killed[kind] += kill_one(kind)
    eventually(connects, "the server is there")
    eventually(lambda: connects() and queue_is_empty(), "the queue is empty", 900)
    committed = set(Order.objects.using("other").filter(name__startswith="job ").values_list("name", flat=True))
    ran = set(Seen.objects.using("other").filter(what="ran", job__startswith="job ").values_list("job", flat=True))
    equal(set(), committed - ran, "committed tasks that did not run")
    equal(set(), ran - committed, "tasks that ran and were not committed")
    equal(0, dead(), "tasks that failed")
    runs = Seen.objects.using("other").filter(what="ran", job__startswith="job ").count()
    print(f"{jobs} tasks, {len(committed)} committed, {runs} runs; killed: {killed}")
    for kind, times in killed.items():
        equal(True, times > 0, f"kills of {kind}")


def deployed(number):
    """Deploys the version of this number; the time after which no task may begin with an older one."""
    (WORK / "version").write_text(str(number))
    if number % 2:
        allot("reload", "--wait")
    else:
        call_command("allot_restart")
    with connection.cursor() as cursor:
        cursor.execute("SELECT UTC_TIMESTAMP(6)")
        return cursor.fetchone()[0]


def deployments():
    batch = int(os.environ.get("ALLOT_JOBS", 10000)) // 50
    found = Seen.objects.using("other").filter(job__startswith="deployed ")
    deployments = {1: None}
    for version in range(1, 8):
        for number in range(batch):
            tasks.versioned.enqueue(f"deployed {version}.{number}")
        eventually(lambda: found.filter(detail=str(version)).exists(), f"version {version} runs tasks")
        if version < 7:
            deployments[version + 1] = deployed(version + 1)
    eventually(queue_is_empty, "the queue is empty", 600)
    equal(7 * batch, found.filter(what="ran").values("job").distinct().count(), "tasks that ran to their end")
    equal(0, dead(), "tasks that failed")
    for version, at in deployments.items():
        if at:
            old = [str(older) for older in range(1, version)]
            late = found.filter(what="began", detail__in=old, at__gt=at.replace(tzinfo=timezone.utc))
            # A process may have checked the mark just before, and still run that single task.
            equal(True, late.count() <= WORKERS, f"{late.count()} tasks began with old code after version {version}")
    print(f"{7 * batch} tasks, {len(deployments) - 1} deployments")


run({"Exactly the tasks that were committed run, whatever is killed": exactly_the_committed,
     "Deployments under load lose no task, and none begins with old code after one": deployments})
