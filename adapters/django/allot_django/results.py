# SPDX-License-Identifier: Apache-2.0
# Keeps status and return value of tasks in the application's database, if OPTIONS["results"] is
# set.
from django.db import OperationalError
from django.utils import timezone

from . import names
from .backend import new_result, task_error
from .compat import TaskError, TaskResultDoesNotExist, TaskResultStatus
from .models import StoredResult

_PURGED_AT_ONCE = 200  # limit of expired rows that a finished task removes
_MAX_ERRORS = 10  # limit of stored errors of a task, the newest


class Results:
    def __init__(self, backend):
        self._backend = backend
        self._rows = StoredResult.objects.using(backend.connection_alias)

    def enqueued(self, result):
        self._rows.create(id=result.id, **_described(result), status=result.status, enqueued_at=result.enqueued_at)

    def get(self, id):
        row = self._rows.filter(id=id).first()
        if row is None:
            raise TaskResultDoesNotExist(id)
        return self._result(row)

    def written(self, result):
        """The state of a result in the worker. A task that others submitted gets its row here."""
        values = {
            "status": result.status, "started_at": result.started_at, "finished_at": result.finished_at,
            "last_attempted_at": result.last_attempted_at, "worker_ids": result.worker_ids,
            "errors": [[error.exception_class_path, error.traceback] for error in result.errors[-_MAX_ERRORS:]],
            "return_value": result._return_value,
        }
        self._rows.update_or_create(id=result.id, defaults=values, create_defaults={**_described(result), **values})
        if result.is_finished:
            self._purge()

    def before(self, id):
        """Fields that the attempts before have stored."""
        row = self._rows.filter(id=id).first()
        return {} if row is None else {
            "enqueued_at": row.enqueued_at, "started_at": row.started_at, "errors": _errors(row)}

    def failed(self, id, error):
        """Stores the failure of a task whose function could not be run."""
        error = task_error(error)
        self._rows.filter(id=id).update(status=TaskResultStatus.FAILED, finished_at=timezone.now(),
                                        errors=[[error.exception_class_path, error.traceback]])

    def _purge(self):
        over = timezone.now() - self._backend.settings.retention
        try:
            old = self._rows.filter(finished_at__lt=over)
            if ids := list(old.values_list("id", flat=True)[:_PURGED_AT_ONCE]):
                old.filter(id__in=ids).delete()
        except OperationalError:
            pass  # another process purges the same rows; the next task retries

    def _result(self, row):
        task = names.task_at(row.task_path).using(
            priority=row.priority, queue_name=row.queue_name, run_after=row.run_after, backend=row.backend)
        result = new_result(
            self._backend, task, row.id, row.args_kwargs["args"], row.args_kwargs["kwargs"],
            status=TaskResultStatus(row.status), enqueued_at=row.enqueued_at, started_at=row.started_at,
            last_attempted_at=row.last_attempted_at, finished_at=row.finished_at, errors=_errors(row),
            worker_ids=row.worker_ids)
        object.__setattr__(result, "_return_value", row.return_value)
        return result


def _described(result):
    task = result.task
    return {"task_path": task.module_path, "backend": result.backend, "queue_name": task.queue_name,
            "priority": task.priority, "run_after": task.run_after,
            "args_kwargs": {"args": result.args, "kwargs": result.kwargs}}


def _errors(row):
    return [TaskError(exception_class_path=path, traceback=trace) for path, trace in row.errors]
