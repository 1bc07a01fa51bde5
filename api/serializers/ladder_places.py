"""A bot's place on a ladder: its entry, its blocks, its rating, and when it plays next."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.ladders import LadderEntrySerializer
from league.competitions import RankProgress, count_blocks, describe_next_block, rank_progress
from league.models import LadderEntry, Standing


class RankProgressSerializer(serializers.Serializer[RankProgress]):
    """The blocks of a bot's current version that count towards its rank."""

    needed = serializers.IntegerField(help_text="The number of blocks that a rank needs.")
    finished = serializers.IntegerField(help_text="Blocks that are over, rated or not.")
    playing = serializers.IntegerField(help_text="Blocks of which a match has begun.")
    queued = serializers.IntegerField(help_text="Blocks that wait to be played.")
    seconds_left = serializers.FloatField(
        allow_null=True,
        help_text=(
            "Estimated seconds until all of these blocks are over. The estimate follows from the "
            "pace of the matches so far. Before the first match is over, it follows from the pace "
            "of the last new hosted bot, or else from the pace at which the league plays now. For "
            "a remote bot, it assumes that the bot answers at once. Null if the bot gets no "
            "matches now."
        ),
    )


class LadderPlaceSerializer(LadderEntrySerializer):
    """A bot's entry on a ladder, with its blocks and when it plays next."""

    blocks_queued = serializers.SerializerMethodField(
        help_text="Blocks of the current version that wait to be played. Like the next two "
        "fields, it counts only blocks that change ratings."
    )
    blocks_playing = serializers.SerializerMethodField(
        help_text="Blocks of the current version of which a match has begun."
    )
    blocks_finished = serializers.SerializerMethodField(
        help_text="Blocks of the current version that are over, even if their round has not "
        "changed the ratings yet."
    )
    blocks_rated = serializers.SerializerMethodField(
        help_text=(
            "Number of rated blocks. It decides K, the number that sets the size of rating "
            "changes. The standings have it as `blocks`."
        )
    )
    rating = serializers.SerializerMethodField(
        help_text="Elo rating in thousandths; null before the first rated round."
    )
    rank_progress = serializers.SerializerMethodField(
        help_text="The bot's progress towards a rank; null if it has one."
    )
    next_block = serializers.SerializerMethodField(
        help_text="When the bot plays next, or why it does not, in a sentence or two."
    )

    class Meta(LadderEntrySerializer.Meta):
        fields = (
            *LadderEntrySerializer.Meta.fields,
            "blocks_queued",
            "blocks_playing",
            "blocks_finished",
            "blocks_rated",
            "rating",
            "rank_progress",
            "next_block",
        )
        read_only_fields = fields

    def to_representation(self, instance: LadderEntry) -> dict[str, Any]:
        """Return the answer; the blocks are counted once for all its fields."""
        self._counts = count_blocks(instance.ladder, instance.bot)
        return super().to_representation(instance)

    @extend_schema_field(RankProgressSerializer(allow_null=True))
    def get_rank_progress(self, entry: LadderEntry) -> dict[str, object] | None:
        """Return the bot's way to a rank."""
        progress = rank_progress(entry.ladder, entry.bot)
        return None if progress is None else progress._asdict()

    def get_blocks_queued(self, _: LadderEntry) -> int:
        """Return the number of blocks that wait."""
        return self._counts.queued

    def get_blocks_playing(self, _: LadderEntry) -> int:
        """Return the number of blocks in play."""
        return self._counts.playing

    def get_blocks_finished(self, _: LadderEntry) -> int:
        """Return the number of blocks that are over."""
        return self._counts.finished

    def get_blocks_rated(self, entry: LadderEntry) -> int:
        """Return the number of rated blocks."""
        return _standing(entry).blocks

    def get_rating(self, entry: LadderEntry) -> int | None:
        """Return the rating, if a round has rated the bot."""
        return entry.ladder.standings.filter(bot=entry.bot).values_list("rating", flat=True).first()

    def get_next_block(self, entry: LadderEntry) -> str:
        """Return when it plays next, or why it does not."""
        return describe_next_block(_standing(entry))


def _standing(entry: LadderEntry) -> Standing:
    """Return the bot's standing, or one without blocks if no round has rated it."""
    found = entry.ladder.standings.filter(bot=entry.bot).first()
    standing = found or Standing(ladder=entry.ladder, bot=entry.bot, blocks=0)
    standing.ladder, standing.bot = entry.ladder, entry.bot
    return standing
