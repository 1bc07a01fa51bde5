"""The archive in an object storage: its settings are those that docs/operate.md shows."""

import json
import re

from tests.containers import engine
from tests.containers.engine import CommandError
from tests.containers.league import League

_STORE = "http://s3:5000"
_BUCKET = "league-archive"
_MAKE_BUCKET = f"""
import boto3
boto3.client("s3", endpoint_url="{_STORE}").create_bucket(Bucket="{_BUCKET}")
"""
_AGE = """
from datetime import timedelta
from django.db.models import F
from league.models import Round
Round.objects.applied().update(applied_at=F("applied_at") - timedelta(days=40))
"""
_FIND = """
from league.models import Match
print(Match.objects.filter(packed_record=None, block__round__archive__isnull=False).first().pk)
"""


def use_storage(league: League) -> None:
    """Start an empty storage, and let the commands and parts that start from now on use it."""
    league.files.append("tests/containers/s3.yaml")
    options = {"bucket_name": _BUCKET, "region_name": "us-east-1", "endpoint_url": _STORE}
    league.variables |= {
        "STORE_IMAGE": engine.store_image(league.variables["BASE_IMAGE"]),
        "AWS_ACCESS_KEY_ID": "a-key",
        "AWS_SECRET_ACCESS_KEY": "a-secret",
        "ARCHIVE_DAYS": "30",
        "ARCHIVE_STORAGE": "league.archive_s3.S3Archive",
        "ARCHIVE_STORAGE_OPTIONS": json.dumps(options),
    }
    make_bucket(league)


def make_bucket(league: League) -> None:
    """Start the storage if it does not run, and make the bucket."""
    league.compose("up", "--detach", "--wait", "s3")
    league.compose("run", "--rm", "--no-deps", "backup", "python", "-c", _MAKE_BUCKET)


def move_all(league: League) -> int:
    """Archive all rounds, as if they were 40 days old; return the id of an archived match.

    Raises:
        CommandError: a round stays, or a file has a fault.
    """
    league.manage("shell", "--command", _AGE)
    said = league.manage("archive")
    if not re.search(r"\b[1-9]\d* rounds? were archived, 0 still wait\.", said):
        raise CommandError(said)
    league.manage("archive", "--check")
    return int(league.manage("shell", "--command", _FIND).split()[-1])
