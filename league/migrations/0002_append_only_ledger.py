"""Ledger and moderation log are append-only: a trigger refuses to change or delete a row."""

from django.db import migrations

LEDGER = (
    "league_roundentry",
    "league_blockentry",
    "league_voidmark",
    "league_revision",
    "league_moderationentry",
)
CREATE = """
CREATE FUNCTION league_refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'ledger and moderation log are only added to: no % of %', TG_OP, TG_TABLE_NAME
        USING HINT = 'Correct a block with league.moderation.void_block, which adds a void mark.';
END $$;
""" + "".join(
    f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} "
    "FOR EACH ROW EXECUTE FUNCTION league_refuse_ledger_change();"
    for table in LEDGER
)
DROP = "".join(f"DROP TRIGGER append_only ON {table};" for table in LEDGER)
DROP += "DROP FUNCTION league_refuse_ledger_change();"


class Migration(migrations.Migration):
    """Add the trigger to each table of the ledger."""

    dependencies = [("league", "0001_initial")]

    operations = [migrations.RunSQL(CREATE, DROP)]
