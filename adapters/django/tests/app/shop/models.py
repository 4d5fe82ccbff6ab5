# SPDX-License-Identifier: Apache-2.0
from django.db import models


class Order(models.Model):
    name = models.CharField(max_length=190, unique=True)


class Seen(models.Model):
    """Events of the job with a name."""

    job = models.CharField(max_length=190, db_index=True)
    what = models.CharField(max_length=60)
    detail = models.TextField()
    attempt = models.IntegerField()
    task = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)
