"""A tournament can also be reopened by taking its cancellation back; only a help text changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("league", "0003_seats")]

    operations = [
        migrations.AlterField(
            model_name="tournament",
            name="reopened_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When an organiser had a block played again after the end, or took a "
                "cancellation back. The seed was public by then, so later rounds have seeds of "
                "their own.",
                null=True,
            ),
        ),
    ]
