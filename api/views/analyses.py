"""Analyses of matches."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import OwnerToken
from api.base import ApiView, created, find_match
from api.operations import operation
from api.problems import ProblemError
from api.serializers.analyses import MatchAnalysisSerializer, described
from league import analyses
from league.models import Match, MatchAnalysis


class MatchAnalysisView(ApiView):
    """The analysis of a match."""

    needs: ClassVar = {"POST": OwnerToken}
    rates: ClassVar = {"POST": "analyses"}

    @operation("matches_analysis", answers=MatchAnalysisSerializer)
    def get(self, request: Request, match_id: int) -> Response:
        """Get the analysis of a match, or how far it is.

        The analysis has the expected result of each legal move of each decision, and each seat's
        chances over the match. It also separates luck from play. There is no analysis while the
        record of the match is secret.
        """
        match = _match(match_id)
        return Response(_data(match, _open(match)))

    @operation("matches_analyse", answers={202: MatchAnalysisSerializer})
    def post(self, request: Request, match_id: int) -> Response:
        """Ask for the analysis of a match; a second request changes nothing.

        Workers compute it when no match waits. Repeat the `GET` until `state` is `done`.
        """
        match = _match(match_id)
        _open(match)
        data = _data(match, analyses.ask(match=match))
        return created(data, "matches", match.pk, "analysis", status=202)


def _match(match_id: int) -> Match:
    return find_match(Match.objects.with_deals(), match_id)


def _open(match: Match) -> MatchAnalysis | None:
    """Return the analysis of a match, or raise the problem ``not-found`` while it is secret."""
    try:
        return analyses.find(match)
    except analyses.HiddenError:
        raise ProblemError(
            "not-found", f"Match {match.pk} has no analysis, because its record is not public."
        ) from None


def _data(match: Match, found: MatchAnalysis | None) -> Any:
    return MatchAnalysisSerializer(described(match, found)).data
