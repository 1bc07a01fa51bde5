"""Fair play, for organisers."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import Organiser
from api.serializers.fairness import FairPlaySerializer
from api.views.base import ApiView, find_ladder
from league.ratings.fair_play import suspicious_pairs


class FairPlayView(ApiView):
    """The report on fair play of a ladder."""

    needs: ClassVar = {"GET": Organiser}

    @extend_schema(operation_id="ladders_fair_play", responses=FairPlaySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """See which pairs do better next to each other than they should, the clearest first."""
        pairs = suspicious_pairs(find_ladder(slug))
        return Response(FairPlaySerializer({"results": pairs}).data)
