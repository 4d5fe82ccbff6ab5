# SPDX-License-Identifier: Apache-2.0
import faulthandler
import sys

from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import autodiscover_modules

from ... import verdicts
from ...pipe import Pipe, started_by_allotd
from ...restart import RestartMark
from ...runner import Runner
from ._backend import add_backend, backend_of


class Command(BaseCommand):
    help = "Run tasks of Allot; started by allotd"
    requires_system_checks = []

    def add_arguments(self, parser):
        add_backend(parser)

    def handle(self, *args, **options):
        backend = backend_of(options)
        if not started_by_allotd():
            raise CommandError("allot_worker is started by allotd, as a program of its plugin pipe; see docs/django.md")
        faulthandler.enable()  # prints a traceback after a crash of an extension
        sys.stdout.reconfigure(line_buffering=True)
        mark = RestartMark(backend.settings.restart_file)
        autodiscover_modules("tasks")
        pipe = Pipe()
        runner = Runner(backend, pipe)
        while line := pipe.next_task():
            if mark.has_changed():
                # The task runs with the new code, in the process that replaces this one.
                pipe.last_verdict(line["id"], verdicts.released("allot_restart"))
                return
            pipe.verdict(line["id"], runner.run(line))
