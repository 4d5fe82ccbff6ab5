# SPDX-License-Identifier: Apache-2.0
# A small application whose tasks record their events in a table.
import os
from importlib.util import find_spec

import django

if not find_spec("MySQLdb"):
    import pymysql

    pymysql.install_as_MySQLdb()

SECRET_KEY = os.environ.get("APP_KEY", "k" * 50)
USE_TZ = True
OLD = django.VERSION < (6,)
INSTALLED_APPS = ["allot_django", *(["django_tasks"] if OLD else []), "django_tasks_db", "shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
_server = {"ENGINE": "django.db.backends.mysql", "HOST": os.environ["APP_SOCKET"], "NAME": "shop", "USER": "shop",
           "PASSWORD": "secret", "CONN_MAX_AGE": None}
DATABASES = {
    "default": _server,
    "other": _server,
    "replica": {**_server, "USER": "shop_reader"},
    "root": {**_server, "NAME": "", "USER": "root", "PASSWORD": ""},
}
DATABASE_ROUTERS = ["shop.routers.Split"]
_allot = {"application": "shop", "start_seconds": 3, "restart_file": os.environ["APP_WORK"] + "/restart"}
TASKS = {
    "default": {"BACKEND": "allot_django.backend.AllotBackend", "QUEUES": [], "OPTIONS": _allot},
    "kept": {"BACKEND": "allot_django.backend.AllotBackend", "QUEUES": [],
             "OPTIONS": {**_allot, "application": "kept", "results": "7d"}},
    "database": {"BACKEND": "django_tasks_db.backend.DatabaseBackend"},
}
