"""An account may make so many bots and upload so many versions in 24 hours."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import Settings

from league import bots, competitions
from league.bots.daily_limits import count_bot, count_upload
from league.bots.registering import KEPT_NAMES
from league.bots.uploads import MAX_CHECKING
from league.models import Bot, DailyUse

pytestmark = pytest.mark.django_db

SOURCE = b"def choose(observation): ..."


def a_day_ago() -> datetime:
    return timezone.now() - timedelta(hours=25)


@pytest.fixture
def ada(settings: Settings) -> User:
    settings.MAX_BOTS_PER_DAY = settings.MAX_UPLOADS_PER_DAY = 2
    return User.objects.create_user("ada")


def test_one_bot_too_many_is_refused_until_the_first_is_a_day_old(ada: User) -> None:
    for name in ("one", "two"):
        bots.create_bot(owner=ada, name=f"bot-{name}", kind="remote")
    with pytest.raises(ValidationError) as refused:
        bots.create_bot(owner=ada, name="bot-three", kind="remote")
    assert refused.value.code == "too-many-bots"
    assert refused.value.messages[0].startswith("An account may have at most 2 new bots in")
    assert 86_300 < (refused.value.params or {})["retry_seconds"] <= 86_400
    bots.create_bot(owner=User.objects.create_user("eve"), name="bot-eve", kind="remote")
    first = DailyUse.objects.filter(owner=ada).order_by("pk")[:1]
    DailyUse.objects.filter(pk__in=first.values("pk")).update(used_at=a_day_ago())
    count_bot(ada, timezone.now())


def test_one_upload_too_many_is_refused_for_all_bots_of_the_owner(ada: User) -> None:
    first, second = (
        bots.create_bot(owner=ada, name=f"bot-{name}", kind="hosted")[0] for name in ("one", "two")
    )
    for bot in (first, second):
        bots.upload(bot=bot, data=SOURCE)
    with pytest.raises(ValidationError) as refused:
        bots.upload(bot=first, data=SOURCE)
    assert refused.value.code == "too-many-versions"
    DailyUse.objects.filter(owner=ada, kind="upload").update(used_at=a_day_ago())
    count_upload(ada, timezone.now())


def test_deleting_bots_resets_no_limit(ada: User) -> None:
    for name in ("one", "two"):
        made, _ = bots.create_bot(owner=ada, name=f"bot-{name}", kind="hosted")
        bots.upload(bot=made, data=SOURCE)
        assert not competitions.delete_bot(made)
    with pytest.raises(ValidationError) as refused:
        bots.create_bot(owner=ada, name="bot-three", kind="hosted")
    assert refused.value.code == "too-many-bots"
    DailyUse.objects.filter(kind="bot").delete()
    made, _ = bots.create_bot(owner=ada, name="bot-three", kind="hosted")
    with pytest.raises(ValidationError) as refused:
        bots.upload(bot=made, data=SOURCE)
    assert refused.value.code == "too-many-versions"


def test_a_refused_name_counts_for_no_limit(ada: User) -> None:
    bots.create_bot(owner=ada, name="bot-one", kind="remote")
    for _ in range(3):
        with pytest.raises(ValidationError, match="bot-one"):
            bots.create_bot(owner=ada, name="bot-one", kind="remote")
    bots.create_bot(owner=ada, name="bot-two", kind="remote")


def test_renames_are_bounded_for_all_bots_of_the_owner(ada: User, settings: Settings) -> None:
    settings.MAX_RENAMES_PER_DAY = 2
    first, second = (
        bots.create_bot(owner=ada, name=f"bot-{name}", kind="remote")[0] for name in ("one", "two")
    )
    bots.change_bot(first, name="bot-uno")
    bots.change_bot(second, name="bot-due")
    with pytest.raises(ValidationError) as refused:
        bots.change_bot(first, name="bot-eins")
    assert refused.value.code == "too-many-renames"
    first.refresh_from_db()
    bots.change_bot(first, name="bot-uno", description="The same name is no rename.")
    DailyUse.objects.filter(kind="rename").update(used_at=a_day_ago())
    bots.change_bot(first, name="bot-eins")


def test_a_bot_keeps_its_last_former_names_and_older_ones_are_free(ada: User) -> None:
    made, _ = bots.create_bot(owner=ada, name="name-0", kind="remote")
    for number in range(1, KEPT_NAMES + 2):
        bots.change_bot(made, name=f"name-{number}")
    assert [bots.find_renamed(f"name-{n}") for n in (0, 1, KEPT_NAMES)] == [None, made, made]
    eve = User.objects.create_user("eve")
    with pytest.raises(ValidationError, match="name-1"):
        bots.create_bot(owner=eve, name="name-1", kind="remote")
    bots.create_bot(owner=eve, name="name-0", kind="remote")
    assert Bot.objects.filter(name="name-0", owner=eve).exists()


def test_deleting_bots_during_their_checks_makes_no_room_for_more_checks(
    ada: User, settings: Settings
) -> None:
    settings.MAX_BOTS_PER_DAY = settings.MAX_UPLOADS_PER_DAY = 100
    for number in range(MAX_CHECKING):
        bot, _ = bots.create_bot(owner=ada, name=f"bot-{number}", kind="hosted")
        bots.upload(bot=bot, data=SOURCE)
        if number % 2:
            bots.retire(bot, timezone.now())
        else:
            bots.remove(bot)
    last, _ = bots.create_bot(owner=ada, name="bot-last", kind="hosted")
    with pytest.raises(ValidationError) as refused:
        bots.upload(bot=last, data=SOURCE)
    assert refused.value.code == "too-many-uploads"
    over = timezone.now() - timedelta(seconds=settings.MAX_CHECK_SECONDS + 1)
    DailyUse.objects.filter(kind=DailyUse.Kind.CHECK).update(used_at=over)
    assert bots.upload(bot=last, data=SOURCE).state == "checking"
