"""Rounds of blocks: what is played together and rated at once."""

from django.db import models


class Round(models.Model):
    """Blocks that are rated together, from the ratings at the round's start.

    Its seed is secret until it is applied; the commitment is public from the start.
    """

    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField(help_text="From 1 on each ladder; applied in order.")
    tournament = models.ForeignKey(
        "Tournament", models.PROTECT, related_name="rounds", null=True, blank=True
    )
    stage = models.PositiveIntegerField(
        null=True, blank=True, help_text="Its number in its tournament, from 1."
    )
    extra = models.PositiveSmallIntegerField(
        default=0,
        help_text="From 1 for the blocks that untie a stage of a knockout, else 0.",
    )
    seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    k_schedule = models.JSONField(
        default=dict, help_text="The ladder's when the round was opened: a recompute needs it."
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["ladder", "number"]
        constraints = [
            models.UniqueConstraint(fields=["ladder", "number"], name="one_round_a_number"),
            models.UniqueConstraint(
                fields=["tournament", "stage", "extra"], name="a_tournament_opens_a_stage_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["ladder", "number"],
                condition=models.Q(applied_at=None),
                name="rounds_not_applied",
            )
        ]

    def __str__(self) -> str:
        return f"{self.ladder.slug}, round {self.number}"


class Bye(models.Model):
    """A bot that sits blocks of a tournament's round out, for want of a seat or of opponents."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="byes")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="byes")
    blocks = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bot"], name="one_bye_a_bot_and_round")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} in {self.round}"


class Block(models.Model):
    """One table of bot versions that play a match in each seat order: the unit of rating."""

    class State(models.TextChoices):
        """How far a block is."""

        PLAYING = "playing", "being played"
        FINISHED = "finished", "finished"
        VOID = "void", "void"

    round = models.ForeignKey(Round, models.PROTECT, related_name="blocks")
    number = models.PositiveIntegerField(help_text="From 0 in each round; its seed comes of it.")
    state = models.CharField(max_length=8, choices=State, default=State.PLAYING)
    duplicate = models.BooleanField(help_text="All matches of one deal.")
    rated = models.BooleanField(default=True)

    class Meta:
        ordering = ["round", "number"]
        constraints = [
            models.UniqueConstraint(fields=["round", "number"], name="one_block_a_number")
        ]

    def __str__(self) -> str:
        return f"block {self.number} of {self.round}"


class BlockBot(models.Model):
    """A bot at a block's table, in the version that was drawn."""

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
    """How many blocks of a ladder's own rounds were drawn for a table of an odd number of bots.

    Every second one is seated the other way round, so each round asks for its tables. To count
    the blocks would take the longer the more there are.
    """

    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="table_counts")
    bots = models.CharField(max_length=160, help_text="Their ids, ascending, commas between.")
    blocks = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bots"], name="one_count_a_ladder_and_table")
        ]

    def __str__(self) -> str:
        return f"{self.bots} on {self.ladder.slug}: {self.blocks}"
