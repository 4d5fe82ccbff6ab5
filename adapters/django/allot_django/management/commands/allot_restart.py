# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from ._backend import add_backend, backend_of


class Command(BaseCommand):
    help = "Replace the processes that run tasks on this host; no task starts with the old code from now on"
    requires_system_checks = []

    def add_arguments(self, parser):
        add_backend(parser)

    def handle(self, *args, **options):
        file = backend_of(options).settings.restart_file
        if not file:
            raise CommandError(f"TASKS[{options['backend']!r}]['OPTIONS'] has no 'restart_file'; "
                               "set it to a file that this account may write and the processes may read")
        Path(file).touch()
