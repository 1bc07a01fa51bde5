"""``Idempotency-Key``: a creating request with a key runs once, and its repetitions get its answer.

`league.accounts.repetitions` stores the answers.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import token_of
from api.problems import ProblemError
from api.renderers import Encoder
from league.accounts import repetitions, throttles
from league.models import FirstAnswer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
"""The header of a repeated answer."""
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_PURPOSE = "api.idempotency.request"
_RETRY_SECONDS = 2


def answer_once(key: str, answer: Callable[[], Response], request: Request) -> Response:
    """Return the answer to a request, running it only if the client has not sent this key before.

    Args:
        key: the header.
        answer: runs the request.
        request: of any client; keys of different clients are separate. Without a token the client
            is the address.

    Raises:
        ProblemError: ``invalid``: the key is malformed. ``idempotency-key-reused``: it was sent
            with another request. ``idempotency-key-in-use``: the first request runs now.
            ``idempotency-key-spent``: the first answer's token was revoked or replaced.
    """
    if not _KEY.fullmatch(key):
        message = "Must have 1 to 255 ASCII characters, without spaces."
        raise ProblemError("invalid", errors={HEADER: [message]})

    def run() -> FirstAnswer:
        response = answer()
        body = json.loads(json.dumps(response.data, cls=Encoder))
        # Without percent escapes: they make a name in Cyrillic letters six times as long.
        location = unquote(response.get("Location", ""))
        return FirstAnswer(status=response.status_code, location=location, body=body)

    token = token_of(request)
    client = (
        throttles.client_by_token(token) if token else throttles.client_by_request(request._request)
    )
    try:
        row, text, is_repeated = repetitions.answer_once(
            client=client,
            key=key,
            fingerprint=_fingerprint(request),
            answer=run,
        )
    except repetitions.KeyReusedError:
        raise ProblemError("idempotency-key-reused") from None
    except repetitions.InProgressError:
        retry = {"Retry-After": str(_RETRY_SECONDS)}
        raise ProblemError("idempotency-key-in-use", headers=retry) from None
    except repetitions.TokenGoneError:
        raise ProblemError("idempotency-key-spent") from None
    body = row.body if text is None else {**row.body, "token": text}
    headers = {"Location": quote(unquote(row.location))} if row.location else {}
    if is_repeated:
        headers[REPLAYED] = "true"
    return Response(body, row.status, headers=headers)


def _fingerprint(request: Request) -> str:
    """Return a hash of method, address and body; it is keyed, as a body can have a password."""
    parts = [request.method, request.get_full_path(), *_parts(request.data)]
    return salted_hmac(_PURPOSE, json.dumps(parts), algorithm="sha256").hexdigest()


def _parts(data: Any) -> Iterator[Any]:
    if not isinstance(data, QueryDict):
        yield json.dumps(data, sort_keys=True)
        return
    for name, values in sorted(data.lists()):
        for value in values:
            yield name, _digest(value) if isinstance(value, UploadedFile) else value


def _digest(file: "UploadedFile[Any]") -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
