"""Bots, their tokens and versions."""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework.parsers import MultiPartParser
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
    UploadSerializer,
    VersionLogSerializer,
    VersionSerializer,
)
from api.views.base import ApiView, ListView, checked, find_bot
from bots_sdk.sandbox.sources import MAX_BYTES
from league import accounts, bots
from league.models import Bot, BotSource, BotVersion


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
        bot, token = bots.create_bot(owner=request.user, **checked(NewBotSerializer, request))
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
        changed = bots.change_bot(bot, **checked(BotChangesSerializer, request))
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

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "too-many-uploads")}
    ordering: ClassVar = ("-number",)
    parser_classes: ClassVar = [MultiPartParser]

    @extend_schema(operation_id="versions_list", responses=VersionSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List the versions of a bot, the newest first."""
        versions = find_bot(name).versions.select_related("bot")
        return self.answer(VersionSerializer, self.page(versions))

    @extend_schema(
        operation_id="versions_upload", request=UploadSerializer, responses={202: VersionSerializer}
    )
    def post(self, request: Request, name: str) -> Response:
        """Upload a version of a hosted bot of yours; it plays once it is checked."""
        bot = find_bot(name)
        check_owner(request, bot)
        sent = checked(UploadSerializer, request)
        if sent["source"].size > MAX_BYTES:
            raise ProblemError(
                "body-too-large",
                f"The file has {sent['source'].size} bytes; a bot has {MAX_BYTES} at most.",
            )
        version = bots.upload(
            bot=bot,
            data=sent["source"].read(),
            note=sent.get("note", ""),
            held=sent["held"],
        )
        return Response(VersionSerializer(version).data, 202)


class VersionView(ApiView):
    """A version of a bot."""

    @extend_schema(operation_id="versions_show", responses=VersionSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        """Look at a version of a bot."""
        return Response(VersionSerializer(_find_version(find_bot(name), number)).data)


class VersionSourceView(ApiView):
    """The file of a version."""

    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"GET": ("not-your-bot",)}

    @extend_schema(
        operation_id="versions_source",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str, number: int) -> HttpResponse:
        """Get back what was uploaded as a version of a bot of yours."""
        bot = find_bot(name)
        check_owner(request, bot)
        source = BotSource.objects.filter(version=_find_version(bot, number)).first()
        if source is None:
            raise ProblemError("not-found", f"Version {number} of {name} was not uploaded.")
        data = bytes(source.data)
        kind = "zip" if data.startswith(b"PK") else "py"
        response = HttpResponse(data, content_type="application/octet-stream")
        response["Content-Disposition"] = f'attachment; filename="{name}-{number}.{kind}"'
        return response


class VersionLogView(ApiView):
    """How a version was checked."""

    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"GET": ("not-your-bot",)}

    @extend_schema(operation_id="versions_log", responses=VersionLogSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        """See how a version of a bot of yours was checked: why it failed, what it printed."""
        bot = find_bot(name)
        check_owner(request, bot)
        return Response(VersionLogSerializer(_find_version(bot, number)).data)


class PromoteVersionView(ApiView):
    """Which version of a bot plays."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "not-ready")}

    @extend_schema(operation_id="versions_promote", request=None, responses=VersionSerializer)
    def post(self, request: Request, name: str, number: int) -> Response:
        """Have a version of a hosted bot of yours play from now on; older ones too."""
        bot = find_bot(name)
        check_owner(request, bot)
        version = _find_version(bot, number)
        bots.promote(version)
        return Response(VersionSerializer(version).data)


def _find_version(bot: Bot, number: int) -> BotVersion:
    version = BotVersion.objects.select_related("bot").filter(bot=bot, number=number).first()
    if version is None:
        raise ProblemError("not-found", f"{bot} has no version {number}.")
    return version
