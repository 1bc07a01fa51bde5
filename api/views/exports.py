"""Downloads: the records of a bot, and a whole tournament."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Prefetch
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request

from api.base import ApiView, find_bot, find_tournament
from api.exports import CsvRenderer, LinesRenderer, download
from api.operations import operation
from api.pagination import since_field, until_field
from api.renderers import Encoder, Renderer
from api.serializers.fields import OneOfField
from api.serializers.matches import SeatSerializer, hide_result
from api.serializers.tournament_standings import TournamentStandingsSerializer
from api.serializers.tournaments import TournamentRoundSerializer, TournamentSerializer
from league.competitions.tournament_standings import tournament_standings
from league.models import Match, MatchSeat, Round, Tournament
from league.play import spectating
from league.play.record_files import record_lines

_CSV_COLUMNS = (
    "rank",
    "bot",
    "owner",
    "state",
    "score",
    "buchholz",
    "sonneborn_berger",
    "wins",
    "mean_points",
    "blocks",
    "byes",
    "matches",
)


class RecordsQuery(serializers.Serializer[None]):
    """The records of a period, by the ends of the matches."""

    since = since_field()
    until = until_field()


class BotRecordsView(ApiView):
    """The records of a bot's matches."""

    rate = "exports"
    renderer_classes = (LinesRenderer, Renderer)

    @operation(
        "bots_records",
        query=RecordsQuery,
        answers={(200, LinesRenderer.media_type): OpenApiTypes.STR},
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Download the public records of all matches of a bot as JSON Lines, the oldest first.

        Each line is a record. `python -m engine verify FILE` checks the file.
        """
        bot = find_bot(name)
        return download(request, record_lines(bot, **self.query), f"{bot.name}.jsonl")


class ExportQuery(serializers.Serializer[None]):
    """The form of an export."""

    format = OneOfField(
        ["ndjson", "csv"],
        required=False,
        default="ndjson",
        help_text="`ndjson`: everything, one JSON object a line. `csv`: the standings as a table.",
    )


class TournamentExportView(ApiView):
    """The export of a tournament."""

    rate = "exports"
    renderer_classes = (LinesRenderer, CsvRenderer, Renderer)

    @operation(
        "tournaments_export",
        query=ExportQuery,
        answers={
            (200, LinesRenderer.media_type): OpenApiTypes.STR,
            (200, CsvRenderer.media_type): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, tournament_id: int) -> HttpResponseBase:
        """Download a tournament as JSON Lines, or its standings as CSV.

        Each line has a `type`: `tournament`, `standing`, `round` or `match`, and the fields that
        the calls for these objects return. A match has its `record` once that is public.
        """
        tournament = find_tournament(
            Tournament.objects.with_entry_counts().select_related("ladder"), tournament_id
        )
        name = f"tournament-{tournament_id}"
        if self.query["format"] == "csv":
            return download(request, _csv(tournament), f"{name}.csv", "text/csv; charset=utf-8")
        return download(request, _lines(tournament), f"{name}.jsonl")


def _lines(tournament: Tournament) -> Iterator[bytes]:
    yield _line("tournament", TournamentSerializer(tournament).data)
    for row in _standings(tournament):
        yield _line("standing", row)
    rounds = (
        Round.objects.with_block_counts()
        .select_related("placed")
        .with_tables()
        .filter(tournament=tournament)
    )
    for round_ in rounds.select_related("ladder", "tournament", "placed").order_by("number"):
        yield _line("round", TournamentRoundSerializer(round_).data)
        for match in _matches(round_):
            yield _line("match", _match(match))


def _matches(round_: Round) -> Iterable[Match]:
    seating = MatchSeat.objects.select_related("bot", "version")
    matches = Match.objects.filter(block__round=round_).select_related(
        "block", "swap_block", "challenge"
    )
    ordered = matches.order_by("block__number", "number")
    return ordered.prefetch_related(Prefetch("seating", seating)).iterator(100)


def _match(match: Match) -> dict[str, Any]:
    block = match.block
    record = spectating.public_record_line(match)
    seating = SeatSerializer(match.seating.all(), many=True).data
    if record is None:
        hide_result(seating)
    return {
        "id": match.pk,
        "block": block.number if block else None,
        "number": match.number,
        "status": match.status,
        "seating": seating,
        "record": None if record is None else json.loads(record),
    }


def _standings(tournament: Tournament) -> Iterable[Mapping[str, Any]]:
    page = {"results": tournament_standings(tournament)}
    rows: Iterable[Mapping[str, Any]] = TournamentStandingsSerializer(page).data["results"]
    return rows


def _line(kind: str, data: Mapping[str, Any]) -> bytes:
    return json.dumps({"type": kind, **data}, cls=Encoder).encode() + b"\n"


def _csv(tournament: Tournament) -> Iterator[bytes]:
    text = io.StringIO()
    table = csv.DictWriter(text, _CSV_COLUMNS, extrasaction="ignore")
    table.writeheader()
    table.writerows(_standings(tournament))
    yield text.getvalue().encode()
