"""``make up``: the whole league on one machine, under one supervisor and at one address.

It starts PostgreSQL and Valkey from wheels, unless DATABASE_URL or REDIS_URL name other servers. It
migrates the database and creates a new league. Then it runs web, gateway and workers, one of them
with beat, and Caddy in front of them. All but the servers and Caddy are forked from one process,
which has loaded the code.
"""

import argparse
import asyncio
import os
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from devserver.addresses import EVERYWHERE, address, allowed_hosts, held, in_url
from devserver.next_commands import next_commands
from devserver.output import Output
from devserver.part import STOP_SECONDS, Part
from devserver.place import Place, ServersError, claimed, reason, secret_key
from devserver.running import CHECKOUT, noted
from devserver.secret_files import with_secrets
from devserver.servers import server_parts
from devserver.sleep import Sleep, sleep_with
from devserver.supervisor import Supervisor
from devserver.valkey import answers

BIN = Path(sys.executable).parent

LOG = Path("log/league.log")
CADDYFILE = "devserver/Caddyfile"

THREADS = ("--pool", "threads", "--concurrency")

_CPUS = os.cpu_count() or 1
_PATIENCE_SECONDS = 30.0
"""While the league starts, `make up` prints a line each time this has passed."""
_ANSWER_SECONDS = 2.0
_STOP_WITHOUT_BROKER_SECONDS = 2.0


class CannotStartError(Exception):
    """The league can't start; the message is one line with the reason and the remedy."""


def main() -> int:
    """Run the league until Ctrl-C, SIGTERM or SIGHUP; return the exit status."""
    parser = argparse.ArgumentParser(prog="make up", description="Run the whole league here.")
    parser.add_argument("--host", default=os.environ.get("LEAGUE_HOST", "127.0.0.1"))
    parser.add_argument("--port", default=os.environ.get("PORT") or "8000")
    parser.add_argument("--directory", type=Path, default=CHECKOUT / "var")
    parser.add_argument(
        "--verbose",
        action="store_true",
        default=bool(os.environ.get("VERBOSE")),
        help="print requests and tasks too",
    )
    options = parser.parse_args()
    try:
        options.port = _port(options.port)
        given = with_secrets(os.environ)
        # Claim first: if a league runs here already, it holds the port, and the error must name it.
        with claimed(options.directory) as place, held(options.host, options.port):
            servers, urls = server_parts(
                place,
                database_url=given.get("DATABASE_URL") or None,
                redis_url=given.get("REDIS_URL") or None,
            )
            environment = {
                **given,
                "DATABASE_URL": urls.database_url,
                "REDIS_URL": urls.redis_url,
            }
            if "SECRET_KEY" not in environment:
                environment["SECRET_KEY"] = secret_key(options.directory)
            environment.setdefault("PYTHONUNBUFFERED", "1")
            # Celery warns about root. Only the front can be reached from outside, so root is fine.
            environment.setdefault("PYTHONWARNINGS", "ignore:You're running the worker")
            # The set-up checks settings and models; each of Celery's parts would do so again.
            environment.setdefault("CELERY_SKIP_CHECKS", "yes")
            # A thread would keep its own arena.
            environment.setdefault("MALLOC_ARENA_MAX", "1")
            environment.setdefault("GOGC", "50")  # for the front
            # Seconds without a task, after which a process of a worker ends.
            environment.setdefault("AUTOSCALE_KEEPALIVE", "10")
            environment.setdefault("ALLOWED_HOSTS", allowed_hosts(options.host))
            url = address(options.host, options.port).rstrip("/")
            with noted(options.directory, environment, url):
                asyncio.run(_run(options, environment, place, servers))
    except (CannotStartError, ServersError, OSError) as error:
        print(f"make up: {reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _port(text: str) -> int:
    """Return a port's number.

    Raises:
        CannotStartError: the text is not the number of a port.
    """
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= 65535):
        raise CannotStartError(
            f"PORT={text} is not a number from 1 to 65535. Give one, such as make up PORT=8001."
        )
    return int(text)


def _fork_server(at: Path, code: str = "config.loading") -> Part:
    """Return the program that loads the league's code and forks the parts that need it."""
    return Part(
        name="code",
        command=[sys.executable, "-m", "devserver.forks", at, code],
        socket=at,
        is_ready=partial(_accepts, at, socket.SOCK_SEQPACKET),
    )


def _set_up() -> Part:
    """Return the program that migrates the database, and fills that of a new league."""
    return Part(
        name="set-up",
        command=[BIN / "django-admin", "set_up_league", "--migrate"],
        runs_once=True,
        forked=True,
    )


def web(at: Path) -> Part:
    """Return the web server of pages and API, on a unix socket."""
    return Part(
        name="web",
        command=[
            *(BIN / "granian", "--interface", "wsgi"),
            *("--workers", _count("WEB_WORKERS", max(1, _CPUS // 2))),
            *("--blocking-threads", os.environ.get("WEB_THREADS", "16")),
            *("--respawn-failed-workers", "--uds", at, "--log-level", "error"),
            *("--log-config", CHECKOUT / "config" / "granian.json"),
            *("--factory", "config.wsgi:for_worker"),
        ],
        forked=True,
        socket=at,
        is_ready=partial(_answers_on, at),
    )


def gateway(at: Path, name: str = "gateway") -> Part:
    """Return a process of the gateway for a bot's own calls, on a unix socket."""
    return Part(
        name=name,
        command=[
            *(BIN / "uvicorn", "--uds", at, "--loop", "uvloop", "--http", "httptools"),
            # The gateway reads the addresses of proxies itself.
            *("--no-proxy-headers", "--log-level", "warning", "--no-access-log"),
            *("--timeout-graceful-shutdown", "1", "api.play.app:application"),
        ],
        forked=True,
        socket=at,
        is_ready=partial(_accepts, at),
    )


def _accepts(at: Path, kind: socket.SocketKind = socket.SOCK_STREAM) -> bool:
    """Return whether a server accepts connections on a unix socket."""
    with socket.socket(socket.AF_UNIX, kind) as probe:
        probe.settimeout(_ANSWER_SECONDS)
        return probe.connect_ex(str(at)) == 0


def _answers_on(at: Path) -> bool:
    """Return whether a server answers a request: granian's workers start after their socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_ANSWER_SECONDS)
        with suppress(OSError):
            probe.connect(str(at))
            return bool(_answer_of(probe))
    return False


def _answer_of(probe: socket.socket, host: str = "localhost") -> bytes:
    """Return the beginning of the answer to a request on a connection."""
    probe.sendall(f"GET /healthz HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    return probe.recv(64)


def _stop_seconds(redis_url: str) -> float:
    """Return the time in which Celery's parts may end; without a broker they wait for it."""
    return STOP_SECONDS if answers(redis_url) else _STOP_WITHOUT_BROKER_SECONDS


def worker(
    name: str, queues: str, *options: str, nice: int = 0, sleep: Sleep | None = None
) -> Part:
    """Return a worker for some queues.

    Args:
        name: the name of the part.
        queues: the names of the queues, separated by commas.
        options: more options of the command.
        nice: by how much its priority is lower than that of the other parts.
        sleep: finds out when it may sleep; None: it never does.
    """
    return Part(
        name=name,
        command=[
            *(BIN / "celery", "-A", "config", "--quiet", "worker", "--queues", queues),
            *("--hostname", f"{name}@%h", "--loglevel", "WARNING"),
            *("--without-gossip", "--without-mingle", *options),
            *("--nice", str(nice)),
        ],
        forked=True,
        work=sleep.work(queues.split(",")) if sleep else None,
    )


def _count(name: str, default: int) -> str:
    """Return the number of processes that a variable gives.

    Raises:
        CannotStartError: the number is not 1 or more.
    """
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or not int(text):
        raise CannotStartError(f"{name} must be 1 or more, not {text!r}.")
    return text


def _gateways(place: Place) -> list[Part]:
    """Return ``GATEWAY_PROCESSES`` processes of the gateway, each on its own socket.

    Raises:
        CannotStartError: the number is not 1 or more.
    """
    count = int(_count("GATEWAY_PROCESSES", 1))
    names = ["gateway", *(f"gateway-{number}" for number in range(2, count + 1))]
    return [gateway(place.sockets / f"{name}.sock", name) for name in names]


def _parts(
    options: argparse.Namespace,
    environment: dict[str, str],
    place: Place,
    sleep: Sleep | None = None,
) -> list[Part]:
    """Return the parts, and add the addresses that they need to their environment."""
    web_socket = place.sockets / "web.sock"
    gateways = _gateways(place)
    environment |= {
        "FRONT_HOST": options.host,
        "WEB_UPSTREAM": f"unix/{web_socket}",
        "GATEWAY_UPSTREAM": " ".join(f"unix/{part.socket}" for part in gateways),
        "FRONT_ADDRESS": f"http://:{options.port}",
        "FRONT_AUTO_HTTPS": "off",
        "PROBE_URL": environment.get("PROBE_URL") or address(options.host, options.port),
        "XDG_DATA_HOME": str(options.directory),
        "XDG_CONFIG_HOME": str(options.directory),
    }
    if proxies := environment.get("TRUSTED_PROXIES"):  # the front trusts them too
        environment["FRONT_TRUSTED_PROXIES"] = proxies.replace(",", " ")
    schedule = str(options.directory / "beat-schedule")
    players = _count("PLAY_WORKERS", max(2, _CPUS))
    queueing = [
        # Matches and checks have a lower priority than clocks and calls. Analyses come last.
        worker("play", "placement,play,analysis", f"--autoscale={players},0", nice=5, sleep=sleep),
        # Nothing else runs in the clock's process, so that nothing else can delay it.
        worker("clock", "clock", *THREADS, "4"),
        # Threads of one process keep the processes of hosted bots from move to move. Most threads
        # wait for a bot.
        worker("seats", "control,seats", *THREADS, "32", sleep=sleep),
        # Its threads wait for the processes of the bots that they check, and so delay no beat.
        worker("checks", "checks,trials", *THREADS, "4", "--with-beat", schedule, nice=5),
        # Work on all records of a ladder may take hours. While it does, the second process fits.
        worker("ratings", "ratings", "--autoscale=2,0", nice=5, sleep=sleep),
    ]
    stop_seconds = partial(_stop_seconds, environment["REDIS_URL"])
    return [
        Part(
            name="front",
            command=[
                *(BIN / "caddy", "run", "--adapter", "caddyfile"),
                *("--config", CHECKOUT / CADDYFILE),
            ],
        ),
        web(web_socket),
        *gateways,
        *(replace(part, stop_seconds=stop_seconds) for part in queueing),
    ]


async def _run(
    options: argparse.Namespace,
    environment: dict[str, str],
    place: Place,
    servers: Sequence[Part],
) -> None:
    """Run all parts until a signal.

    Raises:
        CannotStartError: a part does not work.
    """
    sleep = sleep_with(environment["REDIS_URL"])
    parts = _parts(options, environment, place, sleep)
    fork_socket = place.sockets / "forks.sock"
    with closing(
        Output(
            options.directory / LOG,
            verbose=options.verbose,
            in_json=environment.get("LOG_FORMAT") == "json",
        )
    ) as output:
        supervisor = Supervisor(
            environment,
            CHECKOUT,
            held=[place.alive.fileno()],
            adopts_orphans=True,
            fork_server=fork_socket,
            output=output,
        )
        banner = asyncio.create_task(_announce(options, supervisor.stop))
        watching = asyncio.create_task(sleep.watch()) if sleep else None
        await supervisor.run([[*servers, _fork_server(fork_socket)], [_set_up()], parts])
        await banner
        if watching:
            watching.cancel()
    if supervisor.failure:
        raise CannotStartError(supervisor.failure)
    print(f"Twelfth Night has stopped. All data stay in {_short(options.directory)}.", flush=True)


async def _announce(options: argparse.Namespace, stop: asyncio.Event) -> None:
    """Print the address of the league as soon as it answers."""
    began = time.monotonic()
    url = address(options.host, options.port)
    notices = 0
    while not stop.is_set():
        if await asyncio.to_thread(_answers, options.host, options.port):
            commands = await asyncio.to_thread(next_commands, url.rstrip("/"))
            print(banner(url, options.directory, commands), flush=True)
            return
        waited = time.monotonic() - began
        if waited > (notices + 1) * _PATIENCE_SECONDS:
            notices += 1
            print(
                f"Still starting after {waited:.0f} s: {url} does not answer yet. A busy machine "
                "takes longer. If a program of the league can't start, the lines above give the "
                "reason.",
                file=sys.stderr,
            )
        await asyncio.sleep(0.1)


def banner(address: str, directory: Path, commands: Sequence[str]) -> str:
    """Return what a started league prints: its address, and the next commands."""
    activate = _short(Path(sys.prefix) / "bin" / "activate")
    lines = "\n".join(f"  {each}" for each in commands)
    return f"""
Twelfth Night is up: {address}

Next, in a second terminal in this directory:
  source {activate}
{lines}

`make demo-bot` lets an example bot play. Ctrl-C stops the league, and so does `make down`.
All data stay in {_short(directory)} for the next start. Only warnings are printed here;
{_short(directory / LOG)} also has the requests.
"""


def _short(path: Path) -> Path:
    """Return a path without the directory in which the command runs."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _answers(host: str, port: int) -> bool:
    """Return whether the front passes a request on. A library for it would take 3 MB."""
    here = EVERYWHERE.get(host, host)
    with suppress(OSError), socket.create_connection((here, port), _ANSWER_SECONDS) as probe:
        return _answer_of(probe, in_url(here)).startswith(b"HTTP/1.0 200")
    return False


if __name__ == "__main__":
    sys.exit(main())
