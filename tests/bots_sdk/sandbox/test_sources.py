import io
import stat
import struct
import warnings
import zipfile
from collections.abc import Mapping

import pytest

from bots_sdk.sandbox.errors import SourceRefusedError
from bots_sdk.sandbox.sources import MAX_BYTES, MAX_FILES, MAX_UNPACKED, read_source
from tests.bots_sdk.sandbox.conftest import Start

BOT = b"def choose(observation): return 'play 1'\n"


def packed(files: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_a_python_file_is_read_unchanged() -> None:
    assert read_source(BOT).main == BOT
    assert read_source(BOT).files == {}


def test_an_archive_is_unpacked() -> None:
    source = read_source(packed({"bot.py": BOT, "data/weights.json": b"[1]"}))
    assert source.main == BOT
    assert source.files == {"bot.py": BOT, "data/weights.json": b"[1]"}


def test_an_oversize_upload_is_refused() -> None:
    assert len(read_source(b"#" * MAX_BYTES).main) == MAX_BYTES
    with pytest.raises(SourceRefusedError, match=r"1,048,577 bytes; a bot has 1,048,576 at most"):
        read_source(b"#" * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    "name",
    [
        "../bot.py",
        "a/../../bot.py",
        "/etc/passwd",
        "//etc/passwd",
        "a//b",
        "./bot.py",
        "..",
        "a\\..\\b.py",
        "C:bot.py",
        "line\nbreak.py",
        "x" * 300,
    ],
)
def test_a_path_that_leads_out_is_refused(name: str) -> None:
    with pytest.raises(SourceRefusedError, match="no path below"):
        read_source(packed({"bot.py": BOT, name: b"out"}))


def test_a_link_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("bot.py", BOT)
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(SourceRefusedError, match="neither a file nor a directory"):
        read_source(stream.getvalue())


def test_a_bomb_is_refused() -> None:
    bomb = packed({"bot.py": BOT, "zeros": bytes(MAX_UNPACKED)})
    assert len(bomb) < 8192
    with pytest.raises(SourceRefusedError, match="unpacked it has more than 4,194,304 bytes"):
        read_source(bomb)


def test_a_bomb_with_a_wrong_size_is_refused() -> None:
    bomb = bytearray(packed({"bot.py": BOT, "zeros": bytes(64 << 20)}))
    size = struct.pack("<I", 64 << 20)
    while size in bomb:
        at = bomb.index(size)
        bomb[at : at + 4] = struct.pack("<I", 10)
    with pytest.raises(SourceRefusedError):
        read_source(bytes(bomb))


def test_equal_files_in_an_archive_count_each() -> None:
    files = {f"{number}": bytes(1 << 20) for number in range(5)}
    with pytest.raises(SourceRefusedError, match="more than 4,194,304"):
        read_source(packed({"bot.py": BOT, **files}))


def test_too_many_files_are_refused() -> None:
    files = {f"{number}": b"" for number in range(MAX_FILES)}
    with pytest.raises(SourceRefusedError, match="201 entries"):
        read_source(packed({"bot.py": BOT, **files}))


def test_a_name_twice_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("bot.py", BOT)
        archive.writestr("bot.py", BOT)
    with pytest.raises(SourceRefusedError, match="twice"):
        read_source(stream.getvalue())


def test_a_name_that_is_file_and_directory_is_refused() -> None:
    with pytest.raises(SourceRefusedError, match="both a file and a directory"):
        read_source(packed({"bot.py": BOT, "a": b"", "a/b": b""}))


def test_an_unusual_compression_is_refused() -> None:
    with pytest.raises(SourceRefusedError, match="isn't deflate"):
        read_source(packed({"bot.py": BOT}, zipfile.ZIP_LZMA))


def test_an_archive_without_a_bot_is_refused() -> None:
    with pytest.raises(SourceRefusedError, match=r"no bot\.py"):
        read_source(packed({"sub/bot.py": BOT}))


@pytest.mark.parametrize("cut", [4, 30, 60, 100])
def test_a_damaged_archive_is_refused(cut: int) -> None:
    with pytest.raises(SourceRefusedError):
        read_source(packed({"bot.py": BOT * 10})[:cut])


def test_a_bot_of_several_files_imports_and_reads_its_own(start: Start) -> None:
    source = packed(
        {
            "bot.py": b"from pathlib import Path\nimport helper, deep.down\n"
            b"text = (Path(__file__).parent / 'data/move.txt').read_text()\n"
            b"def choose(observation): return helper.said(text) + deep.down.END\n",
            "helper.py": b"def said(text): return text.strip()\n",
            "deep/__init__.py": b"",
            "deep/down.py": b"END = '!'\n",
            "data/move.txt": b"play 1\n",
            "random.py": b"raise ImportError('hides that of Python')\n",
        }
    )
    assert start(source)({}) == "play 1!"
