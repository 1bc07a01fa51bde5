"""Entries list the rounds that were drawn after a bot left and before it came back."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column."""

    dependencies = [("league", "0003_seats")]

    operations = [
        migrations.AddField(
            model_name="tournamententry",
            name="missed_rounds",
            field=ArrayField(
                models.PositiveIntegerField(),
                blank=True,
                db_default=models.Value("{}"),
                default=list,
                help_text="Numbers of the rounds that were drawn after it left and before it came "
                "back.",
            ),
        ),
    ]
