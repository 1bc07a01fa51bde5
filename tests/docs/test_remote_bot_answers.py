"""The bots of docs/remote-bot.md, with answers of a proxy or an odd server."""

from pathlib import Path

import pytest

from tests.docs.listings import TOOLS, why_not
from tests.docs.test_remote_bot import Answer, run_bot, scripted


@pytest.mark.parametrize("value", ["Sun, 29 Nov 2026 08:00:00 GMT", "-1", "", "0", "²"])
@pytest.mark.parametrize("language", TOOLS)
def test_a_bot_waits_its_own_pause_after_an_odd_retry_after(
    language: str, value: str, tmp_path: Path
) -> None:
    if reason := why_not(language):
        pytest.skip(reason)
    script = [Answer(503, None, (("Retry-After", value),)), Answer(401, {"detail": "end"})]
    with scripted(script) as (address, sent):
        done = run_bot(language, tmp_path, TWELFTH_NIGHT_URL=f"{address}/", BOT_TOKEN="tn_b_1")
    assert len(sent) == 2, done.stderr
    assert sent[1].at - sent[0].at > 0.4


@pytest.mark.parametrize("language", TOOLS)
@pytest.mark.parametrize("body", [None, b"<p>\xff</p>", {"message": "no way"}])
def test_a_bot_prints_the_status_of_a_refusal_without_detail(
    language: str, body: object, tmp_path: Path
) -> None:
    if reason := why_not(language):
        pytest.skip(reason)
    with scripted([Answer(403, body)]) as (address, _):
        done = run_bot(language, tmp_path, TWELFTH_NIGHT_URL=f"{address}/", BOT_TOKEN="tn_b_1")
    assert done.returncode == 1
    assert " 403" in " " + done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
