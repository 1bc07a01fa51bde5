"""The editor Ace, from the files of the package ``django-ace`` (BSD licence).

The site's static files have all of the package's languages and themes, 12 MB; a page needs three
files. They are compressed once a process.
"""

import gzip
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_FILES = {"ace.js": "ace.js", "mode-python.js": "mode-python.js", "ace.css": "css/ace.css"}
_IMAGE = re.compile(r"main-\d{1,2}\.(?:png|svg)", re.ASCII)
_DAY = 86_400


def ace_file(request: HttpRequest, name: str) -> HttpResponse:
    """Return a file of the editor by its name.

    Raises:
        Http404: the editor needs no such file.
    """
    path = _FILES.get(name) or (f"css/{name}" if _IMAGE.fullmatch(name) else None)
    if path is None or not (_root() / path).is_file():
        raise Http404("The editor has no such file.")
    plain, packed = _read(path)
    compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(packed if compressed else plain, _TYPES[Path(path).suffix])
    if compressed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    response["Cache-Control"] = f"public, max-age={_DAY}"
    return response


@cache
def _read(path: str) -> tuple[bytes, bytes]:
    data = (_root() / path).read_bytes()
    return data, gzip.compress(data, mtime=0)


@cache
def _root() -> Path:
    found = find_spec("django_ace")
    assert found is not None, "django-ace is not installed"
    assert found.origin is not None, "django-ace is a package with an __init__.py"
    return Path(found.origin).parent / "static" / "django_ace" / "ace"
