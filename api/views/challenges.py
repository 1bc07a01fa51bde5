"""Challenges: one unrated block of your bot against bots that you name."""

from typing import ClassVar

from django.db.models import Prefetch, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import OwnerToken
from api.base import ApiView, ListView, checked, created, signed_in
from api.filters import ChallengeQuery
from api.operations import operation
from api.problems import ProblemError
from api.serializers.challenges import (
    ChallengeDetailSerializer,
    ChallengeSerializer,
    NewChallengeSerializer,
)
from league import competitions
from league.models import Challenge, ChallengeBot


class ChallengesView(ListView):
    """The challenges."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {
        "POST": (
            "not-your-bot",
            "bot-paused",
            "bot-offline",
            "no-version",
            "not-qualified",
            "quarantined",
            "challenges-refused",
            "too-many-matches",
            "too-many-challenges",
        )
    }
    ordering: ClassVar = ("-id",)

    @operation("challenges_list", query=ChallengeQuery, answers=ChallengeSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the challenges, the newest first."""
        found = _challenges()
        if "bot" in self.query:
            found = found.filter(bots__bot__name=self.query["bot"])
        return self.answer(ChallengeSerializer, self.page(found, time="created_at"))

    @operation(
        "challenges_create", body=NewChallengeSerializer, answers={201: ChallengeDetailSerializer}
    )
    def post(self, request: Request) -> Response:
        """Start a challenge: one of your bots plays one unrated block against bots that you name.

        The league plays it at once, ahead of rated matches. A block is a set of matches at one
        table. It has as many matches as the table has seats, so each bot sits once in each seat. No
        rating changes.
        """
        sent = checked(NewChallengeSerializer, request)
        made = competitions.challenge(owner=signed_in(request), **sent)
        return created(ChallengeDetailSerializer(_find(made.pk)).data, "challenges", made.pk)


class ChallengeView(ApiView):
    """A challenge."""

    @operation("challenges_show", answers=ChallengeDetailSerializer)
    def get(self, request: Request, challenge_id: int) -> Response:
        """Get a challenge with its matches and its result so far."""
        return Response(ChallengeDetailSerializer(_find(challenge_id)).data)


def _challenges() -> QuerySet[Challenge]:
    seats = ChallengeBot.objects.select_related("bot", "version")
    return Challenge.objects.select_related("bot").prefetch_related(Prefetch("bots", seats))


def _find(challenge_id: int) -> Challenge:
    found = _challenges().filter(pk=challenge_id).first()
    if found is None:
        raise ProblemError("not-found", f"There is no challenge {challenge_id}.")
    return found
