# SPDX-License-Identifier: Apache-2.0
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="StoredResult",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("task_path", models.TextField()),
                ("backend", models.CharField(max_length=100)),
                ("queue_name", models.CharField(max_length=63)),
                ("priority", models.SmallIntegerField(default=0)),
                ("run_after", models.DateTimeField(null=True)),
                ("args_kwargs", models.JSONField()),
                ("status", models.CharField(max_length=20)),
                ("enqueued_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("last_attempted_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(db_index=True, null=True)),
                ("worker_ids", models.JSONField(default=list)),
                ("errors", models.JSONField(default=list)),
                ("return_value", models.JSONField(null=True)),
            ],
        ),
    ]
