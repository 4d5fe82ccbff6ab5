# SPDX-License-Identifier: Apache-2.0
# ALLOT_JOBS tasks (10,000), each enqueued in a transaction with a row of shop_order, every seventh rolled
# back, while workers, Python processes and the database server are killed. Exactly those of the committed
# rows run.
import random
import signal

from support import *  # first: it sets up Django

from django.db import DatabaseError, InterfaceError, transaction
from shop.models import Order


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
    equal(0, Seen.objects.using("other").filter(what="failed").count(), "tasks that failed")
    runs = Seen.objects.using("other").filter(what="ran", job__startswith="job ").count()
    print(f"{jobs} tasks, {len(committed)} committed, {runs} runs; killed: {killed}")
    for kind, times in killed.items():
        equal(True, times > 0, f"kills of {kind}")


run({"Exactly the tasks that were committed run, whatever is killed": exactly_the_committed})
