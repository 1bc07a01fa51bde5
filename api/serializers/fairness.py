"""The fair-play report."""

from rest_framework import serializers

from api.serializers.fields import OnePageSerializer
from engine.rating.collusion import Power
from league.ratings.fair_play import FairPlayReport, SuspiciousPair


class SuspicionSerializer(serializers.Serializer[SuspiciousPair]):
    """A suspicious pair: one bot does better when the other is at its table."""

    partner = serializers.CharField(
        source="partner.name", help_text="The helper: the bot that perhaps helps the gainer."
    )
    gainer = serializers.CharField(
        source="gainer.name", help_text="The gainer: the bot that perhaps receives the help."
    )
    question = serializers.ChoiceField(
        [("fed", "fed"), ("with", "with")],
        source="found.question",
        help_text="`fed`: the gain if the helper sits directly before the gainer. `with`: the gain "
        "if both sit at one table.",
    )
    gain = serializers.FloatField(
        source="found.gain",
        help_text="Increase of the gainer's win share against the other bots, from -1 to 1.",
    )
    expected = serializers.FloatField(
        source="found.expected",
        help_text="The gain that an honest pair would show, estimated from the other pairs of the "
        "ladder. It may be above 0, because some bots help every bot that sits after them.",
    )
    blocks = serializers.IntegerField(
        source="found.blocks", help_text="Number of blocks with both bots."
    )
    t = serializers.FloatField(
        source="found.t",
        help_text="`gain` minus `expected`, divided by the standard error. The standard error is "
        "the typical size of this difference if only chance makes it.",
    )
    p = serializers.FloatField(
        source="found.p",
        help_text="Probability that an honest pair shows such a gain, from 0 to 1.",
    )
    matches = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids of their last matches together."
    )


class PowerSerializer(serializers.Serializer[Power]):
    """What a test of the report can find with the blocks so far."""

    question = serializers.ChoiceField(
        [("fed", "fed"), ("with", "with")],
        help_text="`fed` or `with`, as in the field `question` of each pair.",
    )
    pairs = serializers.IntegerField(
        help_text="Number of ordered pairs of bots with enough blocks for the test."
    )
    smallest_gain = serializers.FloatField(
        allow_null=True,
        help_text="If a pair's gain in win share is this much above the expected gain, the report "
        "finds the pair in 80 % of cases. Computed for a typical pair (median standard error). "
        "Null without pairs.",
    )
    smallest_gain_elo = serializers.FloatField(
        allow_null=True,
        help_text="The same gain in Elo, against an equal opponent. Null without pairs. Also "
        "null for 0.5 and more: no bot can gain so much against an equal opponent.",
    )


class FairPlaySerializer(OnePageSerializer[FairPlayReport]):
    """Suspicious pairs, the clearest first, always on one page; and what the report can find."""

    results = SuspicionSerializer(source="pairs", many=True)
    power = PowerSerializer(many=True)
    blocks = serializers.IntegerField(
        help_text="Number of rated blocks that the report covers: the last 20 000 of the ladder."
    )
