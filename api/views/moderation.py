"""Quarantines of bots and accounts, and the moderation log: for organisers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import Organiser, OwnerToken
from api.base import ApiView, ListView, checked, created, find_bot, signed_in
from api.exports import download
from api.operations import operation
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.moderation import (
    LiftQuery,
    LogExportQuery,
    LogQuery,
    ModerationEntrySerializer,
    NewQuarantineSerializer,
    QuarantineSerializer,
)
from league import accounts, moderation, visibility
from league.accounts.quarantines import account_quarantine, quarantine_of
from league.models import Quarantine
from league.moderation import log


class QuarantinesView(ListView):
    """The quarantines that hold."""

    needs: ClassVar = {"GET": Organiser}
    ordering: ClassVar = ("-id",)

    @operation("quarantines_list", answers=QuarantineSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the quarantines that hold now, the newest first."""
        return self.answer(QuarantineSerializer, self.page(_holding()))


class BotQuarantineView(ApiView):
    """The quarantine of a bot."""

    needs: ClassVar = {"GET": OwnerToken, "POST": Organiser, "DELETE": Organiser}
    problems: ClassVar = {
        "GET": ("not-your-bot",),
        "POST": ("changed-meanwhile", "own-quarantine"),
        "DELETE": ("not-quarantined", "changed-meanwhile", "own-quarantine"),
    }

    @operation("bots_quarantine_show", answers=QuarantineSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Get the quarantine of a bot or of its account: for its owner and for organisers."""
        bot, user = find_bot(name), signed_in(request)
        if not (visibility.owns(user, bot) or accounts.is_organiser(user)):
            raise ProblemError("not-your-bot", f"The bot {name} belongs to another account.")
        held = quarantine_of(bot)
        if held is None:
            raise ProblemError("not-found", f"The bot {name} is not in quarantine.")
        return Response(QuarantineSerializer(held).data)

    @operation("bots_quarantine", body=NewQuarantineSerializer, answers={201: QuarantineSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Put a bot in quarantine, or change the reason and the end of its quarantine.

        No round draws the bot, and it can enter nothing. Its blocks that have not begun become
        void; matches in play go on. The bot's owner can't lift the quarantine. At `ends_at` the
        quarantine ends by itself.
        """
        bot = find_bot(name)
        made = moderation.quarantine_bot(bot=bot, made_by=signed_in(request), **_sent(request))
        return created(QuarantineSerializer(made).data, "bots", bot.name, "quarantine")

    @operation("bots_lift_quarantine", query=LiftQuery, answers={204: NO_CONTENT})
    def delete(self, request: Request, name: str) -> Response:
        """Lift the quarantine of a bot. A quarantine of its account stays."""
        moderation.lift_bot_quarantine(
            bot=find_bot(name), made_by=signed_in(request), **_lifted(self.query)
        )
        return Response(status=204)


class AccountQuarantineView(ApiView):
    """The quarantine of an account."""

    needs: ClassVar = {"GET": Organiser, "POST": Organiser, "DELETE": Organiser}
    problems: ClassVar = {
        "POST": ("changed-meanwhile", "own-quarantine"),
        "DELETE": ("not-quarantined", "changed-meanwhile", "own-quarantine"),
    }

    @operation("accounts_quarantine_show", answers=QuarantineSerializer)
    def get(self, request: Request, username: str) -> Response:
        """Get the quarantine of an account."""
        held = account_quarantine(_find_account(username))
        if held is None:
            raise ProblemError("not-found", f"The account {username} is not in quarantine.")
        return Response(QuarantineSerializer(held).data)

    @operation(
        "accounts_quarantine", body=NewQuarantineSerializer, answers={201: QuarantineSerializer}
    )
    def post(self, request: Request, username: str) -> Response:
        """Put an account in quarantine: all its bots, and bots that it creates later."""
        made = moderation.quarantine_account(
            account=_find_account(username), made_by=signed_in(request), **_sent(request)
        )
        return created(QuarantineSerializer(made).data, "accounts", username, "quarantine")

    @operation("accounts_lift_quarantine", query=LiftQuery, answers={204: NO_CONTENT})
    def delete(self, request: Request, username: str) -> Response:
        """Lift the quarantine of an account. Quarantines of single bots stay."""
        moderation.lift_account_quarantine(
            account=_find_account(username), made_by=signed_in(request), **_lifted(self.query)
        )
        return Response(status=204)


class ModerationLogView(ListView):
    """The moderation log."""

    needs: ClassVar = {"GET": Organiser}
    ordering: ClassVar = ("-id",)

    @operation("moderation_log_list", query=LogQuery, answers=ModerationEntrySerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the decisions of organisers: who did what to whom, when and why; newest first."""
        rows = log.entries(action=self.query.get("action", ""), wanted=self.query.get("q", ""))
        return self.answer(ModerationEntrySerializer, self.page(rows, time="made_at"))


class AnyAccept(BaseContentNegotiation):
    """Ignores the header ``Accept``: a parameter chooses the format."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the first parser."""
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        """Return the first renderer, for problems."""
        return renderers[0], renderers[0].media_type


class ModerationLogExportView(ApiView):
    """The moderation log as a file."""

    needs: ClassVar = {"GET": Organiser}
    rate = "exports"
    content_negotiation_class = AnyAccept

    @operation(
        "moderation_log_export",
        query=LogExportQuery,
        answers={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Download the whole moderation log as JSON Lines or CSV, the newest row first."""
        name = self.query.get("format", "ndjson")
        lines, content_type = log.FORMATS[name]
        pieces = (line.encode() for line in lines(log.entries()))
        return download(request, pieces, f"moderation-log.{name}", content_type)


def _sent(request: Request) -> dict[str, Any]:
    sent = checked(NewQuarantineSerializer, request)
    return {
        "reason": sent["reason"],
        "ends_at": sent.get("ends_at"),
        "seen": sent.get("replaces", moderation.ANY),
    }


def _lifted(query: Mapping[str, Any]) -> dict[str, Any]:
    return {"reason": query.get("reason", ""), "seen": query.get("id", moderation.ANY)}


def _holding() -> QuerySet[Quarantine]:
    active = Quarantine.objects.active(timezone.now())
    return active.select_related("bot", "account", "made_by")


def _find_account(username: str) -> User:
    found = User.objects.filter(username=username).first()
    if found is None:
        raise ProblemError("not-found", f"There is no account {username}.")
    return found
