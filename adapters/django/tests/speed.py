# SPDX-License-Identifier: Apache-2.0
# Measures ALLOT_JOBS empty tasks (10,000) with Allot, with django-tasks-db on the same server, and
# called without a queue, with ALLOT_WORKERS processes each; the memory of the processes after a
# tenth of the tasks and after all; the delay between enqueueing and start. Prints the figures;
# required limits are cases.
import resource
from datetime import timezone

from support import *  # first: it sets up Django

from django.db import transaction

JOBS = int(os.environ.get("ALLOT_JOBS", 10000))
WORKERS = int(os.environ.get("ALLOT_WORKERS", 2))


def cpu_of(pid):
    """Processor seconds of a process and all below it, those that have ended and were waited for included."""
    below, ticks = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            below.setdefault(int(fields[1]), []).append(int(folder.name))
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))
        except (OSError, ValueError, IndexError):
            pass  # not a process, or ended
    total, todo = 0, [pid]
    while todo:
        now = todo.pop()
        total += ticks.get(now, 0)
        todo += below.get(now, [])
    return total / os.sysconf("SC_CLK_TCK")


def memory():
    """The largest resident memory of a process that runs tasks, in KiB."""
    found = [0]
    for worker in children(ALLOTD, "allot-worker"):
        for child in children(worker, "allot_worker"):
            if "kept" in Path(f"/proc/{child}/cmdline").read_text():
                continue  # no tasks in this process
            status = Path(f"/proc/{child}/status").read_text()
            found.append(int(status.partition("VmRSS:")[2].split()[0]))
    return max(found)


def deadlocks():
    with connections["root"].cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")
        return int(cursor.fetchone()[1])


def measured(what, jobs, work, cpu, start=(0, 0)):
    """Does the jobs; prints and returns jobs per second. What the start of the processes costs does not count."""
    before = deadlocks()
    took, used = (total - of_start for total, of_start in zip(costs(work, cpu), start))
    print(f"{what:28} {jobs / took:8.0f} jobs/s  {1000 * used / jobs:6.2f} ms of processor per job"
          f"  {deadlocks() - before} deadlocks", flush=True)
    return jobs / took


def costs(work, cpu):
    """Seconds, and seconds of processor."""
    began, cpu_before = time.monotonic(), cpu()
    work()
    return time.monotonic() - began, cpu() - cpu_before


def processes(*words):
    """Starts as many processes as there are workers, and waits for their end."""
    started = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(WORKERS)]
    for process in started:
        equal(0, process.wait(), "the end of a process")


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + cpu_of(ALLOTD)


def enqueue_all(backend, jobs):
    task = tasks.nothing.using(backend=backend)
    for first in range(0, jobs, 500):
        with transaction.atomic():
            for _ in range(min(500, jobs - first)):
                task.enqueue()


def flat_memory():
    enqueue_all("default", JOBS // 10)
    eventually(queue_is_empty, "the first tenth", 600)
    before = memory()
    enqueue_all("default", JOBS - JOBS // 10)
    eventually(queue_is_empty, "all", 600)
    equal(0, dead(), "dead tasks")
    print(f"memory: {before} KiB, then {memory()} KiB")
    equal(True, 0 < before and memory() <= 1.05 * before, "growth")


def fast():
    print(f"{WORKERS} workers, {JOBS} jobs")
    manager = [os.environ["APP_PYTHON"], f"{os.environ['APP_HERE']}/app/manage.py"]
    allot("queue", "pause", "default")
    enqueue_all("default", JOBS)
    before = deadlocks()

    def by_allot():
        allot("queue", "resume", "default")
        eventually(queue_is_empty, "all", 600)

    allots = measured("Allot", JOBS, by_allot, lambda: cpu_of(ALLOTD))
    equal((before, 0), (deadlocks(), dead()), "deadlocks, and dead tasks")

    def by_their_worker():
        processes(*manager, "db_worker", "--backend", "database", "--batch", "--interval", "0", "--no-startup-delay")

    start = costs(by_their_worker, of_children)  # with an empty queue
    enqueue_all("database", JOBS)
    others = measured("django-tasks-db", JOBS, by_their_worker, of_children, start)
    share = max(1, JOBS // WORKERS)

    def without_a_queue(jobs=share):
        processes(os.environ["APP_PYTHON"], f"{os.environ['APP_HERE']}/ceiling.py", str(jobs))

    start = costs(lambda: without_a_queue(0), of_children)
    ceiling = measured("without a queue", share * WORKERS, without_a_queue, of_children, start)
    print(f"Allot: {allots / others:.1f} times django-tasks-db, {100 * allots / ceiling:.0f} % of the ceiling")


def starts_soon():
    waited = []
    for number in range(200):
        at = time.time()
        tasks.note.enqueue(f"start {number}")
        row = eventually(lambda: rows(f"start {number}").filter(what="ran").first(), "it ran")
        waited.append(1000 * (row.at.astimezone(timezone.utc).timestamp() - at))
    waited.sort()
    print(f"start after enqueueing: p50 {waited[100]:.1f} ms, p99 {waited[198]:.1f} ms")


run({
    "Memory after all tasks is at most 5 % above that after a tenth": flat_memory,
    "Allot runs without deadlocks; its speed and the speed of the framework's driver are printed": fast,
    "A task starts soon after it was enqueued": starts_soon,
})
