"""The archive in S3: the real client, against a stand-in for the service in this process."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws
from pytest_django import Settings

from league import archive_files, play
from league.archive_files import ArchiveError
from league.archive_s3 import S3Archive
from league.models import Ladder, Match, RoundArchive
from league.ratings import recompute
from tests.api.exports import ladder as ladder
from tests.league.play.test_archiving import archive_all, exported

pytestmark = pytest.mark.django_db
BUCKET = "league-archive"


@pytest.fixture(autouse=True)
def bucket(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty bucket, which is the place of the archive."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    options = {"bucket_name": BUCKET, "location": "rounds", "region_name": "us-east-1"}
    place = {"BACKEND": "league.archive_s3.S3Archive", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"archive": place}
    settings.ARCHIVE_DAYS = 30
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        archive_files.forget()
        yield client
        archive_files.forget()


def names(client: Any) -> list[str]:
    return [each["Key"] for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def test_records_are_read_from_the_bucket_and_come_back(ladder: Ladder, bucket: Any) -> None:
    before = exported(ladder)
    assert archive_all().rounds == ladder.rounds.count()
    assert not Match.objects.exclude(packed_record=None).exists()
    assert names(bucket) == [
        f"rounds/{each.file}" for each in RoundArchive.objects.order_by("file")
    ]
    assert exported(ladder) == before
    assert recompute(ladder) == []
    for round_ in ladder.rounds.all():
        play.unarchive_round(round_.pk)
        assert play.archive_round(round_.pk) is not None
    assert len(names(bucket)) == ladder.rounds.count(), "the same file is written once"
    assert exported(ladder) == before


def test_a_file_that_is_missing_in_the_bucket_is_named_with_the_remedy(
    ladder: Ladder, bucket: Any
) -> None:
    archive_all()
    archived = RoundArchive.objects.earliest("pk")
    S3Archive(bucket_name=BUCKET, location="rounds", region_name="us-east-1").delete(archived.file)
    with pytest.raises(ArchiveError, match=f"{archived.file} is missing. Restore it"):
        archive_files.read(archived.file, archived.sha256)


def test_without_the_bucket_nothing_is_archived_and_the_run_says_why(
    ladder: Ladder, bucket: Any
) -> None:
    before = exported(ladder)
    bucket.delete_bucket(Bucket=BUCKET)
    run = archive_all()
    assert run.rounds == 0
    assert "can't be written" in run.faults[0]
    assert "NoSuchBucket" in run.faults[0]
    assert exported(ladder) == before


def test_a_storage_that_can_not_be_reached_is_a_fault_within_seconds() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    place = S3Archive(
        bucket_name=BUCKET, endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1"
    )
    began = time.monotonic()
    with pytest.raises(EndpointConnectionError):
        place.open("000000/round-1.jsonl.gz")
    assert time.monotonic() - began < 20, "botocore itself tries for minutes"
    config = place.connection.meta.client.meta.config
    assert config.retries["total_max_attempts"] * config.read_timeout <= 30
