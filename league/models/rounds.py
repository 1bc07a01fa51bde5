"""Rounds of blocks: drawn together, and rated together."""

from django.db import models
from django.db.models import Count, Prefetch, Q

from engine.blocks import derive_block_seed, derive_deal_seed
from league.models.setting_aside import SetAside


class RoundQuerySet(models.QuerySet["Round"]):
    """Rounds by state, and with what lists show of them."""

    def applied(self) -> "RoundQuerySet":
        """Return the rounds that have changed the ratings."""
        return self.filter(applied_at__isnull=False)

    def open(self) -> "RoundQuerySet":
        """Return the rounds that are not applied yet."""
        return self.filter(applied_at=None)

    def drawn_by_ladder(self) -> "RoundQuerySet":
        """Return the rounds of ladders that belong to no tournament."""
        return self.filter(tournament=None)

    def last_applied(self) -> int:
        """Return the highest applied number among these rounds of one ladder; 0 without any."""
        numbers = self.applied().order_by("-applied_number")
        return numbers.values_list("applied_number", flat=True).first() or 0

    def with_block_counts(self) -> "RoundQuerySet":
        """Annotate ``block_count``, ``blocks_finished`` and ``blocks_void``."""
        return self.annotate(
            block_count=Count("blocks"),
            blocks_finished=Count("blocks", filter=Q(blocks__state=Block.State.FINISHED)),
            blocks_void=Count("blocks", filter=Q(blocks__state=Block.State.VOID)),
        )

    def with_tables(self) -> "RoundQuerySet":
        """Prefetch the blocks with the bots at their tables, and the byes."""
        seats = BlockBot.objects.select_related("bot").order_by("bot")
        blocks = Block.objects.order_by("number").prefetch_related(Prefetch("bots", queryset=seats))
        byes = Bye.objects.select_related("bot").order_by("bot")
        return self.prefetch_related(
            Prefetch("blocks", queryset=blocks), Prefetch("byes", queryset=byes)
        )


class Round(SetAside):
    """Blocks that are rated together, from the ratings at the start of their application.

    Its seed stays secret until it is applied; the commitment is public from the start.
    """

    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField(
        help_text="From 1 on each ladder, in the order in which rounds were drawn."
    )
    tournament = models.ForeignKey(
        "Tournament", models.PROTECT, related_name="rounds", null=True, blank=True
    )
    stage = models.PositiveIntegerField(
        null=True, blank=True, help_text="Its number in its tournament, from 1."
    )
    extra = models.PositiveSmallIntegerField(
        default=0,
        help_text="0 for a normal round; 1, 2, … for the rounds of extra blocks that break a tie "
        "in a knockout.",
    )
    seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    k_schedule = models.JSONField(
        default=dict, help_text="The ladder's K schedule when the round was opened."
    )
    replays = models.ForeignKey(
        "self",
        models.PROTECT,
        related_name="replayed_in",
        null=True,
        blank=True,
        help_text="The round of the block that this round plays again.",
    )
    placed = models.ForeignKey(
        "Bot",
        models.PROTECT,
        related_name="placements",
        null=True,
        blank=True,
        help_text="The bot whose first blocks on the ladder these are. Empty for other rounds.",
    )
    superseded_by = models.ForeignKey(
        "ModerationEntry",
        models.PROTECT,
        related_name="rounds_superseded",
        null=True,
        blank=True,
        help_text="The decision to play a knockout again from an earlier stage. The blocks of this "
        "round are void, and the tournament continues without it.",
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    applied_number = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="From 1 on each ladder without a gap, in the order in which rounds were applied. "
        "The league always computes ratings in this order, and the database refuses to change "
        "the number.",
    )

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["ladder", "number"]
        constraints = [
            models.UniqueConstraint(fields=["ladder", "number"], name="one_round_a_number"),
            models.UniqueConstraint(
                fields=["tournament", "stage", "extra"],
                condition=Q(replays=None, superseded_by=None),
                name="a_tournament_opens_a_stage_once",
            ),
            models.UniqueConstraint(
                fields=["ladder", "applied_number"], name="one_round_an_applied_number"
            ),
            models.CheckConstraint(
                condition=Q(applied_at=None, applied_number=None)
                | Q(applied_at__isnull=False, applied_number__gte=1),
                name="an_applied_round_has_its_number",
            ),
        ]
        indexes = [
            models.Index(
                fields=["ladder", "number"],
                condition=models.Q(applied_at=None),
                name="rounds_not_applied",
            ),
        ]

    def __str__(self) -> str:
        return f"round {self.number} on the ladder {self.ladder.slug}"


class Bye(models.Model):
    """The blocks of a tournament's round that an entrant misses because no table has room."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="byes")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="byes")
    blocks = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bot"], name="one_bye_a_bot_and_round")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} in {self.round}"


class BlockQuerySet(models.QuerySet["Block"]):
    """Blocks by state."""

    def playing(self) -> "BlockQuerySet":
        """Return the blocks that are neither finished nor void."""
        return self.filter(state=Block.State.PLAYING)

    def finished(self) -> "BlockQuerySet":
        """Return the blocks whose matches are all finished."""
        return self.filter(state=Block.State.FINISHED)

    def counting(self) -> "BlockQuerySet":
        """Return the finished, rated blocks of applied rounds: those that made the ratings."""
        return self.finished().filter(rated=True, round__applied_at__isnull=False)


class Block(models.Model):
    """A table of bot versions and its matches, as many as bots: the unit of rating."""

    class State(models.TextChoices):
        """How far a block is."""

        PLAYING = "playing", "being played"
        FINISHED = "finished", "finished"
        VOID = "void", "void"

    round = models.ForeignKey(Round, models.PROTECT, related_name="blocks")
    number = models.PositiveIntegerField(
        help_text="The block's number in its round, from 0; in a tournament it counts on from "
        "round to round. The block's seed is derived from it. Pages, API and admin show it as it "
        "is."
    )
    state = models.CharField(max_length=8, choices=State, default=State.PLAYING)
    replaces = models.ForeignKey(
        "self",
        models.PROTECT,
        related_name="replacements",
        null=True,
        blank=True,
        help_text="The void block that this block plays again. This block counts instead.",
    )
    duplicate = models.BooleanField(help_text="All its matches use one deal.")
    rated = models.BooleanField(default=True)
    void_reason = models.CharField(
        max_length=500,
        blank=True,
        help_text="Why the block is void, or is becoming void; else empty.",
    )

    objects = BlockQuerySet.as_manager()

    class Meta:
        ordering = ["round", "number"]
        constraints = [
            models.UniqueConstraint(fields=["round", "number"], name="one_block_a_number")
        ]

    def __str__(self) -> str:
        return f"block {self.number} of {self.round}"

    def deal_seed(self, match: int) -> bytes:
        """Return the deal seed of a match by its number, as `plan_block` planned it."""
        seed = derive_block_seed(bytes(self.round.seed), self.number)
        return derive_deal_seed(seed, 0 if self.duplicate else match)


class BlockBot(models.Model):
    """A bot at a block's table, in the version that was current when the round was drawn."""

    block = models.ForeignKey(Block, models.CASCADE, related_name="bots")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="blocks")
    version = models.ForeignKey("BotVersion", models.PROTECT, related_name="blocks")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["block", "bot"], name="a_bot_sits_once_at_a_table")
        ]

    def __str__(self) -> str:
        return f"{self.version} at {self.block}"


class TableCount(models.Model):
    """The number of blocks that a ladder's own rounds have drawn for one table of odd size.

    Every second block of such a table has the labels of the block before, and reverses the seat
    orders. This row spares counting the
    blocks, which would take longer with each round.
    """

    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="table_counts")
    bots = models.CharField(max_length=160, help_text="Their ids, ascending, commas between.")
    blocks = models.PositiveIntegerField()
    labels = models.CharField(max_length=160, help_text="The same ids by label in the last block.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bots"], name="one_count_a_ladder_and_table")
        ]

    def __str__(self) -> str:
        return f"{self.bots} on {self.ladder.slug}: {self.blocks}"
