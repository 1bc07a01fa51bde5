"""An application that refuses each request before it reads the body."""

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from config.whole_bodies import WholeBodies


def refuse(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer 401."""
    start_response("401 Unauthorized", [("Content-Length", "0")])
    return [b""]


whole = WholeBodies(refuse, max_bytes=2**20)
