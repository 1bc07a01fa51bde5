"""Uploads: a new version of a hosted bot, which plays once it has qualified."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from bots_sdk.sandbox.errors import SourceRefusedError
from bots_sdk.sandbox.sources import read_source
from league.models import Bot, BotSource, BotVersion
from league.queueing import queue

MAX_CHECKING = 5
"""Versions of one owner's bots that wait to be checked at a time."""


def upload(*, bot: Bot, data: bytes, note: str = "", held: bool = False) -> BotVersion:
    """Store a new version of a hosted bot, in state ``checking``, and have it checked.

    The version that plays goes on playing until the new one is ready.

    Args:
        bot: that it is a version of.
        data: a Python file, or an archive with a ``bot.py``.
        note: the owner's, about this version.
        held: that it does not take over once it is ready, but when it is promoted.

    Raises:
        ValidationError: by field: the bot runs elsewhere, or the file is empty, too large, or no
            archive that is safe to unpack; with code ``too-many-uploads`` there are others to be
            checked first.
    """
    if bot.kind != Bot.Kind.HOSTED:
        raise ValidationError({"source": f"{bot} is a {bot.kind} bot; only hosted ones are sent."})
    _check_file(data)
    with transaction.atomic():
        # The lock gives of two uploads at once one number after the other.
        Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot.pk)
        checking = BotVersion.objects.filter(
            bot__owner=bot.owner_id, state=BotVersion.State.CHECKING
        )
        if checking.count() >= MAX_CHECKING:
            raise ValidationError(
                f"{MAX_CHECKING} versions of yours are being checked; wait for one of them.",
                code="too-many-uploads",
            )
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
        transaction.on_commit(lambda: queue("qualify", version.pk))
    return version


def _check_file(data: bytes) -> None:
    if not data.strip():
        raise ValidationError({"source": "The file is empty; a bot has a function choose."})
    try:
        read_source(data)
    except SourceRefusedError as error:
        raise ValidationError({"source": f"This can't be a bot: {error}."}) from None


def promote(version: BotVersion, *, instead_of: BotVersion | None = None) -> bool:
    """Have a version that is ready play from now on; matches under way go on with the old one.

    Args:
        version: to play.
        instead_of: the version that must be playing now, or nothing is done; None: whichever is.

    Returns:
        Whether it plays now.

    Raises:
        ValidationError: it is not ready (code ``not-ready``).
    """
    with transaction.atomic():
        bot = Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=version.bot_id)
        if instead_of is not None and bot.current_id != instead_of.pk:
            return False
        version.refresh_from_db()
        if version.state != BotVersion.State.READY:
            raise ValidationError(f"{version} is {version.state}, not ready.", code="not-ready")
        bot.current = version
        bot.save(update_fields=["current"])
    return True
