"""Ledger and moderation log are append-only: triggers refuse to change or delete a row.

They also refuse to change the place of a round in the order of application.
"""

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
CREATE += """
CREATE FUNCTION league_refuse_other_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a round keeps its applied number: %', OLD.applied_number
        USING HINT = 'Ratings follow from the rounds in the order in which they were applied.';
END $$;
CREATE TRIGGER order_of_application BEFORE UPDATE OF applied_number ON league_round
    FOR EACH ROW WHEN (
        OLD.applied_number IS NOT NULL AND NEW.applied_number IS DISTINCT FROM OLD.applied_number
    ) EXECUTE FUNCTION league_refuse_other_order();
"""
DROP = "".join(f"DROP TRIGGER append_only ON {table};" for table in LEDGER)
DROP += "DROP FUNCTION league_refuse_ledger_change();"
DROP += "DROP TRIGGER order_of_application ON league_round;"
DROP += "DROP FUNCTION league_refuse_other_order();"


class Migration(migrations.Migration):
    """Add the trigger to each table of the ledger."""

    dependencies = [("league", "0001_initial")]

    operations = [migrations.RunSQL(CREATE, DROP)]
