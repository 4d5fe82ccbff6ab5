# SPDX-License-Identifier: Apache-2.0
# Runs a task as the framework's own workers do, with its signals and its context. The result of the
# function becomes the verdict of the task (README.md has the table).
import logging
import os
import socket

from django.db import close_old_connections, reset_queries
from django.utils import timezone

from . import current, names, payload, verdicts
from .backend import new_result, task_error
from .compat import TaskContext, TaskResultStatus, normalize_json, task_finished, task_started
from .options import own_option
from .outcomes import AttemptsExceeded, Fail, Refused, Retry, Snooze, UnknownTask

logger = logging.getLogger("allot_django")


class Runner:
    def __init__(self, backend, pipe):
        self._backend = backend
        self._pipe = pipe
        self._worker = f"{socket.gethostname()}:{os.getpid()}"[-64:]

    def run(self, line):
        """Runs the task of a line from allotd; returns its verdict."""
        close_old_connections()
        reset_queries()
        try:
            attempt = Attempt(self._backend, line, self._worker)
            current.begin(Running(self._pipe, line["id"]))
            return attempt.verdict()
        except Exception as error:  # from outside the function; Attempt handles its errors
            return self._not_run(line, error)
        finally:
            current.end()
            close_old_connections()

    def _not_run(self, line, error):
        if not isinstance(error, Refused):
            logger.exception("task %s", line["id"])
            if line["attempt"] < line["max_attempts"]:
                return verdicts.retried(error)
        if self._backend.results:
            self._backend.results.failed(line["id"], error)
        return verdicts.failed(error)


class Running:
    """The task in hand for progress() and its like; see current.py."""

    def __init__(self, pipe, id):
        self._pipe, self._id, self._reason = pipe, id, None

    def progress(self, percent, word):
        self._pipe.progress(self._id, percent, word)

    def stop_reason(self):
        self._reason = self._reason or self._pipe.stop_reason()
        return self._reason


class Attempt:
    def __init__(self, backend, line, worker):
        self._backend = backend
        self._number = line["attempt"]
        data = payload.verified(line["payload"])
        if data is None:
            task = self._unsigned(line["type"])
            _, args, kwargs = payload.decoded(line["payload"])
            tries = min(backend.tries_of(task.func), line["max_attempts"])
        else:
            path, args, kwargs = payload.decoded(data)
            if names.type_of(backend.settings.application, path) != line["type"]:
                raise Refused(f"the payload is of the task {path}, not of the type {line['type']}")
            task = names.task_at(path)
            tries = line["max_attempts"] - 1  # reverse of enqueue()
        self._last = self._number >= tries
        self._exceeded = self._number > tries
        self._results = backend.results
        workers = [worker] * self._number  # the framework counts attempts by them
        before = self._results.before(line["id"]) if self._results else {}
        self._result = new_result(backend, self._placed(task, line["queue"]), line["id"], args, kwargs,
                                  worker_ids=workers, **before)

    def verdict(self):
        if self._exceeded:
            return self._failed(AttemptsExceeded(AttemptsExceeded.__doc__))
        try:
            self._begin()
            value = normalize_json(self._call())
        except KeyboardInterrupt:
            raise
        except Snooze as snooze:
            self._write(TaskResultStatus.READY)
            return verdicts.snoozed(snooze)
        except BaseException as error:  # includes SystemExit: the process continues
            return self._failed(error) if self._last or isinstance(error, Fail) else self._retried(error)
        object.__setattr__(self._result, "_return_value", value)
        self._finish(TaskResultStatus.SUCCESSFUL)
        return verdicts.SUCCESS

    def _begin(self):
        now = timezone.now()
        object.__setattr__(self._result, "started_at", self._result.started_at or now)
        object.__setattr__(self._result, "last_attempted_at", now)
        self._write(TaskResultStatus.RUNNING)
        task_started.send(type(self._backend), task_result=self._result)

    def _call(self):
        task, result = self._result.task, self._result
        context = [TaskContext(task_result=result)] if task.takes_context else []
        try:
            return task.call(*context, *result.args, **result.kwargs)
        finally:
            close_old_connections()  # the result needs a working connection without a transaction

    def _retried(self, error):
        self._note(error)
        self._write(TaskResultStatus.READY)
        logger.warning("Task id=%s path=%s attempt %d failed, and is retried", self._result.id,
                       self._result.task.module_path, self._number, exc_info=error)
        return verdicts.retried(error, error.delay if isinstance(error, Retry) else None)

    def _failed(self, error):
        self._note(error)
        verdict = verdicts.failed(error)
        try:
            raise error  # receivers read it from sys.exc_info()
        except BaseException:
            self._finish(TaskResultStatus.FAILED)
        return verdict

    def _finish(self, status):
        object.__setattr__(self._result, "finished_at", timezone.now())
        self._write(status)
        task_finished.send_robust(type(self._backend), task_result=self._result)

    def _note(self, error):
        self._result.errors.append(task_error(error))

    def _write(self, status):
        object.__setattr__(self._result, "status", status)
        if self._results:
            self._results.written(self._result)

    def _unsigned(self, type):
        """The task of a type. S95: its function has to accept unsigned payloads."""
        try:
            task = names.task_at(type.removeprefix(f"{self._backend.settings.application}."))
        except UnknownTask:
            task = None
        if task is None or not own_option(task.func, "accepts_unsigned", False):
            raise Refused("the payload is not signed with this application's key (SECRET_KEY), "
                          f"and {type} is not a task that accepts unsigned ones")
        return task

    def _placed(self, task, queue):
        """The task with this backend, and with its queue if QUEUES has it."""
        known = not self._backend.queues or queue in self._backend.queues
        return task.using(backend=self._backend.alias, queue_name=queue if known else None)
