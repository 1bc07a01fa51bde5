"""Replace the running parts of a league by those of a new image, one part after the other.

Run it in the checkout of the new version: ``python3 docker/upgrade.py``. It needs Docker with its
plugin ``compose``, and Python alone. It builds the image, or takes the one that LEAGUE_IMAGE names,
checks the settings and migrates the database, while the old parts serve. Then it starts new
containers of each part beside the old ones, waits until they are healthy, and stops the old ones.
It also starts parts that the new version adds. PostgreSQL, Valkey and the door, which holds the
ports, go on. At the end it waits until the league is ready.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

COMPOSE = Path(__file__).with_name("compose.yaml")
STAY = ("database", "broker", "door", "prepare", "backup")
"""Services that an upgrade does not replace."""
NEED_ONLY_RUN = ("backups",)
"""Services whose health an upgrade does not check. `backups` is unhealthy if a backup failed, and
this must not stop the upgrade that may correct the cause."""
LAST = ("front", "gateway")
"""These are replaced last, in this order. The old fronts pass streams to the old gateways only, and
these end them when the old fronts accept no connection any more."""
DELAY_SECONDS = 12
"""More than FRONT_SHUTDOWN_DELAY in ``docker/compose.yaml``: an ending front accepts so long."""
STREAM_SECONDS = {"front": ("--time", "300")}
"""By default a front ends sooner, because a restart has no other front."""
HEALTHY_SECONDS = 300
READY_SECONDS = 300
POLL_SECONDS = 0.5
READYZ = (
    "from http.client import HTTPConnection as To; to = To('127.0.0.1', 8001, timeout=10); "
    "to.request('GET', '/readyz'); print(to.getresponse().read().decode())"
)
"""A program for a container of `web` that prints the answer of ``/readyz``."""


class UpgradeError(Exception):
    """The upgrade can't go on; the message says what runs now."""


class Compose:
    """The command ``docker compose`` of one league.

    Args:
        options: options such as ``--file``, before the subcommand.
    """

    def __init__(self, options: Sequence[str]) -> None:
        self._words = ["docker", "compose", *options]

    def run(self, *words: str) -> None:
        """Run a subcommand.

        Raises:
            UpgradeError: it failed; the message has its last lines.
        """
        done = subprocess.run([*self._words, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = (done.stdout + done.stderr).strip().splitlines()
            raise UpgradeError("\n".join([f"docker compose {' '.join(words)}:", *lines[-15:]]))

    def read(self, *words: str) -> str:
        """Return what a subcommand prints."""
        return _read([*self._words, *words])

    def containers(self, service: str) -> list[str]:
        """Return the ids of the running containers of a service."""
        return self.read("ps", "--quiet", service).split()

    def is_new(self, service: str) -> bool:
        """Return whether a service has no container, not even a stopped one."""
        return not self.read("ps", "--all", "--quiet", service).strip()

    def faults(self) -> dict[str, str]:
        """Return the faults of ``/readyz`` by part."""
        words = [*self._words, "exec", "--no-TTY", "web", "python", "-c", READYZ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        try:
            found: dict[str, str] = json.loads(done.stdout)["faults"]
        except (ValueError, KeyError, TypeError):
            lines = (done.stdout + done.stderr).strip().splitlines() or ["no answer"]
            return {"web": f"/readyz has no readable answer: {lines[-1]}"}
        return found


def main(words: Sequence[str] | None = None) -> int:
    """Upgrade; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--file", "-f", action="append", help="compose files; default: docker/compose.yaml"
    )
    parser.add_argument("--project-name", "-p", help="name of the project, as for docker compose")
    parser.add_argument("--pull", action="store_true", help="pull the image, do not build it")
    parser.add_argument("--no-build", action="store_true", help="use the image that is here")
    options = parser.parse_args(words)
    given = [word for file in options.file or [str(COMPOSE)] for word in ("--file", file)]
    if options.project_name:
        given += ["--project-name", options.project_name]
    try:
        upgrade(Compose(given), build=not (options.pull or options.no_build), pull=options.pull)
    except UpgradeError as error:
        print(f"upgrade: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "upgrade: interrupted. The parts above are new, the others are old, and all work "
            "together. Run this command again.",
            file=sys.stderr,
        )
        return 130
    return 0


def upgrade(compose: Compose, *, build: bool = False, pull: bool = False) -> None:
    """Replace all parts, start those that are new, and wait until the league is ready.

    Raises:
        UpgradeError: a step failed.
    """
    services = compose.read("config", "--services").split()
    parts = [name for name in services if name not in STAY and compose.containers(name)]
    if not parts:
        raise UpgradeError("no part of the league runs here: start it with docker compose up")
    added = [name for name in services if name not in (*STAY, *parts) and compose.is_new(name)]
    first = next(iter(parts))
    if build or pull:
        with _Step("image"):
            compose.run("build" if build else "pull", first)
    if "prepare" in services:
        with _Step("check and migrate"):
            new = ("run", "--rm", "--no-deps", "prepare", "python", "manage.py")
            compose.run(*new, "check")
            compose.run(*new, "set_up_league", "--migrate")
    for name in added:
        with _Step(f"{name} (new)"):
            _start(compose, name)
    for name in parts:
        if name not in LAST:
            with _Step(name):
                _wait(_replaced(compose, name))
    if last := [name for name in LAST if name in parts]:
        with _Step(" and ".join(last)):
            stops: list[tuple[str, subprocess.Popen[bytes]]] = []
            try:
                for name in last:
                    if stops:
                        time.sleep(DELAY_SECONDS)
                    stops += _replaced(compose, name)
            finally:
                _wait(stops)
    if "web" in parts:
        with _Step("ready"):
            _wait_until_ready(compose)


def _start(compose: Compose, name: str) -> None:
    """Start the containers of a part that has none; there may be none to start, with scale 0."""
    compose.run("up", "--detach", "--no-deps", "--no-build", name)
    if new := compose.containers(name):
        _keep_if_healthy(name, new, "The new version adds this part. All old parts keep running.")


def _wait_until_ready(compose: Compose) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while faults := compose.faults():
        if time.monotonic() > deadline:
            lines = [f"{part}: {fault}" for part, fault in faults.items()]
            raise UpgradeError(
                "\n".join(
                    [
                        "All parts run the new version, but the league is not ready after "
                        f"{READY_SECONDS} s. /readyz shows these faults:",
                        *lines,
                        "See the logs of these parts: docker compose logs.",
                    ]
                )
            )
        time.sleep(POLL_SECONDS)


def _replaced(compose: Compose, name: str) -> list[tuple[str, subprocess.Popen[bytes]]]:
    """Start new containers of a part, wait for them, and begin to stop the old ones.

    Returns:
        The old containers, and the commands that stop them. Each has its own time to end,
        `stop_grace_period`.
    """
    # Stopped containers would count for the scale, and start again with their old image.
    compose.run("rm", "--force", name)
    old = compose.containers(name)
    scale = ("--scale", f"{name}={2 * len(old)}")
    try:
        compose.run("up", "--detach", "--no-deps", "--no-recreate", "--no-build", *scale, name)
    except BaseException:  # else the next upgrade takes the new containers for old ones
        _remove([each for each in compose.containers(name) if each not in old])
        raise
    new = [each for each in compose.containers(name) if each not in old]
    _keep_if_healthy(
        name,
        new,
        "Its old containers keep running. The parts before it are new already, and old and new "
        "parts work together.",
    )
    words = ("docker", "stop", *STREAM_SECONDS.get(name, ()))
    return [
        (each, subprocess.Popen([*words, each], stdout=subprocess.DEVNULL, start_new_session=True))
        for each in old
    ]


def _keep_if_healthy(name: str, new: Sequence[str], what_runs: str) -> None:
    """Wait until the new containers of a part are healthy.

    Raises:
        UpgradeError: one is not. They are removed, and the message states what runs now.
    """
    try:
        _wait_until_healthy(new, only_running=name in NEED_ONLY_RUN)
    except UpgradeError as error:
        _remove(new)
        raise UpgradeError(
            f"{name}: {error}\n{what_runs} Correct the error and run this command again."
        ) from None
    except BaseException:  # Ctrl-C, or the end of the terminal
        _remove(new)
        raise


def _wait(stops: Sequence[tuple[str, subprocess.Popen[bytes]]]) -> None:
    """Wait until containers have stopped, then remove them; after Ctrl-C, do not wait."""
    try:
        for _, stop in stops:
            stop.wait()
    except BaseException:
        _remove([container for container, _ in stops])
        raise
    for container, _ in stops:
        _read(["docker", "rm", container])


def _remove(containers: Sequence[str]) -> None:
    if containers:
        _read(["docker", "rm", "--force", *containers])


def _wait_until_healthy(containers: Sequence[str], *, only_running: bool = False) -> None:
    deadline = time.monotonic() + HEALTHY_SECONDS
    while True:
        states = [state["State"] for state in json.loads(_read(["docker", "inspect", *containers]))]
        checks = [{} if only_running else state.get("Health", {}) for state in states]
        health = [
            check.get("Status", state["Status"])
            for check, state in zip(checks, states, strict=True)
        ]
        if all(status in ("healthy", "running") for status in health):
            return
        ended = [state for state in states if state["Status"] != "running"]
        if ended or "unhealthy" in health or time.monotonic() > deadline:
            logs = _read(["docker", "logs", "--tail", "15", containers[0]], errors=True)
            raise UpgradeError(f"the new container is {', '.join(health)}. Its log:\n{logs}")
        time.sleep(POLL_SECONDS)


def _read(words: Sequence[str], *, errors: bool = False) -> str:
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors else None,
        text=True,
        check=False,
    )
    if done.returncode and not errors:
        raise UpgradeError(f"{' '.join(words)} failed.")
    return done.stdout


class _Step:
    """Prints a step and its seconds."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *fault: object) -> None:
        if fault[0] is None:
            print(f"{self._name}: {time.monotonic() - self._began:.0f} s", flush=True)


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    for number in (signal.SIGHUP, signal.SIGTERM):  # as Ctrl-C
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
