"""Repeated requests: with an ``Idempotency-Key`` a request runs once, however often it is sent.

The first answer is stored in the transaction of the request's own changes. So after a crash either
both are there or neither, and a repetition gets the answer or runs the request.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from league.accounts.tokens import find_token, renew
from league.models import FirstAnswer

KEPT_FOR = timedelta(hours=24)
_WAIT_SECONDS = 5
"""How long a repetition waits for a first request that still runs."""


class KeyReusedError(Exception):
    """The key was sent before with another request."""


class InProgressError(Exception):
    """The first request with the key still runs."""


class TokenGoneError(Exception):
    """The token of the first answer has been revoked or replaced meanwhile."""


class _TakenError(Exception):
    """There is an answer for the key."""


def answer_once(
    *, client: str, key: str, fingerprint: str, answer: Callable[[], FirstAnswer]
) -> tuple[FirstAnswer, str | None, bool]:
    """Run a request unless the client has sent it before with this key.

    Args:
        client: whose keys are separate from other clients' keys.
        key: the header ``Idempotency-Key``.
        fingerprint: of the request; equal for repetitions.
        answer: runs the request, and returns its answer with the text of a token in
            ``body["token"]``, if there is one. An exception of it leaves nothing behind.

    Returns:
        The answer, the text of its token, and whether it is repeated. A repeated answer has a new
        token, and the token that the client got before does not work any more.

    Raises:
        KeyReusedError, InProgressError, TokenGoneError
    """
    now = timezone.now()
    FirstAnswer.objects.filter(client=client, key=key, created_at__lte=now - KEPT_FOR).delete()
    try:
        with transaction.atomic():
            row = _take(client, key, fingerprint)
            given = answer()
            text = given.body.pop("token", None)
            row.status, row.location, row.body = given.status, given.location, given.body
            row.has_token = text is not None
            row.token = find_token(text, is_use=False) if text is not None else None
            row.save()
            return row, text, False
    except _TakenError:
        return _repeated(client, key, fingerprint)


def sweep(now: datetime) -> int:
    """Delete the answers that are older than `KEPT_FOR`; return their number."""
    return FirstAnswer.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]


def _take(client: str, key: str, fingerprint: str) -> FirstAnswer:
    """Store the key; wait for a request with the same key that runs now."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {_WAIT_SECONDS * 1000:.0f}")
            row = FirstAnswer.objects.create(client=client, key=key, fingerprint=fingerprint)
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
            return row
    except IntegrityError:
        raise _TakenError from None
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):  # its message is in the server's language
            raise InProgressError from None
        raise


def _repeated(client: str, key: str, fingerprint: str) -> tuple[FirstAnswer, str | None, bool]:
    with transaction.atomic():
        row = FirstAnswer.objects.select_for_update(of=("self",)).get(client=client, key=key)
        if row.fingerprint != fingerprint:
            raise KeyReusedError
        if not row.has_token:
            return row, None, True
        if row.token is None:
            raise TokenGoneError
        return row, renew(row.token), True
