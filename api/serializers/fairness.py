"""The fair-play report."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import OnePageSerializer
from league.ratings.fair_play import Report


class SuspicionSerializer(serializers.Serializer[Report]):
    """A pair of bots: one does better with the other near it than chance explains."""

    partner = serializers.CharField(source="partner.name", help_text="The bot that may help.")
    gainer = serializers.CharField(
        source="gainer.name", help_text="The bot that may receive the help."
    )
    question = serializers.ChoiceField(
        [("fed", "fed"), ("with", "with")],
        source="found.question",
        help_text="`fed`: the gain if the partner sits directly before the gainer. `with`: the "
        "gain if both sit at one table.",
    )
    gain = serializers.FloatField(
        source="found.gain",
        help_text="Increase of the gainer's win share against the other bots, from -1 to 1.",
    )
    blocks = serializers.IntegerField(
        source="found.blocks", help_text="Number of blocks with both bots."
    )
    t = serializers.FloatField(source="found.t", help_text="Size of the gain in standard errors.")
    p = serializers.FloatField(
        source="found.p", help_text="Probability that chance alone gives such a gain, from 0 to 1."
    )
    matches = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids of their last matches together."
    )


class FairPlaySerializer(OnePageSerializer[dict[str, Any]]):
    """Suspicious pairs, the clearest first, always on one page."""

    results = SuspicionSerializer(many=True)
