"""Sentences that the command line shares with the pages and the API are the same in its help."""

import pytest

from bots_sdk import verdicts
from bots_sdk.commands import analysing, challenging, comparing, playing, trying
from bots_sdk.explanations import BLOCK, ELO, WIN_SHARE
from engine.faults import count_faults, fault_noun, late
from engine.rating.sprt import Decision, Estimate, Plan

PLAN = Plan(seats=4)


def plain(text: str | None) -> str:
    return " ".join((text or "").split())


def test_the_help_of_ab_has_the_sentences_of_the_page_of_a_comparison() -> None:
    shown = plain(comparing.ab.__doc__)
    for sentence in (
        verdicts.SWAP_BLOCK,
        verdicts.claims(PLAN),
        verdicts.rule(PLAN),
        verdicts.SMALL_EDITS,
        verdicts.ERROR_RATES,
    ):
        assert sentence in shown


def test_each_help_explains_a_word_by_the_same_sentence() -> None:
    for command in (playing.enter, challenging.challenge, trying.try_bot):
        assert BLOCK in plain(command.__doc__)
    for other in (trying.try_bot, comparing.ab, analysing.analyse_match):
        assert WIN_SHARE in plain(other.__doc__)
    assert ELO in plain(trying.try_bot.__doc__)


@pytest.mark.parametrize("verdict", list(Decision))
def test_each_verdict_has_a_meaning_with_both_versions(verdict: Decision) -> None:
    text = verdicts.meaning(verdict, "version 3", "version 2", 300, PLAN)
    assert "300 swap blocks" in text
    assert verdict is Decision.NO_DIFFERENCE or ("version 3" in text and "version 2" in text)


def test_a_version_looks_stronger_or_weaker_only_beyond_its_error_bar() -> None:
    assert verdicts.looks("new.py", Estimate(30, 1, 60, 0.99)) == "new.py looks stronger so far"
    assert verdicts.looks("new.py", Estimate(-30, -60, -1, 0.01)) == "new.py looks weaker so far"
    assert verdicts.looks("new.py", Estimate(0, -9, 9, 0.5)) is None
    assert verdicts.looks("new.py", None) is None


def test_faults_are_counted_by_their_nouns() -> None:
    assert count_faults({"crash": 2, "illegal": 1}) == "2 crashes, 1 illegal move"
    assert fault_noun("timeout", 3) == "timeouts"
    assert fault_noun("new kind") == "new kind"
    assert late(1.5, 1) == "it answered after 1.500 s, but it had only 1 s"
