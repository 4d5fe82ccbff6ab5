# SPDX-License-Identifier: Apache-2.0
# Submits tasks with Allot's procedures over the application's own connection, so that a task
# commits, or is rolled back, with the rows of the transaction that enqueues it.
import json
import traceback
from contextlib import nullcontext
from datetime import timezone as zones

from django.core import checks
from django.db import connections, router, transaction
from django.utils import timezone

from . import names, payload
from .compat import BaseTaskBackend, TaskError, TaskResult, TaskResultStatus, task_enqueued
from .options import own_option, submit_options
from .settings import options_of

MAX_ATTEMPTS = 100000  # the limit of Allot


def prio_of(priority):
    """Allot's class of a priority from -100 to 100: 0 is the first one, and 1 has the default of both."""
    return 0 if priority > 50 else 1 if priority >= 0 else 2 if priority >= -50 else 3


def as_utc(moment):
    """The moment in UTC; one without a zone is local to settings.TIME_ZONE, as elsewhere in Django."""
    return (moment if timezone.is_aware(moment) else timezone.make_aware(moment)).astimezone(zones.utc)


def new_result(backend, task, id, args, kwargs, **more):
    fields = {"status": TaskResultStatus.READY, "enqueued_at": None, "started_at": None, "finished_at": None,
              "last_attempted_at": None, "errors": [], "worker_ids": []}
    return TaskResult(task=task, id=id, args=list(args), kwargs=kwargs, backend=backend.alias, **{**fields, **more})


def task_error(error):
    kind = type(error)
    return TaskError(exception_class_path=f"{kind.__module__}.{kind.__qualname__}",
                     traceback="".join(traceback.format_exception(error)))


class AllotBackend(BaseTaskBackend):
    supports_defer = True
    supports_async_task = True
    supports_priority = True

    def __init__(self, alias, params):
        super().__init__(alias, params)
        self.settings = options_of(alias, self.options)
        self.supports_get_result = self.settings.results is not None

    def enqueue(self, task, args, kwargs):
        self.validate_task(task)
        result = new_result(self, task, "", args, kwargs, enqueued_at=timezone.now())
        body = payload.signed(task.module_path, result.args, result.kwargs)
        with transaction.atomic(self.connection_alias) if self.results else nullcontext():
            id, existed = self._submit(task, body, self._options(task, args, kwargs))
            object.__setattr__(result, "id", id)
            if self.results and not existed:
                self.results.enqueued(result)
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id):
        return self.results.get(result_id) if self.results else super().get_result(result_id)

    def tries_of(self, function):
        """How many attempts run this task function."""
        tries = own_option(function, "tries", self.settings.tries)
        return min(tries or MAX_ATTEMPTS, MAX_ATTEMPTS - 1)

    @property
    def connection_alias(self):
        from .models import StoredResult  # models cannot be imported before the applications are loaded

        return self.settings.connection or router.db_for_write(StoredResult)

    @property
    def results(self):
        from .results import Results

        return Results(self) if self.supports_get_result else None

    def check(self, **kwargs):
        from django.apps import apps

        if not apps.is_installed("allot_django"):
            yield checks.Error("TASKS uses AllotBackend, but INSTALLED_APPS lacks 'allot_django'", id="allot.E001")
        elif connections[self.connection_alias].vendor != "mysql":
            yield checks.Error(
                f"the database {self.connection_alias!r} is not MySQL or MariaDB; Allot's tasks live in one",
                hint="Set OPTIONS['connection'] to the alias of the server that has Allot's database.",
                id="allot.E002")

    def _options(self, task, args, kwargs):
        options = {"prio": prio_of(task.priority)}
        if task.run_after is not None:
            options["run_at"] = as_utc(task.run_after).isoformat()
        if timeout := own_option(task.func, "timeout"):
            # The time limit includes the start of a new process.
            options["time_limit"] = f"{timeout + self.settings.start_seconds}s"
        # S83: one more than the tries, because a last try that dies with its process needs another
        # attempt, which records the failure without running the function.
        options["max_attempts"] = self.tries_of(task.func) + 1
        return {**options, **submit_options(task.func, args, kwargs)}

    def _submit(self, task, body, options):
        procedure = f"`{self.settings.database}`.allot_submit"
        type = names.type_of(self.settings.application, task.module_path)
        with connections[self.connection_alias].cursor() as cursor:
            cursor.execute(f"CALL {procedure}(%s, %s, %s, %s, @allot_id, @allot_existed)",
                           [task.queue_name, type, body, json.dumps(options)])
            cursor.execute("SELECT @allot_id, @allot_existed")
            id, existed = cursor.fetchone()
        return (id.decode() if isinstance(id, bytes) else id), bool(existed)
