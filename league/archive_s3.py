"""The archive in S3, or in another object storage that understands its calls.

``ARCHIVE_STORAGE=league.archive_s3.S3Archive`` chooses it. It needs django-storages and boto3,
which are not among the packages of every league: requirements/s3.txt has them.
"""

from typing import Any

from botocore.config import Config
from storages.backends.s3 import S3Storage

_CONNECT_SECONDS = 3
_READ_SECONDS = 10
_ATTEMPTS = 3


class S3Archive(S3Storage):
    """A bucket. Its options are those of `S3Storage`.

    A page that shows an archived match waits for the bucket, so a call ends within half a minute.
    botocore itself tries for minutes.
    """

    client_config: Config

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config = self.client_config.merge(
            Config(
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_READ_SECONDS,
                retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
                # Other storages do not know the checksums that newer versions add by themselves.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            )
        )
