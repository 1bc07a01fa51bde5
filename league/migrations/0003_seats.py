"""Seats are columns of the match: a view has a row for each, and triggers are their foreign keys.

PostgreSQL has no foreign keys for the elements of an array. As with Django's foreign keys, the bots
and versions of a new match must exist when its transaction ends, and are locked from there. A bot
with a seat can't be deleted.
"""

from django.db import migrations

CREATE = """
CREATE VIEW league_matchseat AS
SELECT match.id * 8 + by_seat.number - 1 AS id, match.id AS match_id,
    (by_seat.number - 1)::smallint AS seat, by_seat.bot_id, by_seat.version_id,
    by_seat.substitute_id, by_seat.handed_over_at, by_seat.score, by_seat.place,
    coalesce(by_seat.forfeited, false) AS forfeited, coalesce(by_seat.faults, 0) AS faults
FROM league_match AS match
CROSS JOIN LATERAL unnest(
    match.bot_ids, match.version_ids, match.substitute_ids, match.handed_over_at, match.scores,
    match.places, match.forfeited, match.faults
) WITH ORDINALITY AS by_seat (
    bot_id, version_id, substitute_id, handed_over_at, score, place, forfeited, faults, number
);
CREATE FUNCTION league_refuse_unknown_bots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bots bigint;
    versions bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM league_match WHERE id = NEW.id) THEN
        RETURN NULL;  -- deleted in the same transaction
    END IF;
    PERFORM FROM league_bot WHERE id = ANY (NEW.bot_ids) FOR KEY SHARE;
    GET DIAGNOSTICS bots = ROW_COUNT;
    PERFORM FROM league_botversion WHERE id = ANY (NEW.version_ids) FOR KEY SHARE;
    GET DIAGNOSTICS versions = ROW_COUNT;
    IF bots <> (SELECT count(DISTINCT id) FROM unnest(NEW.bot_ids) AS id)
        OR versions <> (SELECT count(DISTINCT id) FROM unnest(NEW.version_ids) AS id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'a seat has no such bot or version';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER seats_have_bots
    AFTER INSERT OR UPDATE OF bot_ids, version_ids ON league_match
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION league_refuse_unknown_bots();
CREATE FUNCTION league_keep_bots_with_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM league_match WHERE bot_ids @> ARRAY[OLD.id::int]) THEN
        RAISE foreign_key_violation
            USING MESSAGE = format('bot %s has a seat in a match', OLD.id);
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER bots_with_seats BEFORE DELETE ON league_bot
    FOR EACH ROW EXECUTE FUNCTION league_keep_bots_with_seats();
"""
DROP = """
DROP TRIGGER bots_with_seats ON league_bot;
DROP FUNCTION league_keep_bots_with_seats();
DROP TRIGGER seats_have_bots ON league_match;
DROP FUNCTION league_refuse_unknown_bots();
DROP VIEW league_matchseat;
"""


class Migration(migrations.Migration):
    """Add the view and the triggers."""

    dependencies = [("league", "0002_append_only_ledger")]

    operations = [migrations.RunSQL(CREATE, DROP)]
