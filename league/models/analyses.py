"""Analyses of finished matches: the work so far, and the result."""

import json
import zlib
from typing import Any

from django.db import models


class MatchAnalysis(models.Model):
    """The analysis of a match, which workers compute in portions.

    The work so far is stored after each portion, so that a crash loses one portion at most.
    """

    class State(models.TextChoices):
        """How far an analysis is."""

        WAITING = "waiting", "waiting for a worker"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    match = models.OneToOneField("Match", models.CASCADE, related_name="analysis")
    version = models.PositiveIntegerField(
        help_text="Number of the method. Analyses of another version are computed again."
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="When upkeep queues the next portion; empty at the end."
    )
    moves_done = models.PositiveIntegerField(
        default=0, help_text="Number of moves that are analysed."
    )
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Number of times that the current portion was begun."
    )
    finished_at = models.DateTimeField(null=True, blank=True)
    packed_work = models.BinaryField(null=True, blank=True)
    packed_result = models.BinaryField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "match analyses"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(finished_at=None, packed_result=None)
                | models.Q(finished_at__isnull=False, packed_result__isnull=False, due_at=None),
                name="a_finished_analysis_has_its_result",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="analyses_to_continue",
            ),
        ]

    def __str__(self) -> str:
        return f"analysis of match {self.match_id}"

    @property
    def state(self) -> State:
        """How far the analysis is."""
        if self.finished_at is not None:
            return self.State.DONE
        return self.State.FAILED if self.due_at is None else self.State.WAITING

    @property
    def work(self) -> dict[str, Any] | None:
        """The work so far, as `engine.analysis.Work.as_json` wrote it; None before the first."""
        return _unpacked(self.packed_work)

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, as `engine.analysis.Analysis.as_json` wrote it; None before the end."""
        return _unpacked(self.packed_result)

    @staticmethod
    def pack(data: dict[str, Any]) -> bytes:
        """Return JSON data in the form in which it is stored."""
        return zlib.compress(json.dumps(data, separators=(",", ":")).encode("ascii"))


def _unpacked(packed: bytes | memoryview | None) -> dict[str, Any] | None:
    if packed is None:
        return None
    data: dict[str, Any] = json.loads(zlib.decompress(bytes(packed)))
    return data
