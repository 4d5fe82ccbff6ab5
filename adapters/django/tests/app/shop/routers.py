# SPDX-License-Identifier: Apache-2.0
# Reads go to an account that may only read, as with a replica. django-tasks-db cannot cope with that.
class Split:
    def db_for_read(self, model, **hints):
        return "default" if model._meta.app_label == "django_tasks_database" else "replica"

    def db_for_write(self, model, **hints):
        return "default"
