# SPDX-License-Identifier: Apache-2.0
from allot_django.compat import task_finished, task_started
from django.dispatch import receiver

from .models import Seen


def note(job, what, result, detail=""):
    Seen.objects.using("other").create(
        job=job, what=what, detail=detail, attempt=result.attempts, task=result.id)


@receiver(task_started)
def started(task_result, **kwargs):
    if task_result.args and task_result.task.name == "acts":
        note(task_result.args[0], "started", task_result)


@receiver(task_finished)
def finished(task_result, **kwargs):
    if task_result.args and task_result.task.name in ("acts", "note", "counts"):
        detail = task_result.errors[-1].traceback if task_result.errors else ""
        note(task_result.args[0], task_result.status.lower(), task_result, detail)
