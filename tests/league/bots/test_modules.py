"""Uploaded WebAssembly bots: from the upload to a rated match whose timeouts repeat."""

import pytest
from django.core.exceptions import ValidationError

from bots_sdk.wasm.proving import fuel_of_moves
from engine.referee import TimeControl
from league import bots, play
from league.bots.qualifying import MatchSetting, WallLimit, play_qualifying_match
from league.models import Bot
from league.play import owner_reports
from tests.bots_sdk.wasm.modules import FIRST_MOVE, HI, late_after, module
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bot() -> Bot:
    return hosted_bot(owner())


def test_a_module_is_checked_and_plays_from_then_on(bot: Bot) -> None:
    said = "(call $log (i32.const 1024) (i32.const 2))"
    version = bots.upload(bot=bot, data=module(said + FIRST_MOVE))
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    bot.refresh_from_db()
    assert (version.state, version.reason) == ("ready", "")
    assert bot.current == version
    assert {match.game for match in version.qualifying.all()} == {"twelve-days", "partridge"}
    assert all(match.printed.startswith("hi\nhi\n") for match in version.qualifying.all())


def test_a_module_that_declares_a_game_is_checked_for_that_game_only(bot: Bot) -> None:
    data = module(FIRST_MOVE, more='(func (export "plays_partridge"))')
    version = bots.upload(bot=bot, data=data)
    assert bots.check_version(version.pk)
    assert [match.game for match in version.qualifying.all()] == ["partridge"]


def test_a_module_with_other_imports_is_refused_at_the_upload(bot: Bot) -> None:
    wasi = '(import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))'
    with pytest.raises(ValidationError, match="without WASI"):
        bots.upload(bot=bot, data=module(imports=wasi))
    assert not bot.versions.exists()


def test_a_module_that_makes_a_fault_is_refused_with_its_reason(bot: Bot) -> None:
    version = bots.upload(bot=bot, data=module(HI))
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "refused"
    assert "'hi'" in version.reason


def test_a_qualifying_match_counts_the_fuel_against_the_clock(bot: Bot) -> None:
    version = bots.upload(bot=bot, data=late_after(1))
    setting = MatchSetting("partridge", "eagle-short", 4, move_seconds=0.02, bank_seconds=0.01)
    match = play_qualifying_match(version, setting, WallLimit())
    assert not match.passed
    assert "timeout" in match.reason
    assert "used all its fuel, 3,000,000 units (0.03 s)" in match.reason


def test_the_fuel_of_a_played_match_is_computed_again_from_its_record() -> None:
    late, ada = late_after(2), owner()
    seated = [ready_bot(ada, late), ready_bot(owner(), FIRST), ready_bot(owner(), late)]
    match = play.open_unrated_match(
        game="twelve-days",
        rules="eight-nights",
        versions=small.versions(seated),
        move_seconds=0.02,
    )
    assert play.play_match(match.pk)
    match.refresh_from_db()
    record, clock = match.record, TimeControl(match.move_seconds, match.bank_seconds)
    for seat in (0, 2):
        proven = fuel_of_moves(record, seat, late, clock)
        timeouts = [fault.ply for fault in record.faults if fault.seat == seat][:3]
        assert timeouts
        assert [each.ply for each in proven if each.fault == "timeout"] == timeouts
    [report] = owner_reports.owner_report(match, ada)
    assert "used all its fuel" in report["faults"][0]["reason"]
