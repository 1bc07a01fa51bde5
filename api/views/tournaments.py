"""Tournaments: their results, entries and administration."""

from typing import ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import EntryToken, Organiser, acts_as_organiser, check_owner_or_bot
from api.base import (
    ApiView,
    ListView,
    checked,
    created,
    find_bot,
    find_tournament,
    signed_in,
)
from api.operations import operation
from api.pagination import PeriodQuery
from api.schema import NO_CONTENT
from api.serializers.moderation import (
    CancellationSerializer,
    EntryReasonQuery,
    PreviewSerializer,
    RestoreQuery,
    RestoreTournamentQuery,
)
from api.serializers.tournament_standings import (
    BracketSerializer,
    CrossTableSerializer,
    TournamentStandingsSerializer,
)
from api.serializers.tournaments import (
    DisqualificationSerializer,
    NewTournamentSerializer,
    TournamentChangesSerializer,
    TournamentEntrySerializer,
    TournamentRoundSerializer,
    TournamentSerializer,
)
from league import competitions, moderation
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    bracket_of,
    cross_table_of,
    standings_of,
    tournament_standings,
)
from league.models import Round, Tournament


class TournamentsView(ListView):
    """The tournaments."""

    needs: ClassVar = {"POST": Organiser}
    ordering: ClassVar = ("-starts_at", "-id")

    @operation("tournaments_list", query=PeriodQuery, answers=TournamentSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the tournaments, the latest start first."""
        found = Tournament.objects.with_entry_counts()
        return self.answer(TournamentSerializer, self.page(found, time="starts_at"))

    @operation(
        "tournaments_create",
        body=NewTournamentSerializer,
        answers={201: TournamentSerializer},
    )
    def post(self, request: Request) -> Response:
        """Announce a tournament. Its blocks are rated on its ladder."""
        sent = checked(NewTournamentSerializer, request)
        tournament = moderation.announce(made_by=signed_in(request), **sent)
        return created(_shown(tournament.pk), "tournaments", tournament.pk)


class TournamentView(ApiView):
    """A tournament."""

    needs: ClassVar = {"PATCH": Organiser}
    problems: ClassVar = {"PATCH": ("tournament-begun", "changed-meanwhile")}

    @operation("tournaments_show", answers=TournamentSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """Get a tournament."""
        return Response(_shown(tournament_id))

    @operation(
        "tournaments_change",
        body=TournamentChangesSerializer,
        answers=TournamentSerializer,
    )
    def patch(self, request: Request, tournament_id: int) -> Response:
        """Change a tournament before its start.

        Send `changed_at` as you read it: if somebody else has changed the tournament since, the
        call is refused and shows both versions.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        changes = checked(TournamentChangesSerializer, request)
        read_at = changes.pop("changed_at", None)
        moderation.change(
            tournament=tournament, made_by=signed_in(request), read_at=read_at, **changes
        )
        return Response(_shown(tournament_id))


class CancelTournamentView(ApiView):
    """Cancelling a tournament, and taking that back."""

    needs: ClassVar = {"GET": Organiser, "POST": Organiser, "DELETE": Organiser}
    problems: ClassVar = {
        "POST": ("tournament-begun", "changed-meanwhile"),
        "DELETE": ("not-cancelled", "changed-meanwhile"),
    }

    @operation("tournaments_preview_cancel", answers=PreviewSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """Preview a cancellation; for a cancelled tournament, the effect of taking it back."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        return Response(PreviewSerializer(moderation.preview_cancellation(tournament)).data)

    @operation(
        "tournaments_cancel", body=CancellationSerializer, answers={200: TournamentSerializer}
    )
    def post(self, request: Request, tournament_id: int) -> Response:
        """Cancel a tournament that is not over.

        If it is already cancelled, nothing changes. But if you send another reason than the stored
        one, the call is refused and shows both.

        If the tournament runs already, the matches of its open rounds are still played and rated.
        No further round opens.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        sent = {"reason": "", **checked(CancellationSerializer, request)}
        moderation.cancel(tournament=tournament, made_by=signed_in(request), **sent)
        return Response(_shown(tournament_id))

    @operation(
        "tournaments_restore", query=RestoreTournamentQuery, answers={200: TournamentSerializer}
    )
    def delete(self, request: Request, tournament_id: int) -> Response:
        """Take a cancellation back: the tournament continues where it was.

        If no round was opened yet and the planned start is over, send a new start in `starts_at`.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        moderation.restore(tournament=tournament, made_by=signed_in(request), **self.query)
        return Response(_shown(tournament_id))


class TournamentStandingsView(ApiView):
    """The standings of a tournament."""

    @operation("tournaments_standings", answers=TournamentStandingsSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """List the entrants by rank, from the finished blocks."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        page = {"results": tournament_standings(tournament)}
        return Response(TournamentStandingsSerializer(page).data)


class TournamentRoundsView(ListView):
    """The rounds of a tournament."""

    ordering: ClassVar = ("-number",)

    @operation(
        "tournaments_rounds", query=PeriodQuery, answers=TournamentRoundSerializer(many=True)
    )
    def get(self, request: Request, tournament_id: int) -> Response:
        """List the rounds of a tournament with tables and byes, the newest first.

        `number` counts the rounds of the ladder, `stage` the rounds of the tournament.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        rounds = (
            Round.objects.with_block_counts()
            .with_tables()
            .filter(tournament=tournament)
            .select_related("ladder", "tournament", "placed", "replays")
        )
        return self.answer(TournamentRoundSerializer, self.page(rounds, time="opened_at"))


class TournamentCrossTableView(ApiView):
    """The cross table of a tournament."""

    @operation("tournaments_cross_table", answers=CrossTableSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """Get the score of each entrant against each opponent, from the finished blocks."""
        history = history_of(find_tournament(_with_ladder(), tournament_id))
        rows = [
            {
                "rank": placed.row.rank,
                "bot": placed.bot.name,
                "opponents": [
                    {"opponent": bot.name, "blocks": of.blocks, "score": of.score}
                    for bot, of in met
                    if of is not None
                ],
            }
            for placed, met in cross_table_of(history, standings_of(history))
        ]
        page = {"results": rows}
        return Response(CrossTableSerializer(page).data)


class TournamentBracketView(ApiView):
    """The bracket of a knockout."""

    @operation("tournaments_bracket", answers=BracketSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """Get the tables of each round of a knockout. Other formats have an empty list."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        rounds = bracket_of(history_of(tournament))
        return Response(BracketSerializer({"results": rounds}).data)


class TournamentEntriesView(ListView):
    """The entries of a tournament."""

    ordering: ClassVar = ("entered_at", "id")

    @operation(
        "tournaments_entries", query=PeriodQuery, answers=TournamentEntrySerializer(many=True)
    )
    def get(self, request: Request, tournament_id: int) -> Response:
        """List the entries of a tournament, the oldest first, including bots that have left."""
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        entries = tournament.entries.select_related("bot__owner")
        return self.answer(TournamentEntrySerializer, self.page(entries, time="entered_at"))


class TournamentEntryView(ApiView):
    """A bot's entry in a tournament."""

    needs: ClassVar = {"PUT": EntryToken, "DELETE": EntryToken}
    problems: ClassVar = {
        "PUT": (
            "not-your-bot",
            "entries-not-open",
            "no-version",
            "not-qualified",
            "bot-has-left",
            "quarantined",
            "changed-meanwhile",
        ),
        "DELETE": ("not-your-bot", "entries-not-open", "changed-meanwhile"),
    }

    @operation("tournaments_enter", query=EntryReasonQuery, answers=TournamentEntrySerializer)
    def put(self, request: Request, tournament_id: int, name: str) -> Response:
        """Enter a bot in a tournament. If it is already entered, nothing changes.

        Entries are open until the start. With `late_entry` they stay open while the tournament
        runs, and the next round may draw the bot.

        Before the end of the tournament, an organiser may enter any bot, even while entries are
        closed, and also a bot that has withdrawn. In a knockout, an organiser may do so only before
        the start. The moderation log records the entry.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        bot = find_bot(name)
        if acts_as_organiser(request):
            entry = moderation.enter(
                tournament=tournament, bot=bot, made_by=signed_in(request), **self.query
            )
        else:
            check_owner_or_bot(request, bot)
            entry = competitions.enter(tournament=tournament, bot=bot)
        return Response(TournamentEntrySerializer(entry).data)

    @operation("tournaments_withdraw", query=EntryReasonQuery, answers={204: NO_CONTENT})
    def delete(self, request: Request, tournament_id: int, name: str) -> Response:
        """Withdraw a bot from a tournament, also while the tournament runs.

        The bot still plays the rounds that have drawn it, and they count. No later round draws it,
        and it can't enter this tournament again.

        An organiser may withdraw any bot before the end. The moderation log records the
        withdrawal. To take it back, an organiser enters the bot again.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        bot = find_bot(name)
        if acts_as_organiser(request):
            moderation.withdraw(
                tournament=tournament, bot=bot, made_by=signed_in(request), **self.query
            )
        else:
            check_owner_or_bot(request, bot)
            competitions.withdraw(tournament=tournament, bot=bot)
        return Response(status=204)


class DisqualificationView(ApiView):
    """Disqualifying a bot, and taking that back."""

    needs: ClassVar = {"GET": Organiser, "POST": Organiser, "DELETE": Organiser}
    problems: ClassVar = {
        "POST": ("entries-not-open", "changed-meanwhile"),
        "DELETE": ("not-disqualified", "changed-meanwhile"),
    }

    @operation("tournaments_preview_disqualification", answers=PreviewSerializer)
    def get(self, request: Request, tournament_id: int, name: str) -> Response:
        """Preview a disqualification; for a disqualified bot, the effect of taking it back."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        preview = moderation.preview_disqualification(tournament, find_bot(name))
        return Response(PreviewSerializer(preview).data)

    @operation(
        "tournaments_disqualify",
        body=DisqualificationSerializer,
        answers=TournamentEntrySerializer,
    )
    def post(self, request: Request, tournament_id: int, name: str) -> Response:
        """Disqualify a bot, also after the end of the tournament.

        The bot loses its rank, and no later round draws it. Its matches still count for its
        opponents and for ratings. If it is disqualified for another reason, the call is refused
        and shows both reasons.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        entry = moderation.disqualify(
            tournament=tournament,
            bot=find_bot(name),
            made_by=signed_in(request),
            **checked(DisqualificationSerializer, request),
        )
        return Response(TournamentEntrySerializer(entry).data)

    @operation("tournaments_reinstate", query=RestoreQuery, answers=TournamentEntrySerializer)
    def delete(self, request: Request, tournament_id: int, name: str) -> Response:
        """Take a disqualification back: the bot has its rank again, and later rounds may draw it.

        A bot that had withdrawn before stays withdrawn.
        """
        entry = moderation.reinstate(
            tournament=find_tournament(Tournament.objects.all(), tournament_id),
            bot=find_bot(name),
            made_by=signed_in(request),
            **self.query,
        )
        return Response(TournamentEntrySerializer(entry).data)


def _with_ladder() -> QuerySet[Tournament]:
    return Tournament.objects.select_related("ladder")


def _shown(tournament_id: int) -> dict[str, object]:
    tournament = find_tournament(Tournament.objects.with_entry_counts(), tournament_id)
    return dict(TournamentSerializer(tournament).data)
