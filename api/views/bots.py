"""Bots, their tokens and versions."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import OwnerToken, check_owner
from api.problems import ProblemError
from api.serializers.bots import (
    BotChangesSerializer,
    BotSerializer,
    BotTokenSerializer,
    CreatedBotSerializer,
    NewBotSerializer,
    VersionSerializer,
)
from api.views.base import ApiView, ListView, checked, find_bot
from league import accounts
from league.models import Bot, BotVersion


class BotsView(ListView):
    """Bots."""

    needs: ClassVar = {"POST": OwnerToken}
    ordering: ClassVar = ("name",)

    @extend_schema(operation_id="bots_list", responses=BotSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the bots, by name."""
        bots = Bot.objects.select_related("owner", "current")
        return self.answer(BotSerializer, self.page(bots))

    @extend_schema(
        operation_id="bots_create",
        request=NewBotSerializer,
        responses={201: CreatedBotSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a bot, and get its token. A remote one may play at once."""
        bot, token = accounts.create_bot(owner=request.user, **checked(NewBotSerializer, request))
        return Response({**BotSerializer(bot).data, "token": token}, 201)


class BotView(ApiView):
    """A bot."""

    needs: ClassVar = {"PATCH": OwnerToken}
    problems: ClassVar = {"PATCH": ("not-your-bot",)}

    @extend_schema(operation_id="bots_show", responses=BotSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Look at a bot."""
        return Response(BotSerializer(find_bot(name)).data)

    @extend_schema(
        operation_id="bots_change", request=BotChangesSerializer, responses=BotSerializer
    )
    def patch(self, request: Request, name: str) -> Response:
        """Pause, resume or describe a bot of yours."""
        bot = find_bot(name)
        check_owner(request, bot)
        changed = accounts.change_bot(bot, **checked(BotChangesSerializer, request))
        return Response(BotSerializer(changed).data)


class BotTokenView(ApiView):
    """A bot's token."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot",)}

    @extend_schema(operation_id="bots_new_token", request=None, responses={201: BotTokenSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Get a new token for a bot of yours; its old one stops working."""
        bot = find_bot(name)
        check_owner(request, bot)
        return Response({"token": accounts.new_bot_token(bot)}, 201)


class VersionsView(ListView):
    """The versions of a bot."""

    ordering: ClassVar = ("-number",)

    @extend_schema(operation_id="versions_list", responses=VersionSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List the versions of a bot, the newest first."""
        versions = find_bot(name).versions.select_related("bot")
        return self.answer(VersionSerializer, self.page(versions))


class VersionView(ApiView):
    """A version of a bot."""

    @extend_schema(operation_id="versions_show", responses=VersionSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        """Look at a version of a bot."""
        versions = BotVersion.objects.select_related("bot")
        version = versions.filter(bot=find_bot(name), number=number).first()
        if version is None:
            raise ProblemError("not-found", f"{name} has no version {number}.")
        return Response(VersionSerializer(version).data)
