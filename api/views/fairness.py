"""The fair-play report, for organisers."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import Organiser
from api.base import ApiView, find_ladder
from api.operations import operation
from api.serializers.fairness import FairPlaySerializer
from league.ratings.fair_play import suspicious_pairs


class FairPlayView(ApiView):
    """The fair-play report of a ladder."""

    needs: ClassVar = {"GET": Organiser}

    @operation("ladders_fair_play", answers=FairPlaySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """List pairs of bots that do better near each other than chance explains.

        The clearest pairs come first. A row is a reason to examine the matches, not a proof.
        """
        pairs = suspicious_pairs(find_ladder(slug))
        return Response(FairPlaySerializer({"results": pairs}).data)
