# SPDX-License-Identifier: Apache-2.0
# Sends reads to a read-only account, as with a replica, which django-tasks-db does not support.
class Split:
    def db_for_read(self, model, **hints):
        return "default" if model._meta.app_label == "django_tasks_database" else "replica"

    def db_for_write(self, model, **hints):
        return "default"
