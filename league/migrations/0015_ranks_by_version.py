from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("league", "0014_ladder_tables"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="standing",
            name="standings_as_shown",
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(
                models.F("ladder"),
                models.F("hidden"),
                models.ExpressionWrapper(
                    models.Q(
                        ("blocks__lt", 20),
                        models.Q(("performance_blocks__gt", 0), ("performance_blocks__lt", 20)),
                        _connector="OR",
                    ),
                    output_field=models.BooleanField(),
                ),
                models.OrderBy(models.F("rating"), descending=True),
                models.F("bot"),
                name="standings_as_shown",
            ),
        ),
    ]
