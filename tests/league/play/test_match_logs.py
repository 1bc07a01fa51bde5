"""The cache of logs that each process keeps."""

from league.play import match_logs
from tests.league.play.test_live_match import LOG, MATCH


def test_a_match_with_a_used_id_and_another_deal_gets_no_cached_log() -> None:
    logs = match_logs.LogCache()
    logs.put(MATCH, LOG)
    restored = MATCH._replace(deal_seed=bytes([1]) * 32)
    assert logs.get(MATCH) is LOG
    assert logs.get(restored) is None


def test_a_match_that_is_played_again_gets_no_cached_log() -> None:
    logs = match_logs.LogCache()
    logs.put(MATCH, LOG)
    assert logs.get(MATCH._replace(attempts=2)) is None
