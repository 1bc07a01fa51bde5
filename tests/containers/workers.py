"""Workers of their own, in another network than the league: two addresses, and no shared disk."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.containers.engine import CommandError, run
from tests.containers.league import League

_FILES = (
    *("--file", "docker/compose.workers.yaml"),
    *("--file", "tests/containers/own_network.yaml"),
)
_REACHED = """
import socket, sys
for place in sys.argv[1:]:
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 3).close()
        print(place)
    except OSError:
        pass
"""


@contextmanager
def elsewhere(league: League) -> Iterator[None]:
    """Run workers for a league as on another host, until the end of the block."""
    network = f"{league.name}-workers"
    password = league.variables["POSTGRES_PASSWORD"]
    variables = league.variables | {
        "COMPOSE_PROJECT_NAME": network,
        "WORKERS_NETWORK": network,
        "DATABASE_URL": f"postgresql://league:{password}@database/league",
        "REDIS_URL": "redis://broker:6379/0",
        # With a storage they take analyses too, as no other worker does. Nothing is archived yet.
        "ARCHIVE_STORAGE": "league.archive_files.ArchiveDirectory",
        "ARCHIVE_STORAGE_OPTIONS": json.dumps({"location": "/tmp/archive"}),
    }
    servers = [league.compose("ps", "--quiet", name).strip() for name in ("database", "broker")]
    # Docker gives containers of an internal network no way out of it.
    run("docker", "network", "create", "--internal", network)
    try:
        for server, name in zip(servers, ("database", "broker"), strict=True):
            run("docker", "network", "connect", "--alias", name, network, server)
        run("docker", "compose", *_FILES, "up", "--detach", "--wait", env=variables)
        for name in ("play", "checks"):
            container = run("docker", "compose", *_FILES, "ps", "--quiet", name, env=variables)
            _check_isolation(league, container.strip())
        yield
    finally:
        run("docker", "compose", *_FILES, "down", "--timeout", "60", env=variables)
        for server in servers:
            run("docker", "network", "disconnect", "--force", network, server)
        run("docker", "network", "rm", network)


def _check_isolation(league: League, container: str) -> None:
    """Check that a worker reaches two addresses, and has no disk of the league.

    Raises:
        CommandError: it reaches others, or has another disk.
    """
    places = ["database:5432", "broker:6379"]
    others = [
        f"{_address(league, name)}:{port}"
        for name, port in (("web", 8001), ("gateway", 8002), ("door", 8000), ("database", 5432))
    ]
    # The league's own containers reach them, so the check can fail.
    seen = league.compose("exec", "--no-TTY", "clock", "python", "-c", _REACHED, *others).split()
    reached = run("docker", "exec", container, "python", "-c", _REACHED, *places, *others).split()
    if seen != others or reached != places:
        raise CommandError(f"a worker reaches {reached}, and the league {seen} of {others}")
    [found] = json.loads(run("docker", "inspect", container))
    if found["Mounts"]:
        raise CommandError(f"a worker has the disks {found['Mounts']}")


def _address(league: League, service: str) -> str:
    container = league.compose("ps", "--quiet", service).strip()
    [found] = json.loads(run("docker", "inspect", container))
    return str(found["NetworkSettings"]["Networks"][f"{league.name}_default"]["IPAddress"])
