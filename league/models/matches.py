"""Matches: who sits where, and once finished the record, which is all there is to know."""

import zlib

from django.db import models

from engine.record import Record, read, write


class Match(models.Model):
    """One complete play of a game at one table.

    One whose bots all run here is played by a worker, who holds it by its lease; a result under
    an old lease is dropped. One with a remote bot is live: it goes on move by move, from its log.
    """

    class Status(models.TextChoices):
        """How far a match is."""

        WAITING = "waiting", "waiting to be played"
        PLAYING = "playing", "being played"
        FINISHED = "finished", "finished"
        VOID = "void", "void"

    block = models.ForeignKey(
        "Block", models.PROTECT, related_name="matches", null=True, blank=True
    )
    swap_block = models.ForeignKey(
        "SwapBlock", models.SET_NULL, related_name="matches", null=True, blank=True
    )
    number = models.PositiveSmallIntegerField(default=0, help_text="From 0 in its block.")
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    seats = models.PositiveSmallIntegerField()
    move_seconds = models.FloatField()
    bank_seconds = models.FloatField()
    deal_seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    live = models.BooleanField(
        default=False, help_text="Has a remote bot, so it is played move by move."
    )
    plies = models.PositiveIntegerField(
        default=0,
        help_text="Length of the log up to the phase being decided: it never tells who has chosen.",
    )
    stored = models.PositiveIntegerField(
        default=0,
        help_text="How many moves of it were ever stored, secret choices too: what a move is "
        "compared and set on. Not for the public.",
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(
        auto_now_add=True, help_text="When the tick queues it, if it is not finished by then."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    packed_record = models.BinaryField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "matches"
        constraints = [
            models.UniqueConstraint(fields=["block", "number"], name="one_match_a_seat_order"),
            models.CheckConstraint(
                condition=models.Q(status="finished", packed_record__isnull=False)
                | (~models.Q(status="finished") & models.Q(packed_record__isnull=True)),
                name="a_finished_match_has_its_record",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"],
                condition=models.Q(status__in=["waiting", "playing"], live=False),
                name="matches_to_play",
            ),
            models.Index(
                fields=["due_at", "id"],
                condition=models.Q(status__in=["waiting", "playing"], live=True),
                name="matches_to_keep_going",
            ),
            models.Index(
                fields=["-finished_at"],
                condition=models.Q(status="finished"),
                name="matches_finished_last",
            ),
        ]

    def __str__(self) -> str:
        return f"match {self.pk}"

    @property
    def record(self) -> Record:
        """The record of a finished match.

        Raises:
            ValueError: the match is not finished.
        """
        if self.packed_record is None:
            raise ValueError(f"match {self.pk} is {self.status}; it has no record yet")
        return read(zlib.decompress(bytes(self.packed_record)))

    @staticmethod
    def pack(record: Record) -> bytes:
        """Return a record as it is stored."""
        return zlib.compress(write(record).encode("ascii"), 9)


class MatchSeat(models.Model):
    """A seat at a match: who has it and, once finished, how it came out."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="seating")
    seat = models.PositiveSmallIntegerField()
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="seats")
    version = models.ForeignKey("BotVersion", models.PROTECT, related_name="seats")
    score = models.IntegerField(null=True, blank=True)
    place = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="As rated: a seat that forfeited is last."
    )
    forfeited = models.BooleanField(default=False)
    faults = models.PositiveIntegerField(default=0, help_text="Counted when it is finished.")

    class Meta:
        ordering = ["match", "seat"]
        constraints = [
            models.UniqueConstraint(fields=["match", "seat"], name="one_bot_a_seat"),
        ]
        indexes = [models.Index(fields=["bot", "-match"], name="matches_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.version} in seat {self.seat} of match {self.match_id}"
