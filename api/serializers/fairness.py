"""The report on fair play."""

from rest_framework import serializers

from api.serializers.fields import OnePageSerializer


class SuspicionSerializer(serializers.Serializer[None]):
    """A pair of bots that does better next to each other than chance lets expect."""

    partner = serializers.CharField(source="partner.name", help_text="Who may help.")
    gainer = serializers.CharField(source="gainer.name", help_text="Who may be helped.")
    question = serializers.ChoiceField(
        [("fed", "fed"), ("with", "with")],
        source="found.question",
        help_text="fed: where the partner sits right before it; with: at one table at all.",
    )
    gain = serializers.FloatField(
        source="found.gain", help_text="By how much more of the opponents it beats, -1 to 1."
    )
    blocks = serializers.IntegerField(source="found.blocks", help_text="With both.")
    t = serializers.FloatField(source="found.t")
    p = serializers.FloatField(source="found.p", help_text="How often chance does as well.")
    matches = serializers.ListField(
        child=serializers.IntegerField(), help_text="The last with both."
    )


class FairPlaySerializer(OnePageSerializer):
    """The pairs, the clearest first: as other lists, but always on one page."""

    results = SuspicionSerializer(many=True)
