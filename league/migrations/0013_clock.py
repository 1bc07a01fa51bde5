from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("league", "0012_hidden_standings")]

    operations = [
        migrations.CreateModel(
            name="Clock",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ran_until", models.DateTimeField()),
            ],
        ),
    ]
