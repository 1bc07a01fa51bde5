"""Analyses of matches."""

from typing import Any

from rest_framework import serializers

from bots_sdk.explanations import WIN_SHARE_FIELD
from engine.analysis import MARKS
from league import analyses
from league.models import Match, MatchAnalysis


class MatchChanceSerializer(serializers.Serializer[None]):
    """The chances at a point of the match, computed from the cards in all hands."""

    ply = serializers.IntegerField(help_text="Number of moves made.")
    seats = serializers.ListField(
        child=serializers.FloatField(),
        help_text="Chance of the first place by seat, 0 to 1. Ties share it, so the sum is 1.",
    )
    before_cards = serializers.ListField(
        child=serializers.FloatField(min_value=0, max_value=1),
        allow_null=True,
        help_text=(
            "The same chances after the moves of the phase, but before its new cards; null if "
            "the phase has no new cards."
        ),
    )
    decider = serializers.IntegerField(
        min_value=0,
        allow_null=True,
        help_text=(
            "The seat with the most important decision of the phase. The league takes the "
            "largest change of a seat's chance in the phase, and finds the decision that causes "
            "the largest part of it. Null if no decision alone causes a quarter of this change."
        ),
    )


class JudgedMoveSerializer(serializers.Serializer[None]):
    """A move that a seat chose among several."""

    ply = serializers.IntegerField(help_text="Position of the move in the match, from 0.")
    seat = serializers.IntegerField(help_text="The seat.")
    phase = serializers.CharField(help_text="Name of the phase, as in observations.")
    move = serializers.CharField(help_text="The move that was made.")
    best = serializers.CharField(
        help_text="The best move, or the move itself if no better one was found."
    )
    loss = serializers.FloatField(
        help_text="Expected win share of `best` minus that of `move`; never negative."
    )
    error = serializers.FloatField(
        help_text="Standard error of the loss; 0 if the results are exact."
    )
    mark = serializers.CharField(help_text=", ".join(f"`{mark}`" for mark in MARKS) + ".")
    is_exact = serializers.BooleanField(
        help_text="Whether the results are exact: computed from all possibilities, not sampled."
    )
    fault = serializers.CharField(
        allow_null=True,
        help_text="The kind of fault if the referee made the move; null if the bot made it.",
    )
    results = serializers.DictField(
        child=serializers.FloatField(), help_text="Expected win share by legal move."
    )


class SeatPartsSerializer(serializers.Serializer[None]):
    """The parts of a seat's result: 0.5 + `deal` + `draws` + `play` + `others` = `result`."""

    seat = serializers.IntegerField(help_text="The seat.")
    deal = serializers.FloatField(
        help_text="Change of the expected win share by the first deal and the position of the seat."
    )
    draws = serializers.FloatField(
        help_text="Change of the expected win share by cards that came later."
    )
    play = serializers.FloatField(
        help_text="Change of the expected win share by the seat's own decisions."
    )
    others = serializers.FloatField(
        help_text="Change of the expected win share by the decisions of other seats."
    )
    result = serializers.FloatField(help_text=WIN_SHARE_FIELD)
    luck_error = serializers.FloatField(help_text="Standard error of `deal` + `draws`.")
    play_error = serializers.FloatField(help_text="Standard error of `play`.")
    loss = serializers.FloatField(help_text="Sum of the losses of the seat's decisions.")


class AnalysisSerializer(serializers.Serializer[None]):
    """The analysis of a match. Losses, errors and parts of results are win shares: see `totals`."""

    version = serializers.IntegerField(
        help_text="Number of the method. Do not compare analyses of different methods."
    )
    playouts = serializers.IntegerField(
        help_text="Number of playouts (simulated matches) for each comparison of two moves."
    )
    chances = MatchChanceSerializer(
        many=True, help_text="The chances after the deal and after each phase."
    )
    decisions = JudgedMoveSerializer(many=True, help_text="The decisions, by ply.")
    totals = SeatPartsSerializer(many=True, help_text="The parts of each seat's result, by seat.")


class MatchAnalysisSerializer(serializers.Serializer[dict[str, Any]]):
    """How far the analysis of a match is, and the analysis once it is done."""

    match = serializers.IntegerField(help_text="Id of the match.")
    state = serializers.CharField(
        help_text=(
            "`none`: it was not requested yet. `waiting`: workers compute it when no match "
            "waits; repeat the call after a few seconds. `failed`: it could not be computed; a "
            "new request starts it again. `done`: it is in `analysis`."
        )
    )
    moves = serializers.IntegerField(help_text="Number of moves of the match.")
    moves_done = serializers.IntegerField(help_text="Number of moves that are analysed.")
    analysis = AnalysisSerializer(allow_null=True, help_text="The analysis; null until it is done.")


def described(match: Match, found: MatchAnalysis | None) -> dict[str, Any]:
    """Return the data of `MatchAnalysisSerializer`.

    Args:
        match: with its record.
        found: its analysis; None if nobody has asked for it.
    """
    result = None if found is None else analyses.result_of(found, match.record)
    return {
        "match": match.pk,
        "state": "none" if found is None else found.state.value,
        "moves": len(match.record.moves),
        "moves_done": 0 if found is None else found.moves_done,
        "analysis": None if result is None else result.as_json(),
    }
