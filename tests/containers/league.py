"""A league in containers: its own compose project, and a clean end."""

import json
import os
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.containers.engine import ROOT, CommandError, run

LOGS = ROOT / "build" / "containers"
PARTS = ("web", "gateway", "front", "play", "clock", "seats", "checks", "ratings", "beat")
_SECONDS = 180


class League:
    """A league of ``docker/compose.yaml`` with its own name, ports and network.

    Attributes:
        url: the address of its front.
        variables: the environment of its commands.
        files: its compose files; at first those of the version that it begins with.
    """

    def __init__(self, images: Mapping[str, str]) -> None:
        self.name = f"twelfth-night-test-{os.getpid()}"
        ports = {name: str(_free_port()) for name in ("PORT", "HTTP_PORT", "HTTPS_PORT")}
        self.url = f"http://127.0.0.1:{ports['PORT']}"
        self.files = ["docker/compose.yaml"]
        self.variables = {
            **images,
            **ports,
            "COMPOSE_PROJECT_NAME": self.name,
            "COMPOSE_ENV_FILES": os.devnull,
            "LEAGUE_IMAGE": f"{self.name}:first",
            "SUBNET": _free_subnet(),
            "SECRET_KEY": secrets.token_urlsafe(48),
            "POSTGRES_PASSWORD": secrets.token_urlsafe(48),
            "RATE_GENERAL": "100000/minute",
            # Quick ones: the time goes to the parts, not to the search of `house-search`.
            "HOUSE_BOTS": "house-random,house-thumb,house-random-2,house-thumb-2",
        }

    def compose(self, *words: str) -> str:
        """Run ``docker compose``; return what it prints."""
        files = [word for file in self.files for word in ("--file", file)]
        return run("docker", "compose", *files, *words, env=self.variables)

    def manage(self, *words: str) -> str:
        """Run a command of ``manage.py`` in a new container, with the backups."""
        words = ("run", "--rm", "--no-deps", "backup", "python", "manage.py", *words)
        return self.compose("--profile", "backup", *words)

    def build(self, tag: str, requirements: str = "server", checkout: Path = ROOT) -> None:
        """Build the image of a checkout; the layers of earlier builds are used again."""
        given = {"BASE_IMAGE": self.variables["BASE_IMAGE"], "REQUIREMENTS": requirements}
        words = [word for pair in given.items() for word in ("--build-arg", "=".join(pair))]
        file, name = str(checkout / "docker" / "Dockerfile"), f"{self.name}:{tag}"
        run("docker", "build", "--quiet", *words, "--file", file, "--tag", name, str(checkout))

    def read(self, path: str) -> bytes:
        """Return what is at a path.

        Raises:
            CommandError: the league does not answer, or another status than 200.
        """
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as answer:
                found: bytes = answer.read()
        except OSError as error:
            raise CommandError(f"GET {path}: {error}") from None
        return found

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return json.loads(self.read(path))

    def wait_until_ready(self) -> None:
        """Wait until ``/readyz`` is 200 and names neither limits nor alarms."""
        wait_for(self._is_ready, lambda: f"/readyz: {self._readiness()}")

    def _is_ready(self) -> bool:
        return self._readiness() == {"status": "ready", "faults": {}, "limits": {}}

    def _readiness(self) -> object:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=30) as answer:
                found: object = json.load(answer)
        except urllib.error.HTTPError as error:
            found = error.read().decode(errors="replace")
        except (OSError, ValueError) as error:
            found = str(error)
        return found

    def prove_sandbox(self, service: str) -> None:
        """Prove each tier of the sandbox in a running container.

        Raises:
            CommandError: a tier does not hold.
        """
        script = (Path(__file__).with_name("prove_tiers.py")).read_text()
        self.compose("exec", "--no-TTY", service, "python", "-c", script)

    def end(self) -> None:
        """Remove containers, networks, volumes and images of this league, and nothing else."""
        words = ("down", "--volumes", "--remove-orphans", "--timeout", "5")
        self.compose("--profile", "*", *words)
        # A command that was stopped half-way leaves containers that the first `down` has not seen.
        self.compose("--profile", "*", *words)
        form = "{{.Repository}}:{{.Tag}}"
        if images := run("docker", "images", "--format", form, self.name).split():
            run("docker", "rmi", *images)

    def keep_logs(self) -> None:
        """Write the log of each container into a file."""
        LOGS.mkdir(parents=True, exist_ok=True)
        label = f"label=com.docker.compose.project={self.name}"
        names = run("docker", "ps", "--all", "--filter", label, "--format", "{{.Names}}").split()
        for name in names:
            (LOGS / f"{name}.log").write_text(run("docker", "logs", "--timestamps", name))


@contextmanager
def running(images: Mapping[str, str]) -> Iterator[League]:
    """Give a league that the end removes; if the block fails, the logs of its containers stay."""
    league = League(images)
    try:
        yield league
    except BaseException:
        league.keep_logs()
        print(f"The logs of the containers are in {LOGS.relative_to(ROOT)}/.")
        raise
    finally:
        league.end()


def wait_for(done: Callable[[], object], what: Callable[[], str], seconds: float = _SECONDS) -> Any:
    """Return what ``done`` gives as soon as it is true.

    Raises:
        CommandError: it took too long.
    """
    deadline = time.monotonic() + seconds
    while not (result := done()):
        if time.monotonic() > deadline:
            raise CommandError(f"it takes longer than {seconds:.0f} s; {what()}")
        time.sleep(0.5)
    return result


def _free_subnet() -> str:
    """Return a range of addresses that no network of this engine has."""
    networks = run("docker", "network", "ls", "--quiet").split()
    used = run("docker", "network", "inspect", *networks)
    return next(each for n in range(13, 256) if (each := f"172.30.{n}.0/24") not in used)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
