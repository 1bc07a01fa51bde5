"""Marks the thorough tests, which plain `make test` leaves out to end within five minutes.

They start many processes, or play many matches or pages: these files take three quarters of the
time of all tests. `make test THOROUGH=1` and CI run them too, and PYTEST_ARGS chooses among all.
Something of each kind stays in `make test`: a journey, pages in a browser, bots in the sandbox, a
crash.

A new file of tests that takes more than about six seconds belongs here.
"""

import pytest

THOROUGH = (
    # Whole leagues, with bots that misbehave and processes that are killed.
    "tests/config/test_production.py",
    "tests/devserver/test_front.py",
    "tests/devserver/test_restore.py",
    "tests/devserver/test_servers.py",
    "tests/docker/test_image.py",
    "tests/docker/test_kubernetes.py",
    "tests/docker/test_upgrade.py",
    "tests/journeys/test_hosted.py",
    "tests/journeys/test_remote_bots.py",
    "tests/journeys/test_survival.py",
    "tests/journeys/test_up.py",
    # All pages and states, at three widths, in both themes.
    "tests/browser/test_all_pages.py",
    "tests/browser/test_analysis.py",
    "tests/browser/test_archived.py",
    "tests/browser/test_changes.py",
    "tests/browser/test_failures.py",
    "tests/browser/test_felt.py",
    "tests/browser/test_gallery.py",
    "tests/browser/test_learn.py",
    "tests/browser/test_live.py",
    "tests/browser/test_play.py",
    "tests/browser/test_play_order.py",
    "tests/browser/test_play_panel.py",
    "tests/browser/test_replay.py",
    "tests/browser/test_small_felt.py",
    "tests/browser/test_table_modules.py",
    "tests/browser/test_tournament.py",
    "tests/browser/test_wall.py",
    "tests/browser/test_watch.py",
    "tests/browser/test_weight.py",
    "tests/web/table/test_live.py",
    "tests/web/views/test_analyses.py",
    "tests/web/views/test_embeds.py",
    "tests/web/views/test_pictures.py",
    "tests/web/views/test_players.py",
    "tests/web/views/test_result_pictures.py",
    "tests/web/views/test_trials.py",
    # Each way to misbehave, in each tier of the sandbox.
    "tests/bots_sdk/sandbox/test_canary.py",
    "tests/bots_sdk/sandbox/test_faults.py",
    "tests/bots_sdk/sandbox/test_modules.py",
    "tests/bots_sdk/sandbox/test_numpy.py",
    "tests/bots_sdk/sandbox/test_playouts.py",
    "tests/bots_sdk/sandbox/test_session.py",
    "tests/bots_sdk/sandbox/test_tables.py",
    "tests/bots_sdk/sandbox/test_timing.py",
    "tests/bots_sdk/sandbox/test_zygotes.py",
    # Whole programs: starters that play, bots that are compiled, notebooks that train.
    "tests/bots_sdk/commands/test_ab.py",
    "tests/bots_sdk/commands/test_analysing.py",
    "tests/bots_sdk/commands/test_check.py",
    "tests/bots_sdk/commands/test_try.py",
    "tests/bots_sdk/environments/test_environments.py",
    "tests/bots_sdk/reference/test_reference.py",
    "tests/bots_sdk/test_notebook.py",
    "tests/bots_sdk/test_runner.py",
    "tests/bots_sdk/test_starters.py",
    "tests/bots_sdk/test_wheel.py",
    "tests/bots_sdk/wasm/",
    "tests/docs/test_remote_bot.py",
    "tests/docs/test_remote_bot_answers.py",
    # Each example of the schema, and calls that it generates.
    "tests/api/play/test_waiting.py",
    "tests/api/play/test_watching.py",
    "tests/api/test_examples.py",
    "tests/api/test_schema.py",
    "tests/api/test_standings.py",
    # Rounds of many bots, and crashes at each line.
    "tests/league/bots/test_playing.py",
    "tests/league/competitions/test_busy_workers.py",
    "tests/league/competitions/test_comparisons.py",
    "tests/league/competitions/test_entries.py",
    "tests/league/competitions/test_entry_windows.py",
    "tests/league/competitions/test_formats.py",
    "tests/league/competitions/test_owners_apart.py",
    "tests/league/competitions/test_placement.py",
    "tests/league/competitions/test_rank_progress.py",
    "tests/league/competitions/test_setting_aside.py",
    "tests/league/competitions/test_sharing_workers.py",
    "tests/league/moderation/test_blocks.py",
    "tests/league/moderation/test_replays.py",
    "tests/league/moderation/test_waiting_corrections.py",
    "tests/league/play/test_archive_s3.py",
    "tests/league/play/test_archiving.py",
    "tests/league/ratings/test_corrections.py",
    "tests/league/ratings/test_fair_play.py",
    "tests/league/ratings/test_hiding.py",
    "tests/league/ratings/test_interleaving.py",
    "tests/league/ratings/test_last_matches.py",
    "tests/league/ratings/test_noise.py",
    "tests/league/ratings/test_order_of_application.py",
    "tests/league/ratings/test_performance.py",
    "tests/league/ratings/test_ranked_from.py",
    "tests/league/ratings/test_standings.py",
    "tests/league/test_backups.py",
    # Statistics, and pairings of large fields.
    "tests/engine/analysis/test_match.py",
    "tests/engine/pairing/test_round_robin.py",
    "tests/engine/pairing/test_round_robin_events.py",
    "tests/engine/pairing/test_swiss.py",
    "tests/engine/rating/test_collusion.py",
    "tests/engine/rating/test_interleaving.py",
    "tests/engine/rating/test_large_fit.py",
    "tests/engine/rating/test_luck.py",
    "tests/engine/rating/test_performance.py",
    "tests/engine/rating/test_sprt.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker.

    Raises:
        UsageError: a file of the list is gone, so its tests may be elsewhere.
    """
    if gone := [path for path in THOROUGH if not (config.rootpath / path).exists()]:
        raise pytest.UsageError(f"tests/thorough.py names what is not there: {', '.join(gone)}")
    config.addinivalue_line("markers", "thorough: takes long; see tests/thorough.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the thorough tests, before ``-m`` chooses some."""
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)
