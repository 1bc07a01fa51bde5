"""Runs a league in containers from nothing to its end: ``make test-containers``.

It builds the image of the last release, brings its ``docker/compose.yaml`` up, uploads a bot and
waits for its rank, and restarts each part. It upgrades to an image of this checkout, which has a
migration more, while clients call. Then it lets a worker on another network play, archives, backs
up, restores, goes on with a domain and TLS, gets a certificate over ACME, and removes everything
that it made. UPGRADE_FROM names another commit to begin with, and BASE_IMAGE, DATABASE_IMAGE and
BROKER_IMAGE other images than those of the registry.
"""

import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from tests.containers import acme, archive, engine, tls
from tests.containers.engine import ROOT, CommandError, run
from tests.containers.league import PARTS, League, running, wait_for
from tests.containers.load import Load, Player
from tests.containers.versions import build_second, has_trial, released
from tests.containers.workers import elsewhere

LADDER = "/api/v1/ladders/twelve-days/standings"
RESTARTS = (
    ("database",),
    ("broker",),
    ("door",),
    ("web", "seats"),
    ("gateway", "checks"),
    ("front", "ratings"),
    ("play", "beat"),
    ("clock",),
)
"""Parts to restart together: a restart mostly waits, so pairs take half of the time."""


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step and its seconds."""
    print(f"{name} ...", end=" ", flush=True)
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    """Run all steps; return the exit status."""
    if reason := engine.missing():
        print(f"test-containers: skipped, {reason}")
        return 0
    began = time.monotonic()
    # SIGTERM ends it in the usual way, so the containers are removed then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with step("images to build and run on"):
            images = engine.base_images()
        with running(images) as league:
            play_through(league)
    except CommandError as error:
        print(f"failed\n{error}", file=sys.stderr)
        return 1
    print(f"test-containers: ok, {time.monotonic() - began:.0f} s")
    return 0


def play_through(league: League) -> None:
    """Take a league through its life."""
    with released() as checkout, ThreadPoolExecutor(1) as builder:
        play_released(league, checkout)
        # Restarts mostly wait, so the build takes little of their time.
        second = builder.submit(build_second, league)
        restart_each(league)
        with step("wait for the build of a second image"):
            image = second.result()
        upgrade(league, image)
    play_elsewhere(league)
    backup_and_restore(league)


def play_released(league: League, checkout: Path) -> None:
    """Bring the released version up, and use it."""
    league.files = [str(checkout / "docker" / "compose.yaml")]
    with step("build the image"):
        league.build("first", checkout=checkout)
    with step("bring it up from nothing"):
        league.compose("up", "--detach", "--wait")
        league.wait_until_ready()
    with step("both tiers of the sandbox hold"):
        league.prove_sandbox("play")
    with step("upload a bot and wait for its rank"):
        upload(league, "swan")


def restart_each(league: League) -> None:
    """Restart each part, and wait until the league is ready."""
    if left := set(PARTS) - set(chain.from_iterable(RESTARTS)):
        raise CommandError(f"no step restarts {', '.join(sorted(left))}")
    for parts in RESTARTS:
        with step(f"restart {' and '.join(parts)}"):
            league.compose("restart", *parts)
            league.compose("up", "--detach", "--wait", "--no-recreate")
            league.wait_until_ready()


def upload(league: League, name: str) -> None:
    """Write a bot, upload it, and wait until it has a rank."""
    with tempfile.TemporaryDirectory() as home:
        command = str(Path(sys.executable).with_name("twelfth-night"))
        env = {"HOME": home, "XDG_CONFIG_HOME": home}
        bot = str(Path(home) / f"{name}.py")
        words = (
            "login",
            league.url,
            "--sign-up",
            "--username",
            f"{name}-owner",
            "--password-stdin",
        )
        run(command, *words, env=env, given="four calling birds\n")
        (Path(home) / f"{name}.py").write_text(
            "def choose(observation):\n    return observation['legal_moves'][0]\n"
        )
        run(command, "upload", bot, env=env)
        run(command, "enter", "twelve-days", name, "--wait", env=env)


def upgrade(league: League, image: str) -> None:
    """Upgrade under load; no request may fail, and no turn be lost."""
    player = Player(league.url, "partridge-fan")
    league.variables["LEAGUE_IMAGE"] = image
    league.files = ["docker/compose.yaml"]
    print("upgrade under load", flush=True)
    with Load(player) as load:
        wait_for(lambda: load.sent["events of turn streams"], load.report)
        began = time.monotonic()
        words = (sys.executable, "docker/upgrade.py", "--no-build")
        for line in run(*words, env=league.variables).splitlines():
            print(f"  {line}")
        league.wait_until_ready()
    print(f"  {time.monotonic() - began:.0f} s; requests: {load.report()}")
    for part in PARTS:
        changed = league.compose("exec", "--no-TTY", part, "printenv", "CHANGED")
        if changed.strip() != "yes":
            raise CommandError(f"{part} still runs the first image")
    if not has_trial(league):
        raise CommandError("the database has not the column of the second version")
    if load.failures or (faults := player.faults()):
        raise CommandError("requests failed" if load.failures else f"lost turns: {faults}")


def play_elsewhere(league: League) -> None:
    """Let workers on another network check a bot and play its matches."""
    with step("workers on another network"):
        league.compose("stop", "play", "checks")
        with elsewhere(league):
            league.wait_until_ready()
            upload(league, "goose")
        league.compose("up", "--detach", "--wait", "--no-recreate")


def backup_and_restore(league: League) -> None:
    """Back up, restore, and find the ratings of the time of the backup."""
    with step("archive all rounds in an object storage"):
        league.compose("stop", *PARTS)
        archive.use_storage(league)
        match = archive.move_all(league)
    with step("back up"):
        path = league.manage("backup").split(":")[0].split()[-1]
        before = league.manage("recompute")
    with step("play on, so that the restore has something to replace"):
        league.compose("up", "--detach", "--wait")
        league.wait_until_ready()
        upload(league, "drummer")
        # Both read the file of the round.
        league.get(f"/api/v1/matches/{match}/record")
        league.read(f"/matches/{match}/")
    with step("restore, with an empty storage"):
        league.compose("down")
        league.compose("up", "--detach", "--wait", "database", "broker")
        archive.make_bucket(league)
        league.manage("restore", path)
        league.manage("archive", "--check")
        league.manage("set_up_league", "--migrate")
        after = league.manage("recompute")
        if after != before or "differ" not in after:
            raise CommandError(f"ratings before:\n{before}\nafter the restore:\n{after}")
    with step("bring it up again, with a domain and TLS"):
        tls.use_tls(league)
        league.compose("up", "--detach", "--wait")
        tls.get(league, f"/api/v1/matches/{match}/record")
        names = [row["bot"] for row in tls.get(league, LADDER)["results"]]
        if "swan" not in names or "drummer" in names:
            raise CommandError(f"the ladder has {names}")
    with step("TLS: pages, cookies, HSTS, redirects"):
        tls.check_pages(league)
    with step("TLS: moves, streams, addresses of clients"):
        tls.check_calls(league)
    with step("a certificate over ACME"):
        acme.use_acme(league)
        league.compose("up", "--detach", "--wait")
        acme.check_certificate(league)


if __name__ == "__main__":
    if Path.cwd() != ROOT:
        sys.exit("Run it in the checkout: python -m tests.containers")
    sys.exit(main())
