"""The examples as curl and as Python: each sends the request whose answer is stored."""

import json
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from api.examples.samples import ADDRESS, FILE, path_of
from api.examples.stored import Example, stored_examples
from api.schema import openapi_schema

VARIABLES = {"OWNER_TOKEN": "owner", "BOT_TOKEN": "bot", "ORGANISER_TOKEN": "organiser"}


class Sent(NamedTuple):
    """A request that a sample sent; its body is JSON, or the bytes of a form."""

    method: str
    path: str
    token: str
    body: Any


class Echo:
    """A server that keeps the requests that it gets."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        kept = self.sent

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                is_json = self.headers.get("Content-Type") == "application/json"
                body = json.loads(data) if is_json else data or None
                kept.append(
                    Sent(self.command, self.path, self.headers.get("Authorization", ""), body)
                )
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the base's names

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.close()


def samples(language: str) -> Iterator[tuple[str, str, str, Example]]:
    """Yield the code in a language, method, path and example of each call that has one."""
    for path, methods in openapi_schema()["paths"].items():
        for method, operation in methods.items():
            example = stored_examples().get(operation["operationId"])
            if example is not None:
                [code] = [
                    each["source"]
                    for each in operation["x-codeSamples"]
                    if each["label"] == language
                ]
                yield code, method.upper(), path, example


def check(sent: Sent, method: str, path: str, example: Example) -> None:
    """Check that a request is the one of an example."""
    assert (sent.method, sent.path) == (method, path_of(path, example))
    assert sent.token == ("" if example.token == "none" else f"Bearer {example.token}")
    if example.form:
        for text in (*example.form, *example.form.values()):
            assert text.encode() in sent.body
    else:
        assert sent.body == example.body


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_each_command_of_curl_sends_the_request_of_its_example(echo: Echo, tmp_path: Path) -> None:
    shown = list(samples("curl"))
    upload = stored_examples()["versions_upload"]
    (tmp_path / FILE).write_text(upload.form["source"])
    script = "\n".join(code.replace(ADDRESS, echo.address) for code, *_ in shown)
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env={**os.environ, **VARIABLES},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for sent, (_, method, path, example) in zip(echo.sent, shown, strict=True):
        check(sent, method, path, example)


def test_each_sample_of_python_sends_the_request_of_its_example(
    echo: Echo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = list(samples("Python"))
    (tmp_path / FILE).write_text(stored_examples()["versions_upload"].form["source"])
    monkeypatch.chdir(tmp_path)
    # To load the certificates for each request takes a quarter of a second.
    monkeypatch.setattr(
        ssl, "create_default_context", lambda **_: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    for code, *_ in shown:
        exec(compile(code.replace(ADDRESS, echo.address), "sample", "exec"), {})
    for sent, (_, method, path, example) in zip(echo.sent, shown, strict=True):
        check(sent, method, path, example)
    assert len(capsys.readouterr().out.splitlines()) >= len(shown)
