# SPDX-License-Identifier: Apache-2.0
# The argument --backend of both commands.
from django.core.management.base import CommandError

from ...backend import AllotBackend
from ...compat import task_backends


def add_backend(parser):
    parser.add_argument("--backend", default="default", help="name of the backend in TASKS (%(default)s)")


def backend_of(options):
    name = options["backend"]
    if name not in task_backends.settings:
        raise CommandError(f"TASKS has no backend {name!r}")
    backend = task_backends[name]
    if not isinstance(backend, AllotBackend):
        raise CommandError(f"the backend {name!r} of TASKS is {type(backend).__qualname__}, not AllotBackend")
    return backend
