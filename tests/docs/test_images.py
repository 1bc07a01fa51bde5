"""The pictures of the rules pages are up to date, readable alone, and show the example matches."""

import importlib.util
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.record import replay, verify
from tests.docs.documents import DOCS, example

IMAGES = DOCS / "images"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = IMAGES / "make_images.py"
    spec = importlib.util.spec_from_file_location("make_images", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:  # dataclasses look their module up
        patch.setitem(sys.modules, "make_images", module)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn(script: ModuleType) -> Mapping[str, str]:
    pictures: dict[str, str] = script.draw_all()
    return pictures


def test_the_pictures_are_what_the_script_draws(drawn: Mapping[str, str]) -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in IMAGES.glob("*.svg")}
    assert stored == drawn, "run: python docs/images/make_images.py"


def test_a_picture_has_a_title_and_a_background_and_refers_to_nothing_outside(
    drawn: Mapping[str, str],
) -> None:
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        title = root.find(f"{SVG}title")
        assert title is not None, name
        assert title.text, name
        view = root.get("viewBox", "").split()
        background = root.find(f"{SVG}rect")
        assert background is not None, name
        assert [background.get("width"), background.get("height")] == view[2:], name
        targets = re.findall(r"""(?:href=|url\()["']?([^"')]+)""", svg)
        ids = {element.get("id") for element in root.iter()}
        assert {target[0] for target in targets} <= {"#"}, name
        assert {target[1:] for target in targets} <= ids, name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", svg), name


def test_every_picture_is_shown_with_a_text_in_its_place() -> None:
    shown: dict[str, str] = {}
    for page in (DOCS / "rules").glob("*.md"):
        for text, name in re.findall(r"!\[(.*)\]\(\.\./images/(.*)\)", page.read_text("utf-8")):
            assert text, page
            shown[name] = text
    assert set(shown) == {path.name for path in IMAGES.glob("*.svg")}


def fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def test_the_pictures_of_days_show_the_days_of_the_match(script: ModuleType) -> None:
    end = verify(example("twelve-days"))
    assert isinstance(end, TwelveDays)
    assert end.history[0].gives == script.GIVES
    assert end.seats == len(script.NAMES)
    for day, played in zip(script.DAYS, end.history, strict=False):
        assert fields(day).items() <= played._asdict().items()


def test_the_pictures_of_tricks_show_the_tricks_of_the_match(script: ModuleType) -> None:
    history = replay(example("partridge"), 20).observe(0)["history"]
    for trick in script.TRICKS:
        played = history[trick.number - 1]
        actions = [{"seat": action.seat, "cards": [*action.cards]} for action in trick.actions]
        assert actions == played["actions"]
        assert trick.winner == played["winner"]
        assert list(trick.returned) == played["returned"]


def test_the_picture_of_the_rounds_end_shows_the_hands_that_were_left(script: ModuleType) -> None:
    state = replay(example("partridge"), 23)
    assert isinstance(state, Partridge)
    left = [state.observe(seat)["hand"] for seat in range(4)]
    assert [list(cards) for cards in script.LEFT] == left
    after = replay(example("partridge"), 24).observe(0)["gifts"]
    gave = [seat for seat, gifts in enumerate(after) if gifts < state.gifts[seat]]
    assert [seat for seat, note in enumerate(script.LEFT_NOTES) if "gives" in note] == gave
