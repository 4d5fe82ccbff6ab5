# SPDX-License-Identifier: Apache-2.0
# Converts between task types and task functions. A type is the application's name and the path of
# the task function, as in shop.orders.tasks.send_mail.
import hashlib
import re
import sys
from importlib import import_module

from django.apps import apps
from django.conf import settings

from .compat import Task
from .outcomes import UnknownTask

MAX_BYTES = 127  # of a type
_HASH_DIGITS = 8


def type_of(application, path):
    name = f"{application}." + re.sub(r"[^A-Za-z0-9._-]", "_", path)
    if len(name) <= MAX_BYTES:
        return name
    # The prefix selects the program, the end identifies the task for people, and the hash
    # distinguishes long names.
    head = f"{application}.{hashlib.sha256(path.encode()).hexdigest()[:_HASH_DIGITS]}."
    return head + name[len(head) - MAX_BYTES:]


def task_at(path):
    """The Task at this path. S95: imports only modules of this application."""
    module, _, name = path.rpartition(".")
    if module not in sys.modules and not _is_ours(module):
        raise UnknownTask(f"{path}: the module {module!r} is not part of an installed application")
    try:
        found = getattr(sys.modules.get(module) or import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownTask(f"{path}: {error}") from error
    if not isinstance(found, Task):
        raise UnknownTask(f"{path} is not a task; decorate the function with @task")
    return found


def _is_ours(module):
    """Whether the module belongs to an installed application, or to the package of the settings."""
    packages = {config.name for config in apps.get_app_configs()}
    project, dot, _ = (settings.SETTINGS_MODULE or "").partition(".")
    if dot:
        packages.add(project)
    return any(module == package or module.startswith(f"{package}.") for package in packages)
