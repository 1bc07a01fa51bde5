"""Standings, cross table and bracket of a tournament."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import OnePageSerializer, owner_field
from league.competitions.tournament_standings import (
    BracketRound,
    BracketSeat,
    BracketTable,
    TournamentStanding,
)


class TournamentRowSerializer(serializers.Serializer[TournamentStanding]):
    """An entrant in the standings of a tournament."""

    rank = serializers.IntegerField(
        source="row.rank", allow_null=True, help_text="From 1; null for a disqualified bot."
    )
    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    owner = owner_field("bot.owner")
    state = serializers.CharField(
        source="entry.state", help_text="`entered`, `withdrawn` or `disqualified`."
    )
    reason = serializers.CharField(
        source="entry.reason",
        help_text="Why organisers disqualified or withdrew the bot; else empty.",
    )
    round_reached = serializers.IntegerField(
        source="row.round_reached",
        allow_null=True,
        help_text="In a knockout: the last round in which the bot takes part. Null in other "
        "formats.",
    )
    table_place = serializers.IntegerField(
        source="row.table_place",
        allow_null=True,
        help_text="In a knockout: place at its table in the round `round_reached`, 1 the best. "
        "Null until it is decided, and in other formats.",
    )
    score = serializers.FloatField(
        source="row.score",
        help_text="Sum of the bot's win shares over its finished blocks. In a Swiss or round robin "
        "each bye and each void block adds 1/2. Extra blocks of a knockout do not count.",
    )
    head_to_head = serializers.FloatField(
        source="row.head_to_head",
        allow_null=True,
        help_text="Tie-break: score against the entrants with the same score; null unless all of "
        "them have met.",
    )
    buchholz = serializers.FloatField(
        source="row.buchholz",
        help_text="Tie-break: mean score of the bot's opponents, without the lowest.",
    )
    sonneborn_berger = serializers.FloatField(
        source="row.sonneborn_berger",
        help_text="Tie-break: for each opponent, its score times the bot's win share against it; "
        "the sum of these products.",
    )
    wins = serializers.IntegerField(
        source="row.wins", help_text="Tie-break: number of matches won without a tie for place 1."
    )
    mean_points = serializers.FloatField(
        source="row.mean_points", help_text="Tie-break: mean score a match, in the game's points."
    )
    lot = serializers.CharField(
        source="row.lot_text",
        help_text="Last tie-break: 16 hex digits drawn from the tournament's seed; the higher "
        "ranks first.",
    )
    decided_by = serializers.CharField(
        source="row.decided_by",
        allow_null=True,
        help_text="The first number that differs from the row above: `round-reached`, "
        "`table-place`, `score`, `head-to-head`, `buchholz`, `sonneborn-berger`, `wins`, "
        "`mean-points` or `lot`. Null in the first row and for a disqualified bot.",
    )
    blocks = serializers.IntegerField(
        source="row.blocks",
        help_text="Number of finished blocks, without extra blocks of a knockout.",
    )
    byes = serializers.IntegerField(help_text="Number of blocks that are byes or void.")
    matches = serializers.IntegerField(
        source="row.matches", help_text="Number of matches in the blocks that `blocks` counts."
    )


class TournamentStandingsSerializer(OnePageSerializer[dict[str, Any]]):
    """All entrants by rank, always on one page."""

    results = TournamentRowSerializer(many=True)


class OpponentScoreSerializer(serializers.Serializer[dict[str, Any]]):
    """The score of a bot against one opponent."""

    opponent = serializers.CharField(help_text="Name of the opponent.")
    blocks = serializers.IntegerField(help_text="Number of finished blocks with both bots.")
    score = serializers.FloatField(
        help_text="Sum over the finished blocks with both bots, from 0 to `blocks`. Each block "
        "adds the mean of the bot's results against the opponent (win 1, tie 1/2, loss 0)."
    )


class CrossRowSerializer(serializers.Serializer[dict[str, Any]]):
    """An entrant's scores against its opponents."""

    rank = serializers.IntegerField(
        allow_null=True, help_text="From 1; null for a disqualified bot."
    )
    bot = serializers.CharField(help_text="Name of the bot.")
    opponents = OpponentScoreSerializer(
        many=True, help_text="The opponents that it met, in the order of the standings."
    )


class CrossTableSerializer(OnePageSerializer[dict[str, Any]]):
    """The cross table, always on one page."""

    results = CrossRowSerializer(many=True)


class BracketSeatSerializer(serializers.Serializer[BracketSeat]):
    """A bot at a table of a knockout."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    seed = serializers.IntegerField(
        allow_null=True,
        help_text="Seeding: position by rating at the start, 1 the best; null for a house bot "
        "that fills in.",
    )
    scores = serializers.ListField(
        child=serializers.FloatField(),
        help_text="First the score in all regular blocks together, then the score in each extra "
        "block.",
    )
    advances = serializers.BooleanField(
        source="goes_on",
        allow_null=True,
        help_text="Whether the bot goes on to the next round; in the final, whether it has won. "
        "Null until it is decided.",
    )


class BracketTableSerializer(serializers.Serializer[BracketTable]):
    """A table of a knockout's round."""

    seats = BracketSeatSerializer(many=True, help_text="The bots, best first.")
    extra_blocks = serializers.IntegerField(
        help_text="Number of extra blocks that broke a tie for a place in the next stage."
    )
    decided_by_seed = serializers.BooleanField(
        source="by_seed",
        help_text="Whether the tie remained after the extra blocks, so that the bot with the "
        "better seeding goes on.",
    )


class BracketRoundSerializer(serializers.Serializer[BracketRound]):
    """A round of a knockout."""

    stage = serializers.IntegerField(
        source="number", help_text="Number of the round in the tournament, from 1."
    )
    final = serializers.BooleanField(help_text="Whether it is the last round.")
    tables = BracketTableSerializer(many=True, help_text="The tables of the round.")
    byes = BracketSeatSerializer(many=True, help_text="Bots that go on without playing.")


class BracketSerializer(OnePageSerializer[dict[str, Any]]):
    """The rounds of a knockout, always on one page."""

    results = BracketRoundSerializer(many=True)
