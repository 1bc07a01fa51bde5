"""Query parameters of lists."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers

from api.pagination import PageQuery, PeriodQuery
from api.serializers.fields import OneOfField
from league.models import Bot, Match

Row = TypeVar("Row", bound=Model)


class BotQuery(PageQuery):
    """The rows of one bot."""

    bot = serializers.CharField(
        required=False, max_length=32, help_text="Name of a bot: list its rows only."
    )


class ChallengeQuery(PeriodQuery):
    """Challenges by bot and time of creation."""

    bot = serializers.CharField(
        required=False, max_length=32, help_text="Name of a bot: list challenges with it only."
    )


class MatchQuery(PeriodQuery):
    """Matches by bot, ladder, tournament, status and time of creation."""

    bot = serializers.CharField(
        required=False, max_length=32, help_text="Name of a bot: list its matches only."
    )
    ladder = serializers.CharField(
        required=False, max_length=50, help_text="Slug of a ladder: list its matches only."
    )
    tournament = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Id of a tournament: list its matches only.",
    )
    status = OneOfField(
        Match.Status.values, required=False, help_text="List matches with this status only."
    )


class StandingsQuery(PageQuery):
    """The standings of a ladder."""

    hidden = serializers.BooleanField(
        required=False,
        default=False,
        help_text="true: list hidden bots too, after all others. A bot is hidden if no round has "
        "rated it for the ladder's `idle_days`, or if it left the ladder.",
    )


class LedgerQuery(PeriodQuery, BotQuery):
    """Rows of the ledger."""

    round = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of a round: list its rows only.",
    )
    revision = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of a revision of the ledger: list the rows as they were then, without "
        "later corrections. Default: the newest revision.",
    )


def filtered_matches(matches: QuerySet[Match], query: Mapping[str, Any]) -> QuerySet[Match]:
    """Return the matches that a `MatchQuery` selects, except by time.

    Matches of players are in no list.
    """
    matches = matches.filter(table=None)
    if "bot" in query:
        bots = Bot.with_players.filter(name=query["bot"]).values_list("pk", flat=True)
        matches = matches.filter(bot_ids__overlap=list(bots))
    fields = {
        "ladder": "block__round__ladder__slug",
        "tournament": "block__round__tournament_id",
        "status": "status",
    }
    return matches.filter(**{field: query[name] for name, field in fields.items() if name in query})


def by_bot(rows: QuerySet[Row], query: Mapping[str, Any]) -> QuerySet[Row]:
    """Return the rows of the bot that the parameter ``bot`` names; all rows without it."""
    return rows.filter(bot__name=query["bot"]) if "bot" in query else rows
