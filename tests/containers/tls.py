"""TLS as docs/operate.md describes it: a domain, certificates of the front, another proxy."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from http.client import HTTPConnection
from typing import Any, NamedTuple

from tests.containers.engine import ROOT, CommandError, run
from tests.containers.league import League, wait_for

DOMAIN = "league.localhost"
"""No authority of the world signs such a name, so Caddy signs it itself."""
_ROOT = "/var/lib/league/caddy/pki/authorities/local/root.crt"
_PROXY = 200
"""The last part of the address of a proxy before the front."""
_DOORS = "from league.models import Door; print([door.fault for door in Door.objects.all()])"


def use_tls(league: League) -> None:
    """Change the settings of a league to those with a domain; the next ``up`` takes them."""
    league.files.append("tests/containers/tls.yaml")
    league.variables |= {
        "DOMAIN": DOMAIN,
        "TRUSTED_PROXIES": _address(league, _PROXY),
        # So few that each request is counted alone, and so long that hardly a check meets the next.
        "RATE_GENERAL": "600/hour",
    }


def get(
    league: League, path: str, trust: ssl.SSLContext | None = None, domain: str = DOMAIN
) -> Any:
    """Return the JSON at a path, as soon as the status is 200.

    Args:
        league: the league.
        path: of the call.
        trust: certificates to trust; None: the front's own authority.
        domain: the name that the certificate must have.
    """
    trust = trust or _trust(league)

    def ready() -> Answer | None:
        try:
            answer = _get(league, "HTTPS_PORT", path, trust, domain)
        except OSError:  # there is no certificate yet
            return None
        return answer if answer.ok else None

    answer = wait_for(ready, lambda: f"https GET {path} of {domain}")
    return json.loads(answer.body)


def check_pages(league: League) -> None:
    """Check what browsers get on the published ports.

    Raises:
        CommandError: an answer is not as it should be.
    """
    plain = _get(league, "HTTP_PORT", "/ladders/?page=2")
    _expect("the redirect", plain.status, 308)
    _expect("its place", plain.headers["Location"], f"https://{DOMAIN}/ladders/?page=2")
    trust = _trust(league)
    for path in ("/", "/api/v1/ladders"):
        answer = _get(league, "HTTPS_PORT", path, trust)
        _expect(f"the status of {path}", answer.status, 200)
        hsts = "max-age=31536000; includeSubDomains"
        _expect("HSTS", answer.headers["Strict-Transport-Security"], hsts)
    _run_client(league, 201, "sign_in")


def check_calls(league: League) -> None:
    """Check that bots play, that limits count addresses, and that probes reach the front.

    Raises:
        CommandError: something differs.
    """
    _run_client(league, 201, "play")
    wait_for(
        lambda: league.manage("shell", "--command", _DOORS).splitlines()[-1] == "['', '']",
        lambda: "the probes of the clock do not reach the front",
    )
    direct = f"https://{DOMAIN}"
    first, second = (_budget(league, 202, direct) for _ in range(2))
    # Only a trusted proxy says for whom a request is.
    forged = _budget(league, 202, direct, "203.0.113.5")
    _expect("requests left to one address", [second, forged], [first - 1, first - 2])
    _expect("requests left to another address", _budget(league, 203, direct), first)
    with _proxy(league) as outer:
        forwarded = [_budget(league, last, outer) for last in (202, 203, 204)]
        _expect("requests left behind a proxy", forwarded, [first - 3, first - 1, first])


class Answer(NamedTuple):
    """An answer of the front."""

    status: int
    headers: Message
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the status is 200."""
        return self.status == 200


def _trust(league: League) -> ssl.SSLContext:
    """Return certificates to trust: the front's own authority alone."""
    return ssl.create_default_context(cadata=league.compose("exec", "-T", "front", "cat", _ROOT))


def _get(
    league: League,
    port: str,
    path: str,
    trust: ssl.SSLContext | None = None,
    domain: str = DOMAIN,
) -> Answer:
    """Send a request to a published port, as for the domain."""
    connection = HTTPConnection(domain, timeout=30)
    plain = socket.create_connection(("127.0.0.1", int(league.variables[port])), 30)
    connection.sock = trust.wrap_socket(plain, server_hostname=domain) if trust else plain
    with closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise CommandError(f"{what}: {found!r}, and not {expected!r}")


def _budget(league: League, last: int, url: str, *forwarded_for: str) -> int:
    return int(_run_client(league, last, "budget", url, *forwarded_for))


def _run_client(league: League, last: int, check: str, url: str = "", *words: str) -> str:
    """Run a check of `tests.containers.tls_client` in a container with its own address."""
    client = ("python", "-m", "tests.containers.tls_client", check, url or f"https://{DOMAIN}")
    return run("docker", "run", "--rm", *_beside(league, last), *client, *words)


def _beside(league: League, last: int) -> tuple[str, ...]:
    """Return the options, and the image, of a container that trusts the front's authority."""
    return (
        *("--network", f"{league.name}_default", "--ip", _address(league, last)),
        *("--volume", f"{ROOT / 'tests'}:/app/tests:ro"),
        *("--volume", f"{league.name}_front:/var/lib/league:ro"),
        *("--env", f"SSL_CERT_FILE={_ROOT}"),
        league.variables["LEAGUE_IMAGE"],
    )


@contextmanager
def _proxy(league: League) -> Iterator[str]:
    """Run another proxy before the front; yield its URL."""
    name = f"{league.name}-proxy"
    address = f"http://{_address(league, _PROXY)}:8080"
    caddy = ("caddy", "reverse-proxy", "--from", address, "--to", f"https://{DOMAIN}")
    # As if its clients used TLS.
    headers = ("--change-host-header", "--header-up", "X-Forwarded-Proto: https")
    run("docker", "run", "--detach", "--name", name, *_beside(league, _PROXY), *caddy, *headers)
    try:
        yield address
    finally:
        run("docker", "rm", "--force", name)


def _address(league: League, last: int) -> str:
    return f"{league.variables['SUBNET'].rpartition('.')[0]}.{last}"
