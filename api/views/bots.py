"""Bots, their tokens and versions."""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import OwnerToken, check_owner
from api.base import ApiView, ListView, checked, created, find_bot, signed_in
from api.operations import operation
from api.pagination import PeriodQuery
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.bots import (
    BotChangesSerializer,
    BotSerializer,
    BotTokenSerializer,
    CreatedBotSerializer,
    NewBotSerializer,
    UploadSerializer,
    VersionChangesSerializer,
    VersionLogSerializer,
    VersionSerializer,
)
from bots_sdk.sandbox.sources import MAX_BYTES
from bots_sdk.wasm.binary import is_module
from league import accounts, bots, competitions
from league.models import Bot, BotSource, BotVersion


class BotsView(ListView):
    """The bots."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("too-many-bots",)}
    ordering: ClassVar = ("name",)

    @operation("bots_list", query=PeriodQuery, answers=BotSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the bots by name, without retired ones."""
        bots = Bot.objects.active().with_quarantine().select_related("owner", "current")
        return self.answer(BotSerializer, self.page(bots, time="created_at"))

    @operation(
        "bots_create",
        body=NewBotSerializer,
        answers={201: CreatedBotSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a bot and get its bot token.

        A remote bot may play at once. A hosted bot plays once you have uploaded a version.
        """
        bot, token = bots.create_bot(owner=signed_in(request), **checked(NewBotSerializer, request))
        return created({**BotSerializer(bot).data, "token": token}, "bots", bot.name)


class BotView(ApiView):
    """A bot."""

    needs: ClassVar = {"PATCH": OwnerToken, "DELETE": OwnerToken}
    problems: ClassVar = {
        "PATCH": ("not-your-bot", "bot-retired", "too-many-renames"),
        "DELETE": ("not-your-bot", "bot-retired"),
    }

    @operation("bots_show", answers=BotSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Get a bot."""
        return Response(BotSerializer(find_bot(name)).data)

    @operation("bots_change", body=BotChangesSerializer, answers=BotSerializer)
    def patch(self, request: Request, name: str) -> Response:
        """Rename, pause, resume or describe a bot.

        A bot keeps its last 3 former names: their addresses redirect to the new name, and no other
        bot can take them. Older names are free again.
        """
        bot = _own(request, name)
        changed = bots.change_bot(bot, **checked(BotChangesSerializer, request))
        return Response(BotSerializer(changed).data)

    @operation("bots_delete", answers={204: NO_CONTENT})
    def delete(self, request: Request, name: str) -> Response:
        """Delete a bot.

        If the bot has played, it is retired: no list and no standings show it, its token does not
        work, and its sources are erased. Its results stay. If it has never played, it is removed.
        """
        competitions.delete_bot(_own(request, name))
        return Response(status=204)


class BotTokenView(ApiView):
    """A bot's token."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "bot-retired")}

    @operation("bots_new_token", answers={201: BotTokenSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Get a new bot token for a bot. Its old token stops working."""
        text = bots.renew_token(_own(request, name))
        token = accounts.find_token(text, is_use=False)
        return created({"token": text}, "tokens", token.pk if token else "current")


class VersionsView(ListView):
    """The versions of a bot."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {
        "POST": (
            "not-your-bot",
            "bot-retired",
            "same-file",
            "too-many-uploads",
            "too-many-versions",
        )
    }
    ordering: ClassVar = ("-number",)
    parser_classes = [MultiPartParser]

    @operation("versions_list", query=PeriodQuery, answers=VersionSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List the versions of a bot, the newest first."""
        versions = find_bot(name).versions.select_related("bot")
        return self.answer(VersionSerializer, self.page(versions, time="created_at"))

    @operation("versions_upload", body=UploadSerializer, answers={202: VersionSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Upload a version of a hosted bot.

        The league checks the version in a few seconds. If it passes, it becomes current and plays,
        unless `held` is true. A new version begins without a rank. So that the bot keeps its rank,
        the league refuses the file of the current version, unless `again` is true.
        """
        bot = _own(request, name)
        sent = checked(UploadSerializer, request)
        if sent["source"].size > MAX_BYTES:
            raise ProblemError(
                "body-too-large",
                f"The file has {sent['source'].size} bytes; at most {MAX_BYTES} are allowed.",
            )
        version = bots.upload(
            bot=bot,
            data=sent["source"].read(),
            note=sent.get("note", ""),
            held=sent["held"],
            again=sent["again"],
        )
        data = VersionSerializer(version, context={"request": request}).data
        return created(data, "bots", bot.name, "versions", version.number, status=202)


class VersionView(ApiView):
    """A version of a bot."""

    needs: ClassVar = {"PATCH": OwnerToken}
    problems: ClassVar = {"PATCH": ("not-your-bot", "bot-retired")}

    @operation("versions_show", answers=VersionSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        """Get a version of a bot."""
        return Response(
            VersionSerializer(
                _find_version(find_bot(name), number), context={"request": request}
            ).data
        )

    @operation("versions_change", body=VersionChangesSerializer, answers=VersionSerializer)
    def patch(self, request: Request, name: str, number: int) -> Response:
        """Change your note about a version."""
        version = _find_version(_own(request, name), number)
        bots.change_note(version, checked(VersionChangesSerializer, request)["note"])
        return Response(VersionSerializer(version, context={"request": request}).data)


class WithdrawVersionView(ApiView):
    """The withdrawal of a version."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "bot-retired", "not-checking")}

    @operation("versions_withdraw", answers=VersionSerializer)
    def post(self, request: Request, name: str, number: int) -> Response:
        """Withdraw a version during its check: it becomes `refused` and never plays."""
        version = _find_version(_own(request, name), number)
        bots.withdraw_version(version)
        return Response(VersionSerializer(version, context={"request": request}).data)


class VersionSourceView(ApiView):
    """The uploaded file of a version."""

    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"GET": ("not-your-bot",)}

    @operation(
        "versions_source",
        answers={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str, number: int) -> HttpResponse:
        """Download the file that you uploaded as a version."""
        bot = find_bot(name)
        check_owner(request, bot)
        source = BotSource.objects.filter(version=_find_version(bot, number)).first()
        if source is None:
            raise ProblemError(
                "not-found", f"Version {number} of {name} has no file: it was not uploaded."
            )
        data = bytes(source.data)
        kind = "zip" if data.startswith(b"PK") else "wasm" if is_module(data) else "py"
        response = HttpResponse(data, content_type="application/octet-stream")
        response["Content-Disposition"] = f'attachment; filename="{name}-{number}.{kind}"'
        return response


class VersionLogView(ApiView):
    """The results of a version's check."""

    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"GET": ("not-your-bot",)}

    @operation("versions_log", answers=VersionLogSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        """Get the results of a version's check: its output, and the reason if it was refused."""
        bot = find_bot(name)
        check_owner(request, bot)
        return Response(
            VersionLogSerializer(_find_version(bot, number), context={"request": request}).data
        )


class PromoteVersionView(ApiView):
    """The current version of a bot."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "bot-retired", "not-ready", "not-qualified")}

    @operation("versions_promote", answers=VersionSerializer)
    def post(self, request: Request, name: str, number: int) -> Response:
        """Promote a version of a hosted bot: make it current, so that it plays from now on.

        The version must play the games of the ladders and tournaments that the bot is in.
        """
        bot = _own(request, name)
        version = _find_version(bot, number)
        bots.promote(version)
        return Response(VersionSerializer(version, context={"request": request}).data)


def _own(request: Request, name: str) -> Bot:
    """Return the bot of a call that changes it."""
    bot = find_bot(name)
    check_owner(request, bot)
    if bot.retired_at is not None:
        raise ProblemError("bot-retired", f"The bot {name} was deleted, so it can't change.")
    return bot


def _find_version(bot: Bot, number: int) -> BotVersion:
    version = BotVersion.objects.select_related("bot").filter(bot=bot, number=number).first()
    if version is None:
        raise ProblemError("not-found", f"The bot {bot} has no version {number}.")
    return version
