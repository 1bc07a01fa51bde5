"""Which queue each task goes to, and which tasks beat sends, with the pause in seconds."""

from typing import Any

from celery.schedules import crontab

TASK_ROUTES = {
    "league.tasks.play_match": {"queue": "play"},
    "league.tasks.analyse_match": {"queue": "analysis"},
    "league.tasks.analyse_between_matches": {"queue": "play"},
    "league.tasks.check_version": {"queue": "checks"},
    "league.tasks.try_bot": {"queue": "trials"},
    "league.tasks.prove_sandbox": {"queue": "play"},
    "league.tasks.play_house_turns": {"queue": "seats"},
    "league.tasks.tick": {"queue": "clock"},
    "league.tasks.upkeep": {"queue": "clock"},
    # These read all records or results of a ladder, so one may take hours.
    "league.tasks.fit_performance": {"queue": "ratings"},
    "league.tasks.count_luck": {"queue": "ratings"},
    "league.tasks.correct_ladder": {"queue": "ratings"},
    "league.tasks.check_ladder": {"queue": "ratings"},
    "league.tasks.archive_rounds": {"queue": "ratings"},
}
BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # A tick that no worker starts in time is dropped: the next tick does its work.
    "tick": {
        "task": "league.tasks.tick",
        "schedule": 1.0,
        "options": {"expires": 5},
    },
    "upkeep": {
        "task": "league.tasks.upkeep",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    # A worker also proves its sandbox when it needs it; this is for workers that play no match.
    "prove-sandbox": {
        "task": "league.tasks.prove_sandbox",
        "schedule": 300.0,
        "options": {"expires": 60},
    },
    # Each search reads the matches of a whole day.
    "find-highlights": {
        "task": "league.tasks.find_highlights",
        "schedule": 300.0,
        "options": {"expires": 60},
    },
    "write-feed": {
        "task": "league.tasks.write_feed",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "sweep": {"task": "league.tasks.sweep", "schedule": crontab(minute="17")},
    "remove-old-output": {
        "task": "league.tasks.remove_old_output",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    "archive-rounds": {
        "task": "league.tasks.archive_rounds",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    "check-ratings": {
        "task": "league.tasks.check_ratings",
        "schedule": crontab(hour="3", minute="30"),
    },
}
_LONG = 3600
REST_SECONDS = {
    "tick": 30,
    "upkeep": 45,
    "prove-sandbox": _LONG,
    "find-highlights": _LONG,
    "write-feed": _LONG,
    "remove-old-output": _LONG,
    "archive-rounds": _LONG,
}
"""While the league is at rest, beat queues these entries once in so many seconds, or up to
`config.beat.REST_PAUSE_SECONDS` later.

For upkeep it is below the longest time that upkeep counts as open for entries, 60 s. For tasks of
workers that sleep at rest (`devserver/sleep.py`) it is long.
"""
