import io
import os
import stat
import struct
import tracemalloc
import warnings
import zipfile
from typing import Any

import pytest

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.archives import MAX_FILES, MAX_UNPACKED
from bots_sdk.sandbox.sources import MAX_BYTES, check_source, read_source
from tests.bots_sdk.sandbox.conftest import Start
from tests.bots_sdk.sandbox.mutated import BOT, outcomes_of_mutated_archives, packed


def test_a_python_file_is_read_unchanged() -> None:
    assert read_source(BOT).main == BOT
    assert read_source(BOT).files == {}


def test_an_archive_is_unpacked() -> None:
    source = read_source(packed({"bot.py": BOT, "data/weights.json": b"[1]"}))
    assert source.main == BOT
    assert source.files == {"bot.py": BOT, "data/weights.json": b"[1]"}


def test_an_oversize_upload_is_refused() -> None:
    assert len(read_source(b"#" * MAX_BYTES).main) == MAX_BYTES
    with pytest.raises(SourceRefusedError, match=r"8,388,609 bytes; a bot has at most 8,388,608"):
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
    assert len(bomb) < 40_000
    with pytest.raises(SourceRefusedError, match="has 33,554,473 bytes; 33,554,432 at most"):
        read_source(bomb)


def test_a_bomb_with_a_wrong_size_is_refused_before_it_is_unpacked() -> None:
    bomb = bytearray(packed({"bot.py": BOT, "zeros": bytes(64 << 20)}))
    size = struct.pack("<I", 64 << 20)
    while size in bomb:
        at = bomb.index(size)
        bomb[at : at + 4] = struct.pack("<I", 10)
    tracemalloc.start()
    try:
        for read in (read_source, check_source):
            with pytest.raises(SourceRefusedError, match="another size or checksum"):
                read(bytes(bomb))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_large_bot_is_checked_without_keeping_its_files() -> None:
    data = packed({"bot.py": BOT, **{f"{number}": bytes(5 << 20) for number in range(6)}})
    tracemalloc.start()
    try:
        check_source(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
    assert sum(map(len, read_source(data).files.values())) > 30 << 20


def test_equal_files_in_an_archive_count_each() -> None:
    files = {f"{number}": bytes(8 << 20) for number in range(4)}
    with pytest.raises(SourceRefusedError, match="33,554,432 at most"):
        read_source(packed({"bot.py": BOT, **files}))


def test_too_many_files_are_refused() -> None:
    files = {f"{number}": b"" for number in range(MAX_FILES)}
    with pytest.raises(SourceRefusedError, match="201 files; an archive has at most 200"):
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


def test_names_that_differ_in_case_only_are_refused() -> None:
    with pytest.raises(SourceRefusedError, match=r"'bot\.py' and 'Bot\.PY' differ in case only"):
        read_source(packed({"bot.py": BOT, "Bot.PY": BOT}))
    with pytest.raises(SourceRefusedError, match="both a file and a directory"):
        read_source(packed({"bot.py": BOT, "A": b"", "a/b": b""}))


def test_eight_levels_of_folders_are_enough() -> None:
    deep = "/".join("abcdefgh") + "/file.py"
    assert read_source(packed({"bot.py": BOT, deep: b""})).files[deep] == b""
    with pytest.raises(SourceRefusedError, match="is 9 folders deep; 8 at most"):
        read_source(packed({"bot.py": BOT, f"z/{deep}": b""}))


def test_too_many_entries_are_refused_before_they_are_read() -> None:
    folders = {f"{number}/": b"" for number in range(1800)}
    with pytest.raises(SourceRefusedError, match="1,801 files and folders"):
        read_source(packed({"bot.py": BOT, **folders}))


def test_an_encrypted_file_is_refused() -> None:
    data = bytearray(packed({"bot.py": BOT}))
    data[data.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(SourceRefusedError, match="is encrypted; pack it without a password"):
        read_source(bytes(data))


def test_a_name_that_is_not_utf_8_is_refused() -> None:
    data = packed({"bot.py": BOT, "aaaa": b""}).replace(b"aaaa", b"a\xff\xfea")
    with pytest.raises(SourceRefusedError, match="is not UTF-8; rename the file"):
        read_source(data)


def test_a_name_with_a_nul_is_refused() -> None:
    data = packed({"bot.py": BOT, "a.py_b": b""}).replace(b"a.py_b", b"a.py\0b")
    with pytest.raises(SourceRefusedError, match="no path below"):
        read_source(data)


def test_entries_that_overlap_are_refused() -> None:
    data = bytearray(packed({"bot.py": BOT, "copy": BOT}))
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = struct.pack("<I", 0)  # the place of its local header
    with pytest.raises(SourceRefusedError, match="overlap in the archive"):
        read_source(bytes(data))


@pytest.mark.parametrize("more", [b"x", b"PK\5\6" + bytes(18), bytes(70_000)])
def test_data_after_the_end_are_refused(more: bytes) -> None:
    with pytest.raises(SourceRefusedError, match="can't be read"):
        read_source(packed({"bot.py": BOT}) + more)


def test_a_comment_at_the_end_is_allowed() -> None:
    stream = io.BytesIO(packed({"bot.py": BOT}))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = b"PK\5\6 my bot"
    assert read_source(stream.getvalue()).main == BOT


def test_an_archive_of_a_stream_is_read() -> None:
    class Pipe(io.RawIOBase):
        """Sizes stand behind the data of each file, as the writer can't seek back to its head."""

        written = b""

        def write(self, data: Any) -> int:
            self.written += bytes(data)
            return len(bytes(data))

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot.py", BOT * 100)
        archive.mkdir("data")
        archive.writestr("data/own.txt", b"")
    assert read_source(pipe.written).files == {"bot.py": BOT * 100, "data/own.txt": b""}


def test_a_python_file_that_begins_with_pk_is_a_python_file() -> None:
    assert read_source(b"PK = 1\n").main == b"PK = 1\n"


def test_every_mutated_archive_is_read_or_refused() -> None:
    read, refused = outcomes_of_mutated_archives(
        int(os.environ.get("MUTATED_ARCHIVES", "400")), seed="mutated"
    )
    assert read > 0
    assert refused > read


def test_an_unusual_compression_is_refused() -> None:
    with pytest.raises(SourceRefusedError, match="reads only deflate"):
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
