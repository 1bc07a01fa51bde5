"""The fair-play report, for organisers."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import Organiser
from api.base import ApiView, find_ladder
from api.operations import operation
from api.serializers.fairness import FairPlaySerializer
from league.ratings.fair_play import fair_play_report


class FairPlayView(ApiView):
    """The fair-play report of a ladder."""

    needs: ClassVar = {"GET": Organiser}

    @operation("ladders_fair_play", answers=FairPlaySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """List suspicious pairs: one bot does better when the other is at its table.

        Chance and the bots' styles do not explain the difference.
        The clearest pairs come first. A row is a reason to examine the matches, not a proof.
        `power` states the smallest gain that each test finds in 80 % of cases.
        """
        return Response(FairPlaySerializer(fair_play_report(find_ladder(slug))).data)
