# SPDX-License-Identifier: Apache-2.0
# Runs the empty task repeatedly as a worker of the framework does, without a queue: with its
# result, its signals, and the connection check.
import sys

import django

django.setup()

from django.db import close_old_connections  # noqa: E402
from shop import tasks  # noqa: E402

try:
    from django.tasks.backends.immediate import ImmediateBackend
except ImportError:
    from django_tasks.backends.immediate import ImmediateBackend

backend = ImmediateBackend("ceiling", {})
for _ in range(int(sys.argv[1])):
    close_old_connections()
    backend.enqueue(tasks.nothing, [], {})
    close_old_connections()
