"""Matches: their seats, their state and, once finished, their record."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from bots_sdk.statuses import UNFINISHED
from engine.deals import commitment
from engine.packing import pack, unpack
from engine.record import Record


class MatchQuerySet(models.QuerySet["Match"]):
    """Matches by state and by kind."""

    def unfinished(self) -> "MatchQuerySet":
        """Keep the matches that wait or are being played."""
        # As two conditions, so that PostgreSQL can use the index of each kind.
        unfinished = Q(status__in=UNFINISHED)
        return self.filter((unfinished & Q(live=False)) | (unfinished & Q(live=True)))

    def waiting(self) -> "MatchQuerySet":
        """Keep the matches that wait to be played."""
        return self.filter(status=Match.Status.WAITING)

    def begun(self) -> "MatchQuerySet":
        """Leave out the matches that wait to be played."""
        return self.exclude(status=Match.Status.WAITING)

    def void(self) -> "MatchQuerySet":
        """Keep the matches that could not be played, or that an organiser made void."""
        return self.filter(status=Match.Status.VOID)

    def playing(self) -> "MatchQuerySet":
        """Keep the matches that are being played."""
        return self.filter(status=Match.Status.PLAYING)

    def finished(self) -> "MatchQuerySet":
        """Keep the matches that have a record."""
        return self.filter(status=Match.Status.FINISHED)

    def without_record(self) -> "MatchQuerySet":
        """Keep the matches that are unfinished or void."""
        return self.exclude(status=Match.Status.FINISHED)

    def of_comparisons(self) -> "MatchQuerySet":
        """Keep the matches of comparisons."""
        return self.exclude(swap_block=None)

    def outside_comparisons(self) -> "MatchQuerySet":
        """Leave out the matches of comparisons."""
        return self.filter(swap_block=None)

    def alone(self) -> "MatchQuerySet":
        """Keep the unrated matches of no comparison, no challenge and no player."""
        return self.filter(block=None, swap_block=None, challenge=None, table=None)

    def with_bots(self, *bots: int) -> "MatchQuerySet":
        """Keep the matches in which each of these bots has a seat."""
        return self.filter(bot_ids__contains=list(bots))

    def with_any_bot(self, bots: Collection[int]) -> "MatchQuerySet":
        """Keep the matches in which one of these bots has a seat."""
        return self.filter(bot_ids__overlap=list(bots))

    def without_players(self) -> "MatchQuerySet":
        """Leave out the matches of players: they count for nothing."""
        return self.filter(table=None)

    def with_deals(self) -> "MatchQuerySet":
        """Join what deal seeds and `league.visibility` need: rounds, matches with the same deal."""
        twins = Match.objects.only("status", "swap_block", "challenge")
        joined = self.select_related("block__round", "swap_block", "challenge")
        return joined.prefetch_related(
            models.Prefetch("swap_block__matches", twins),
            models.Prefetch("challenge__matches", twins),
        )

    def live(self) -> "MatchQuerySet":
        """Keep the live matches: at least one seat has a remote bot."""
        return self.filter(live=True)

    def hosted(self) -> "MatchQuerySet":
        """Keep the hosted matches: all bots run on the workers."""
        return self.filter(live=False)

    def due(self, now: datetime) -> "MatchQuerySet":
        """Keep the matches that the tick should queue by now."""
        return self.filter(due_at__lte=now)


def _by_seat(field: "models.Field[Any, Any]", *, help_text: str, null: bool = True) -> Any:
    """Return a field with a value for each seat."""
    return ArrayField(field, null=null, blank=null, help_text=help_text)


class Match(models.Model):
    """One complete play of a game at one table.

    A worker plays a hosted match under a lease; a result under an old lease is dropped. A live
    match has a remote bot and advances move by move, from its log.
    """

    class Status(models.TextChoices):
        """The state of a match."""

        WAITING = "waiting", "waiting to be played"
        PLAYING = "playing", "being played"
        FINISHED = "finished", "finished"
        VOID = "void", "void"

    block = models.ForeignKey(
        "Block", models.PROTECT, related_name="matches", null=True, blank=True, db_index=False
    )
    swap_block = models.ForeignKey(
        "SwapBlock",
        models.SET_NULL,
        related_name="matches",
        null=True,
        blank=True,
        db_index=False,
    )
    challenge = models.ForeignKey(
        "Challenge", models.PROTECT, related_name="matches", null=True, blank=True, db_index=False
    )
    table = models.ForeignKey(
        "PlayerTable",
        models.PROTECT,
        related_name="matches",
        related_query_name="match",
        null=True,
        blank=True,
        db_index=False,
        help_text="The table of its players; empty for a match without players.",
    )
    number = models.PositiveSmallIntegerField(default=0, help_text="From 0 in its block.")
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    seats = models.PositiveSmallIntegerField()
    bot_ids = _by_seat(
        models.IntegerField(), null=False, help_text="Ids of the bots, by seat; see `MatchSeat`."
    )
    version_ids = _by_seat(
        models.IntegerField(), null=False, help_text="Ids of the bots' versions, by seat."
    )
    substitute_ids = _by_seat(
        models.IntegerField(null=True), help_text="Substitutes of players; empty without players."
    )
    handed_over_at = _by_seat(
        models.DateTimeField(null=True), help_text="When substitutes took over; empty if none did."
    )
    scores = _by_seat(models.SmallIntegerField(), help_text="Empty until the match is finished.")
    places = _by_seat(models.SmallIntegerField(), help_text="As rated: forfeited seats are last.")
    forfeited = _by_seat(models.BooleanField(), help_text="Empty if no seat forfeited.")
    faults = _by_seat(models.SmallIntegerField(), help_text="Numbers of faults; empty if none.")
    move_seconds = models.FloatField()
    bank_seconds = models.FloatField()
    stored_seed = models.BinaryField(
        max_length=32,
        null=True,
        blank=True,
        db_column="deal_seed",
        help_text="The deal seed. Empty in a finished match of a block: the deal seed then follows "
        "from the seed of the round.",
    )
    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    live = models.BooleanField(
        default=False, help_text="Has a remote bot, so it is played move by move."
    )
    plies = models.PositiveIntegerField(
        default=0,
        help_text="Number of moves before the current phase. It does not show which seats have "
        "chosen in this phase.",
    )
    stored = models.PositiveIntegerField(
        default=0,
        help_text="Number of moves stored so far, secret choices too. A write to the match is "
        "refused if this number has changed since the writer read it. Not public.",
    )
    attempts = models.PositiveIntegerField(
        default=0, help_text="Number of times that the match was started."
    )
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="Number of attempts that failed because of the match itself."
    )
    losses = models.PositiveIntegerField(
        default=0,
        help_text="Number of attempts that something outside the match ended, such as a killed "
        "worker.",
    )
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(
        auto_now_add=True,
        help_text="When the tick, the task that does due work, queues the match. A finished match "
        "is not queued.",
    )
    queued_at = models.DateTimeField(
        null=True, blank=True, help_text="When its task was queued last."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    packed_record = models.BinaryField(null=True, blank=True)
    archived = models.BooleanField(
        default=False, help_text="Its packed record is in the file of its round."
    )
    void_reason = models.CharField(
        max_length=500, blank=True, help_text="Why the match is void; empty if it is not."
    )

    objects = MatchQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "matches"
        constraints = [
            models.UniqueConstraint(
                fields=["block", "number"],
                condition=Q(block__isnull=False),
                name="one_match_a_seat_order",
            ),
            models.UniqueConstraint(
                fields=["challenge", "number"],
                condition=Q(challenge__isnull=False),
                name="one_match_a_seat_order_of_a_challenge",
            ),
            models.UniqueConstraint(
                fields=["table"],
                condition=Q(table__isnull=False),  # a plain index would have all other matches too
                name="one_match_a_table",
            ),
            models.CheckConstraint(
                condition=Q(bot_ids__len=F("seats"), version_ids__len=F("seats")),
                name="each_seat_has_a_bot",
            ),
            models.CheckConstraint(
                condition=Q(status="finished", packed_record__isnull=False, archived=False)
                | Q(status="finished", packed_record__isnull=True, archived=True)
                | (~Q(status="finished") & Q(packed_record__isnull=True, archived=False)),
                name="a_finished_match_has_its_record",
            ),
            models.CheckConstraint(
                condition=Q(stored_seed__isnull=False) | Q(status="finished", block__isnull=False),
                name="a_seed_is_stored_or_derived",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"],
                condition=Q(status__in=UNFINISHED, live=False),
                name="matches_to_play",
            ),
            models.Index(
                fields=["due_at", "id"],
                condition=Q(status__in=UNFINISHED, live=True),
                name="matches_to_keep_going",
            ),
            models.Index(
                fields=["finished_at"],
                condition=Q(status="finished"),
                name="matches_finished_last",
            ),
            models.Index(
                fields=["swap_block"],
                condition=Q(swap_block__isnull=False),
                name="matches_of_a_swap_block",
            ),
            GinIndex(fields=["bot_ids"], name="matches_of_bots"),
        ]

    def __str__(self) -> str:
        return f"match {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        """Whether the match waits or is being played."""
        return self.status in UNFINISHED

    @property
    def deal_seed(self) -> bytes:
        """The deal's seed. In a finished match of a block it is derived from the round's seed.

        Then it needs the block with its round: two queries if they are not joined.
        """
        if self.stored_seed is not None:
            return bytes(self.stored_seed)
        if self.block is None:
            raise ValueError(f"match {self.pk} has no deal seed, and it belongs to no block")
        return self.block.deal_seed(self.number)

    @property
    def commitment(self) -> str:
        """The hash of the deal's seed, public before the match."""
        return commitment(self.deal_seed)

    @property
    def record(self) -> Record:
        """The record of a finished match, replayed from its pack: some milliseconds.

        The pack of an archived match is in the file of its round.

        Raises:
            ArchiveError: the file is missing or damaged. It is a ValueError.
            ValueError: the match is not finished, or its pack is damaged.
        """
        packed = None if self.archived else self.packed_record
        if packed is None and self.status == Match.Status.FINISHED:
            packed = self._archived_pack()
        if packed is None:
            raise ValueError(f"match {self.pk} is {self.status}; it has no record yet")
        return unpack(
            bytes(packed),
            game=self.game,
            rules=self.rules,
            seats=self.seats,
            deal_seed=self.deal_seed,
        )

    def _archived_pack(self) -> bytes | None:
        """Return the pack from the file; from the row if it was put back there meanwhile."""
        archive = None if self.block is None else getattr(self.block.round, "archive", None)
        if archive is not None:
            packed: bytes = archive.pack_of(self.pk)
            return packed
        self.refresh_from_db(fields=["packed_record", "archived"])
        return None if self.packed_record is None else bytes(self.packed_record)

    @staticmethod
    def pack(record: Record) -> bytes:
        """Return a record in the form in which it is stored."""
        return pack(record)


class MatchSeatQuerySet(models.QuerySet["MatchSeat"]):
    """Seats by bot, and by state and kind of their match."""

    def of_bot(self, bot: int) -> "MatchSeatQuerySet":
        """Keep the seats of a bot by its id; the index of matches by their bots finds them."""
        return self.filter(bot=bot, match__bot_ids__contains=[bot])

    def in_finished(self) -> "MatchSeatQuerySet":
        """Keep the seats at matches that have a record."""
        return self.filter(match__status=Match.Status.FINISHED)

    def outside_comparisons(self) -> "MatchSeatQuerySet":
        """Leave out the seats at matches of comparisons."""
        return self.filter(match__swap_block=None)

    def without_players(self) -> "MatchSeatQuerySet":
        """Leave out the seats at matches of players."""
        return self.filter(match__table=None)


class MatchSeat(models.Model):
    """A seat at a match: its bot and, once the match is finished, its result.

    The table is a view of the columns of `Match` that have a value for each seat: a row and its
    indexes for each seat took more room than all the rest of a match. So a seat is only read.
    Filter by match, or with `MatchSeatQuerySet.of_bot`; by a bot alone PostgreSQL reads every
    match.
    """

    match = models.ForeignKey(Match, models.DO_NOTHING, related_name="seating")
    seat = models.PositiveSmallIntegerField()
    bot = models.ForeignKey("Bot", models.DO_NOTHING, related_name="+")
    version = models.ForeignKey("BotVersion", models.DO_NOTHING, related_name="+")
    substitute = models.ForeignKey(
        "Bot",
        models.DO_NOTHING,
        related_name="+",
        null=True,
        blank=True,
        help_text="The house bot that plays on for a player who leaves; empty for bots.",
    )
    handed_over_at = models.DateTimeField(
        null=True, blank=True, help_text="When the player left and the substitute took over."
    )
    score = models.IntegerField(null=True, blank=True)
    place = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="As rated: a seat that forfeited is last."
    )
    forfeited = models.BooleanField(default=False)
    faults = models.PositiveIntegerField(default=0, help_text="Counted when the match is finished.")

    objects = MatchSeatQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "league_matchseat"
        ordering = ["match", "seat"]

    def __str__(self) -> str:
        return f"{self.version} in seat {self.seat} of match {self.match_id}"
