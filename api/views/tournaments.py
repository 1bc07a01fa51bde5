"""Tournaments: looking, entering, organising."""

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, Organiser, check_owner_or_bot
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.tournaments import (
    BracketSerializer,
    CrossTableSerializer,
    DisqualificationSerializer,
    NewTournamentSerializer,
    TournamentChangesSerializer,
    TournamentEntrySerializer,
    TournamentRoundSerializer,
    TournamentSerializer,
    TournamentStandingsSerializer,
)
from api.views.base import ApiView, ListView, checked, find_bot, find_tournament
from league import competitions
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    bracket_of,
    cross_table_of,
    standings_of,
    tournament_standings,
)
from league.models import Tournament


class TournamentsView(ListView):
    """Tournaments."""

    needs: ClassVar = {"POST": Organiser}
    ordering: ClassVar = ("-starts_at", "-id")

    @extend_schema(operation_id="tournaments_list", responses=TournamentSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the tournaments, the latest start first."""
        return self.answer(TournamentSerializer, self.page(competitions.tournaments_with_counts()))

    @extend_schema(
        operation_id="tournaments_create",
        request=NewTournamentSerializer,
        responses={201: TournamentSerializer},
    )
    def post(self, request: Request) -> Response:
        """Announce a tournament: a round robin, swiss or knockout, rated on its ladder."""
        tournament = competitions.plan_tournament(**checked(NewTournamentSerializer, request))
        return Response(_shown(tournament.pk), 201)


class TournamentView(ApiView):
    """A tournament."""

    needs: ClassVar = {"PATCH": Organiser}
    problems: ClassVar = {"PATCH": ("tournament-begun",)}

    @extend_schema(operation_id="tournaments_show", responses=TournamentSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """Look at a tournament."""
        return Response(_shown(tournament_id))

    @extend_schema(
        operation_id="tournaments_change",
        request=TournamentChangesSerializer,
        responses=TournamentSerializer,
    )
    def patch(self, request: Request, tournament_id: int) -> Response:
        """Change a tournament that has not begun."""
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        changes = checked(TournamentChangesSerializer, request)
        competitions.change_tournament(tournament=tournament, **changes)
        return Response(_shown(tournament_id))


class CancelTournamentView(ApiView):
    """Calling a tournament off."""

    needs: ClassVar = {"POST": Organiser}
    problems: ClassVar = {"POST": ("tournament-begun",)}

    @extend_schema(
        operation_id="tournaments_cancel", request=None, responses={200: TournamentSerializer}
    )
    def post(self, request: Request, tournament_id: int) -> Response:
        """Call a tournament off that has not begun; one called off already stays so."""
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        if not competitions.cancel(tournament=tournament):
            tournament.refresh_from_db()
            if tournament.state != Tournament.State.CANCELLED:
                raise ProblemError("tournament-begun", f"{tournament} is {tournament.state}.")
        return Response(_shown(tournament_id))


class TournamentStandingsView(ApiView):
    """The standings of a tournament."""

    @extend_schema(operation_id="tournaments_standings", responses=TournamentStandingsSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """See how the entrants stand, by the blocks that are finished."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        page = {"results": tournament_standings(tournament), "next": None, "previous": None}
        return Response(TournamentStandingsSerializer(page).data)


class TournamentRoundsView(ListView):
    """The rounds of a tournament."""

    ordering: ClassVar = ("-number",)

    @extend_schema(
        operation_id="tournaments_rounds", responses=TournamentRoundSerializer(many=True)
    )
    def get(self, request: Request, tournament_id: int) -> Response:
        """List the rounds of a tournament, the latest first, with tables and byes.

        ``number`` is that of its ladder, ``stage`` that of the tournament.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        rounds = competitions.rounds_with_counts().filter(tournament=tournament)
        return self.answer(TournamentRoundSerializer, self.page(competitions.with_tables(rounds)))


class TournamentCrossTableView(ApiView):
    """The cross table of a tournament."""

    @extend_schema(operation_id="tournaments_cross_table", responses=CrossTableSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """See who took what from whom, by the blocks that are finished."""
        history = history_of(find_tournament(_with_ladder(), tournament_id))
        rows = [
            {
                "rank": placed.row.rank,
                "bot": placed.bot.name,
                "met": [
                    {"opponent": bot.name, "blocks": of.blocks, "taken": of.score}
                    for bot, of in met
                    if of is not None
                ],
            }
            for placed, met in cross_table_of(history, standings_of(history))
        ]
        page = {"results": rows, "next": None, "previous": None}
        return Response(CrossTableSerializer(page).data)


class TournamentBracketView(ApiView):
    """The bracket of a knockout."""

    @extend_schema(operation_id="tournaments_bracket", responses=BracketSerializer)
    def get(self, request: Request, tournament_id: int) -> Response:
        """See who sits where in each round of a knockout, and goes on; empty for other formats."""
        tournament = find_tournament(_with_ladder(), tournament_id)
        rounds = bracket_of(history_of(tournament))
        return Response(BracketSerializer({"results": rounds, "next": None, "previous": None}).data)


class TournamentEntriesView(ListView):
    """The entries for a tournament."""

    ordering: ClassVar = ("entered_at", "id")

    @extend_schema(
        operation_id="tournaments_entries", responses=TournamentEntrySerializer(many=True)
    )
    def get(self, request: Request, tournament_id: int) -> Response:
        """List who is entered, and who has left, in the order in which they came."""
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        entries = tournament.entries.select_related("bot__owner")
        return self.answer(TournamentEntrySerializer, self.page(entries))


class TournamentEntryView(ApiView):
    """A bot's entry for a tournament."""

    needs: ClassVar = {"PUT": AnyToken, "DELETE": AnyToken}
    problems: ClassVar = {
        "PUT": ("not-your-bot", "entries-not-open", "no-version", "not-qualified", "bot-has-left"),
        "DELETE": ("not-your-bot", "entries-not-open"),
    }

    @extend_schema(
        operation_id="tournaments_enter", request=None, responses=TournamentEntrySerializer
    )
    def put(self, request: Request, tournament_id: int, name: str) -> Response:
        """Enter a bot; entering it again changes nothing.

        Entries are open until the start and, with ``late_entry``, while the tournament runs: a bot
        that comes late is drawn from the next round on.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        bot = find_bot(name)
        check_owner_or_bot(request, bot)
        entry = competitions.enter(tournament=tournament, bot=bot)
        return Response(TournamentEntrySerializer(entry).data)

    @extend_schema(operation_id="tournaments_withdraw", responses={204: NO_CONTENT})
    def delete(self, request: Request, tournament_id: int, name: str) -> Response:
        """Withdraw a bot, also while the tournament runs.

        What it has been drawn for is played, and stands; it is drawn no more and can't come back.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        bot = find_bot(name)
        check_owner_or_bot(request, bot)
        competitions.withdraw(tournament=tournament, bot=bot)
        return Response(status=204)


class DisqualificationView(ApiView):
    """Disqualifying a bot."""

    needs: ClassVar = {"POST": Organiser}
    problems: ClassVar = {"POST": ("entries-not-open",)}

    @extend_schema(
        operation_id="tournaments_disqualify",
        request=DisqualificationSerializer,
        responses=TournamentEntrySerializer,
    )
    def post(self, request: Request, tournament_id: int, name: str) -> Response:
        """Disqualify a bot, also after the end; a second time changes the reason.

        It has no rank and is drawn no more. What it played stays, for its opponents and for
        ratings.
        """
        tournament = find_tournament(Tournament.objects.all(), tournament_id)
        taken = checked(DisqualificationSerializer, request)
        entry = competitions.disqualify(tournament=tournament, bot=find_bot(name), **taken)
        return Response(TournamentEntrySerializer(entry).data)


def _with_ladder() -> QuerySet[Tournament]:
    return Tournament.objects.select_related("ladder")


def _shown(tournament_id: int) -> dict[str, object]:
    tournament = find_tournament(competitions.tournaments_with_counts(), tournament_id)
    return dict(TournamentSerializer(tournament).data)
