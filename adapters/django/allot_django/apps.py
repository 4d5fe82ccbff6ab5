# SPDX-License-Identifier: Apache-2.0
from django.apps import AppConfig


class AllotConfig(AppConfig):
    name = "allot_django"
    verbose_name = "Allot"
    default_auto_field = "django.db.models.BigAutoField"
