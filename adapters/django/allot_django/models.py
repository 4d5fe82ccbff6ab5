# SPDX-License-Identifier: Apache-2.0
from django.db import models


class StoredResult(models.Model):
    """The result of a task, for backends with OPTIONS["results"]. Its database is the database of the tasks."""

    id = models.CharField(max_length=40, primary_key=True)  # id of Allot's task
    task_path = models.TextField()
    backend = models.CharField(max_length=100)
    queue_name = models.CharField(max_length=63)
    priority = models.SmallIntegerField(default=0)
    run_after = models.DateTimeField(null=True)
    args_kwargs = models.JSONField()
    status = models.CharField(max_length=20)
    enqueued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    last_attempted_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True, db_index=True)
    worker_ids = models.JSONField(default=list)
    errors = models.JSONField(default=list)
    return_value = models.JSONField(null=True)

    def __str__(self):
        return f"{self.id} {self.task_path} {self.status}"
