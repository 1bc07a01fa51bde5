"""Matches, and their logs for the owners of bots."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from api.serializers.fields import OneOfField, OnePageSerializer
from engine.faults import FORFEITED
from engine.games.catalogue import GAMES
from league.models import Match, MatchSeat
from league.visibility import public_deal_seed


class SeatSerializer(serializers.ModelSerializer[MatchSeat]):
    """A seat of a match; after the match with its score and place."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot in this seat.")
    version = serializers.IntegerField(
        source="version.number", help_text="Number of the bot's version that plays."
    )

    class Meta:
        model = MatchSeat
        fields = ("seat", "bot", "version", "score", "place", "forfeited", "faults")
        read_only_fields = fields
        extra_kwargs = {
            "seat": {"help_text": "0 to `seats` - 1, clockwise."},
            "score": {
                "help_text": "Final points; partridge calls them gifts. Null before the end of the "
                "match, and while other matches with the same deal are not finished."
            },
            "place": {
                "help_text": "1 + the number of seats with a higher score; a seat that forfeited "
                "is last. Null while `score` is null."
            },
            "forfeited": {
                "help_text": f"Whether the seat forfeited: {FORFEITED}. False while `score` is "
                "null."
            },
            "faults": {
                "help_text": "Number of moves that the referee played for the seat; 0 while "
                "`score` is null."
            },
        }


def hide_result(seating: Iterable[dict[str, Any]]) -> None:
    """Show the seats of a match whose record is secret as before its end."""
    for seat in seating:
        seat |= {"score": None, "place": None, "forfeited": False, "faults": 0}


class MatchSerializer(serializers.ModelSerializer[Match]):
    """A match, as everybody may see it."""

    ladder = serializers.CharField(
        source="block.round.ladder.slug",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Slug of the ladder that the match is rated on; null for an unrated match.",
    )
    tournament = serializers.IntegerField(
        source="block.round.tournament_id",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Id of the match's tournament; null without one.",
    )
    round = serializers.IntegerField(
        source="block.round.number",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Number of the ladder's round; null for an unrated match.",
    )
    block = serializers.IntegerField(
        source="block.number",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="The field `number` of the block; null for an unrated match.",
    )
    challenge = serializers.IntegerField(
        source="challenge_id",
        read_only=True,
        allow_null=True,
        help_text="Id of the match's challenge; null without one.",
    )
    commitment = serializers.CharField(
        read_only=True,
        max_length=64,
        help_text="SHA-256 of the deal seed as 64 hex digits, public before the match.",
    )
    seating = SeatSerializer(many=True, help_text="The seats, ascending.")
    deal_seed = serializers.SerializerMethodField(
        help_text="The deal seed as 64 hex digits. Null until the match is finished; in a "
        "duplicate block, until the whole block is finished."
    )

    class Meta:
        model = Match
        fields: tuple[str, ...] = (
            "id",
            "game",
            "rules",
            "seats",
            "status",
            "void_reason",
            "ladder",
            "tournament",
            "round",
            "block",
            "challenge",
            "number",
            "move_seconds",
            "bank_seconds",
            "commitment",
            "deal_seed",
            "seating",
            "created_at",
            "started_at",
            "finished_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the match."},
            "game": {"help_text": "`twelve-days` or `partridge`."},
            "rules": {"help_text": "Name of the preset."},
            "seats": {"help_text": "Number of seats."},
            "status": {
                "help_text": "`waiting`: not started. `playing`: in play. `finished`: over, with a "
                "record. `void`: cancelled; it rates no bot."
            },
            "void_reason": {"help_text": "Why the match is void; else empty."},
            "number": {"help_text": "Number of the match in its block, from 0."},
            "move_seconds": {"help_text": "Time for each move, in seconds."},
            "bank_seconds": {
                "help_text": "Extra time of each seat for the whole match, in seconds. A move uses "
                "it after its own time."
            },
            "created_at": {"help_text": "When the match was created."},
            "started_at": {"help_text": "When it started; null before."},
            "finished_at": {"help_text": "When it finished; null before."},
        }

    def get_deal_seed(self, match: Match) -> str | None:
        """Return the deal seed if it is public."""
        return public_deal_seed(match)

    def to_representation(self, match: Match) -> dict[str, Any]:
        """Return a match, without its result while its record is secret, as on the pages."""
        shown: dict[str, Any] = super().to_representation(match)
        if shown["deal_seed"] is None:
            hide_result(shown["seating"])
        return shown


class WatchedMatchSerializer(MatchSerializer):
    """A match with its public view."""

    view = serializers.DictField(
        allow_null=True,
        help_text="The public view: an observation without hidden cards. Null if the match is void "
        "or if other matches with the same deal are not finished.",
    )

    class Meta(MatchSerializer.Meta):
        fields = (*MatchSerializer.Meta.fields, "view")
        read_only_fields = fields


class NewMatchSerializer(serializers.Serializer[None]):
    """An unrated match to play."""

    game = OneOfField(sorted(GAMES), help_text="`twelve-days` or `partridge`.")
    rules = serializers.CharField(
        max_length=40, help_text="Name of a preset of the game, such as `calliope`."
    )
    bots = serializers.ListField(
        child=serializers.CharField(max_length=32),
        min_length=2,
        max_length=8,
        error_messages={
            "min_length": "Name at least {min_length} bots.",
            "max_length": "Name at most {max_length} bots.",
        },
        help_text="Names of the bots by seat: your bots and house bots, each at most once.",
    )


class FaultSerializer(serializers.Serializer[None]):
    """A fault: a move that the referee had to play for a seat."""

    ply = serializers.IntegerField(help_text="Position of the move in the match, from 0.")
    kind = serializers.CharField(help_text="`timeout`, `illegal`, `crash` or `forfeit`.")
    reason = serializers.CharField(help_text="The cause, in a sentence.")
    move = serializers.CharField(help_text="The move that the referee played.")
    observation = serializers.DictField(
        allow_null=True, help_text="The bot's input; null for a seat that had forfeited."
    )
    test = serializers.CharField(
        allow_null=True,
        help_text="Python source of a unit test that gives your bot this input; null without an "
        "observation.",
    )


class ReceiptSerializer(serializers.Serializer[None]):
    """The receipt of a turn: its times and its result."""

    turn = serializers.IntegerField(help_text="Number of the seat's turn, from 0.")
    ply = serializers.IntegerField(help_text="Position of the move in the match, from 0.")
    opened_at = serializers.DateTimeField(help_text="When the turn opened.")
    handed_out_at = serializers.DateTimeField(
        allow_null=True, help_text="When the bot first received the turn; null if it never did."
    )
    deadline = serializers.DateTimeField(
        help_text="When the referee plays for the seat: the start of the clock plus "
        "`move_seconds`, `bank_ms` and `given_back_ms`. The clock starts at `handed_out_at`, but "
        "at most 2 s after `opened_at`."
    )
    decided_at = serializers.DateTimeField(
        allow_null=True, help_text="When the turn was decided; null while it is open."
    )
    move_seconds = serializers.FloatField(help_text="Time for each move, in seconds.")
    bank_ms = serializers.IntegerField(
        help_text="Milliseconds in the seat's bank when the turn opened."
    )
    given_back_ms = serializers.IntegerField(
        help_text="Milliseconds by which the deadline moved, because the league did not work."
    )
    illegal_answers = serializers.IntegerField(
        help_text="Number of illegal moves that the bot sent."
    )
    move = serializers.CharField(help_text="The move played; empty while the turn is open.")
    fault = serializers.CharField(help_text="The kind of fault, if the referee played; else empty.")


class SeatLogSerializer(serializers.Serializer[None]):
    """The log of a bot's seat in a match, for the bot's owner."""

    seat = serializers.IntegerField(help_text="The bot's seat.")
    bot = serializers.CharField(help_text="Name of the bot.")
    version = serializers.IntegerField(help_text="Number of the bot's version.")
    printed = serializers.CharField(help_text="The output of a hosted bot; else empty.")
    printed_until = serializers.DateTimeField(
        allow_null=True,
        help_text="When the league removes the output at the latest; null without output.",
    )
    faults = FaultSerializer(
        many=True, help_text="The faults of the seat; empty before the end of the match."
    )
    turns = ReceiptSerializer(many=True, help_text="Receipts of the turns of a remote bot.")


class MatchLogSerializer(OnePageSerializer[dict[str, Any]]):
    """The logs of your seats in a match, always on one page."""

    results = SeatLogSerializer(many=True)
