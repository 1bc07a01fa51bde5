"""The checks of settings, which forms, API, admin and tick share."""

import math
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games.catalogue import GAMES
from engine.rating.elo import KSchedule
from league.competitions import settings_checks
from league.competitions.settings_checks import (
    first_start_problems,
    ladder_problems,
    schedule_problems,
    time_problems,
    tournament_problems,
)
from league.models import Ladder, Schedule, Tournament
from league.models.settings_problems import values_of
from league.ratings.match_results import k_schedule

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

LADDER = values_of(
    Ladder(slug="quick", title="Quick", game="twelve-days", rules="calliope", seats=4)
)
TOURNAMENT = values_of(
    Tournament(title="Cup", entries_open_at=NOW, starts_at=NOW + DAY, seed=bytes(32))
)
SCHEDULE = values_of(Schedule(title="Cup", every_hours=1, first_at=NOW))

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.recursive(
        st.one_of(st.integers(), st.text(max_size=3), st.floats()),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*KSchedule.__dataclass_fields__, "k"]), inner)
        ),
        max_leaves=6,
    ),
)


def test_defaults_have_no_problem() -> None:
    assert ladder_problems(LADDER) == []
    assert tournament_problems(TOURNAMENT) == []
    assert schedule_problems(SCHEDULE) == []


@pytest.mark.parametrize("game", GAMES)
def test_every_preset_is_allowed_with_its_seats_and_no_others(game: str) -> None:
    for preset in GAMES[game].presets.values():
        for seats in range(14):
            found = ladder_problems({**LADDER, "game": game, "rules": preset.name, "seats": seats})
            assert [each.field for each in found] == (
                [] if preset.min_seats <= seats <= preset.max_seats else ["seats"]
            )


CHECKED = (
    *("slug", "title", "game", "rules", "seats", "move_seconds", "bank_seconds", "k_schedule"),
    *("round_pause_seconds", "idle_pause_seconds", "settled_blocks", "max_blocks_per_round"),
    *("random_percent", "idle_days", "ranked_from"),
)


@given(st.sampled_from(CHECKED), anything)
def test_any_value_of_a_ladder_is_either_refused_by_field_or_can_be_used(
    field: str, value: Any
) -> None:
    found = ladder_problems({**LADDER, field: value})
    assert {each.field for each in found} <= {field, "rules", "seats"}
    if found:
        assert all(each.text.endswith(".") and len(each.text) < 400 for each in found)
        return
    if field == "k_schedule":
        schedule = k_schedule(value)
        assert all(1 <= schedule.k(blocks) <= 1000 for blocks in (0, 5, 10, 20, 10**6))
    elif isinstance(value, float):
        assert math.isfinite(value)
        assert value >= 0


@pytest.mark.parametrize("value", [-5, 0, math.inf, -math.inf, math.nan, 1e300, True, "1", None])
def test_a_clock_that_cannot_run_is_refused_with_value_and_limits(value: Any) -> None:
    [problem] = ladder_problems({**LADDER, "move_seconds": value})
    assert problem.field == "move_seconds"
    assert "use a number from 0.01 to 3600" in problem.text
    assert str(value) in problem.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "league"),
        ("swiss_rounds", 0),
        ("swiss_rounds", 10**9),
        ("blocks_per_table", 0),
        ("max_tables", 0),
        ("max_tables", 10**9),
        ("extra_blocks", -1),
        ("title", " "),
        ("title", "a\nb"),
        ("title", 81 * "x"),
    ],
)
def test_a_tournament_that_cannot_be_played_is_refused(field: str, value: Any) -> None:
    settings = {**TOURNAMENT, field: value}
    [problem] = tournament_problems(settings)
    assert problem.field == field


@pytest.mark.parametrize(
    ("opens_at", "starts_at", "field"),
    [
        (NOW - DAY, NOW, "starts_at"),
        (NOW - DAY, NOW - timedelta(seconds=1), "starts_at"),
        (NOW, NOW + 800 * DAY, "starts_at"),
        (NOW, datetime(9999, 12, 31, tzinfo=UTC), "starts_at"),
        (NOW + DAY, NOW + DAY, "entries_open_at"),
        (NOW + 2 * DAY, NOW + DAY, "entries_open_at"),
        (NOW - 4000 * DAY, NOW + DAY, "entries_open_at"),
    ],
)
def test_times_that_no_bot_could_use_are_refused(
    opens_at: datetime, starts_at: datetime, field: str
) -> None:
    [problem] = time_problems({"entries_open_at": opens_at, "starts_at": starts_at}, NOW)
    assert problem.field == field
    assert "UTC" in problem.text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"every_hours": 0}, "every_hours"),
        ({"every_hours": 10**9}, "every_hours"),
        ({"weekday": 1}, "every_hours"),
        ({"every_hours": None}, "weekday"),
        ({"every_hours": None, "weekday": 7, "time_of_day": time(18)}, "weekday"),
        ({"every_hours": None, "weekday": 1, "time_of_day": "18:00"}, "time_of_day"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"time_zone": "../UTC"}, "time_zone"),
        ({"entry_hours": 0}, "entry_hours"),
        ({"first_at": datetime(1, 1, 1, tzinfo=UTC)}, "first_at"),
    ],
)
def test_a_schedule_that_never_starts_is_refused(changes: dict[str, Any], field: str) -> None:
    [problem] = schedule_problems({**SCHEDULE, **changes})
    assert problem.field == field


def test_a_schedule_that_begins_in_years_is_refused() -> None:
    assert first_start_problems({**SCHEDULE, "first_at": NOW + 800 * DAY}, NOW)
    assert not first_start_problems({**SCHEDULE, "first_at": NOW + 700 * DAY}, NOW)


def test_each_field_of_event_settings_is_checked() -> None:
    for name in settings_checks.EVENT_SETTINGS:
        if name not in ("late_entry", "house_bots", "fill_in"):
            assert settings_checks.event_problems({**TOURNAMENT, name: "x"})
