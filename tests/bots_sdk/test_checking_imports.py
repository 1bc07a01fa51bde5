"""The imports that `twelfth-night check` finds in the text of a bot."""

from bots_sdk.checking.imports import imports_of
from bots_sdk.sandbox.sources import Source


def test_imports_are_found_in_every_statement() -> None:
    source = b"""
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import only_for_types
import a.b as c
class X:
    def y(self):
        try:
            from d import e, f
        except (ValueError, ImportError):
            import g
        finally:
            import h
from . import relative
"""
    found = [(each.statement, each.guarded) for each in imports_of(Source(source))]
    assert found == [
        ("from __future__ import annotations", False),
        ("from typing import TYPE_CHECKING", False),
        ("import a.b", False),
        ("from d import e", True),
        ("from d import f", True),
        ("import g", False),
        ("import h", False),
    ]


def test_imports_of_a_program_don_t_count_and_a_long_sum_does_not_stop_the_check() -> None:
    long = f"total = {' + '.join(map(str, range(1500)))}\n"
    source = f'{long}if __name__ == "__main__":\n    import a\nelse:\n    import b\n'
    source += 'if __name__ != "__main__": import c'
    assert [each.module for each in imports_of(Source(source.encode()))] == ["b", "c"]
    assert imports_of(Source(f"import a\nx = {'-' * 100_000}1".encode())) == []
