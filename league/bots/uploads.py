"""Uploads: store a new version of a hosted bot, and queue its check."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.sources import check_source
from league.bots.daily_limits import count_upload, deleted_checks, note_deleted_checks
from league.bots.retiring import lock_active, require_active
from league.models import Bot, BotSource, BotVersion
from league.queueing import queue

MAX_CHECKING = 5
"""The most unchecked versions of one owner's bots at a time.

A version that was deleted during its check counts for as long as that may still run.
"""


WITHDRAWN = "Its owner withdrew it during its check."
"""The reason of a version that was withdrawn."""


def upload(
    *, bot: Bot, data: bytes, note: str = "", held: bool = False, again: bool = True
) -> BotVersion:
    """Store a new version of a hosted bot, in state ``checking``, and queue its check.

    The current version stays current until the new version is ready.

    Args:
        bot: gets the version.
        data: a Python file, an archive with a ``bot.py``, or a WebAssembly module.
        note: the owner's note about this version.
        held: whether it becomes current only if its owner or a comparison promotes it.
        again: whether the file may be the one of the current version, or of one in its check. A
            bot with a new version begins anew without a rank, so clients ask before.

    Raises:
        ValidationError: by field: the bot is not hosted, or the file is empty, too large, an
            archive that is not safe to unpack, or a module that breaks its contract. Or with code
            ``bot-retired``: the bot was deleted. Or with code
            ``too-many-uploads``: too many versions of the owner wait for their checks. Or with code
            ``too-many-versions``: the owner has uploaded too many versions in 24 hours. Or with
            code ``same-file``: the bot has a version of this file already.
    """
    if bot.kind != Bot.Kind.HOSTED:
        raise ValidationError(
            {"source": f"{bot} is a {bot.kind} bot; you can upload files only for hosted bots."}
        )
    require_active(bot)
    _check_file(data)
    with transaction.atomic():
        # Under the lock two uploads at once get different numbers.
        locked = lock_active(bot.pk)
        if not again:
            _refuse_same_file(locked, data)
        assert bot.owner is not None, "a hosted bot has an owner"
        # Under this lock two uploads at once don't both take the last place.
        User.objects.select_for_update(no_key=True).get(pk=bot.owner.pk)
        checking = BotVersion.objects.checking().filter(bot__owner=bot.owner_id).count()
        if checking + deleted_checks(bot.owner, timezone.now()) >= MAX_CHECKING:
            raise ValidationError(
                f"{MAX_CHECKING} of your versions are being checked, the maximum; deleted versions "
                "count too. Wait until one check is over.",
                code="too-many-uploads",
            )
        count_upload(bot.owner, timezone.now())
        last = bot.versions.aggregate(last=Max("number"))["last"] or 0
        version = BotVersion(
            bot=bot,
            number=last + 1,
            note=note,
            held=held,
            state=BotVersion.State.CHECKING,
        )
        version.clean_fields(exclude={"bot"})
        version.save()
        BotSource.objects.create(version=version, data=data)
        transaction.on_commit(lambda: queue("check_version", version.pk))
    return version


def _refuse_same_file(bot: Bot, data: bytes) -> None:
    """Raise if a file is the current version's, or that of a version in its check."""
    playing_or_checking = Q(pk=bot.current_id) | Q(state=BotVersion.State.CHECKING)
    same = bot.versions.filter(playing_or_checking, source__data=data).order_by("-number").first()
    if same is None:
        return
    state = "is the current version" if same.pk == bot.current_id else "is being checked"
    raise ValidationError(
        f"This file is the same as version {same.number} of {bot}, which {state}. As a new version "
        "it would have to earn its rank again.",
        code="same-file",
        params={"version": same.number},
    )


def _check_file(data: bytes) -> None:
    if not data.strip():
        raise ValidationError({"source": "The file is empty; a bot needs a function choose."})
    try:
        check_source(data)
    except SourceRefusedError as error:
        raise ValidationError({"source": f"This can't be a bot: {error}."}) from None


def change_note(version: BotVersion, note: str) -> None:
    """Change the owner's note about a version.

    Raises:
        ValidationError: by field: the note is too long. Or the bot was deleted (code
            ``bot-retired``).
    """
    version.note = note
    version.clean_fields(exclude={"bot"})
    with transaction.atomic():
        lock_active(version.bot_id)
        version.save(update_fields=["note"])


def withdraw_version(version: BotVersion) -> None:
    """Withdraw a version during its check: it is refused, and the check has no result.

    Raises:
        ValidationError: its check is over (code ``not-checking``), or the bot was deleted (code
            ``bot-retired``).
    """
    with transaction.atomic():
        lock_active(version.bot_id)
        checking = BotVersion.objects.checking().filter(pk=version.pk)
        if not checking.update(state=BotVersion.State.REFUSED, reason=WITHDRAWN):
            version.refresh_from_db()
            raise ValidationError(
                f"The check of version {version.number} is over: the version is {version.state}. "
                "To play with another version, promote or upload it.",
                code="not-checking",
            )
        note_deleted_checks(version.bot, timezone.now(), count=1)
    version.refresh_from_db()
