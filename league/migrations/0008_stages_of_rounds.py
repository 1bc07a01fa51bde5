from django.db import migrations
from django.db.models import Window
from django.db.models.functions import RowNumber


def number_the_stages(apps, schema_editor):
    """Number the rounds of tournaments that were opened before stages had numbers."""
    rounds = apps.get_model("league", "Round").objects.filter(
        tournament__isnull=False, stage__isnull=True
    )
    numbered = rounds.annotate(at=Window(RowNumber(), partition_by="tournament", order_by="number"))
    for round_ in list(numbered):
        rounds.filter(pk=round_.pk).update(stage=round_.at)


class Migration(migrations.Migration):
    dependencies = [("league", "0007_formats")]

    operations = [migrations.RunPython(number_the_stages, migrations.RunPython.noop, elidable=True)]
