"""The errors and tracebacks in a log, each kind of them once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_PART = re.compile(r"^[a-z-]+ *\| ")
_CHANGES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+")
_TRACEBACK = "Traceback (most recent call last):"
_MAX_LINES = 60
_MAX_CHARACTERS = 300


def faults(lines: Iterable[str]) -> list[str]:
    """Return each kind of error and traceback with its number and its first text.

    Two are of one kind if their last lines are equal but for times, ids and numbers.
    """
    counts: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for text in _faults(lines):
        key = _CHANGES.sub("#", text[-1])
        counts[key] += 1
        texts.setdefault(key, "\n".join(text[-_MAX_LINES:]))
    return [f"{number} times:\n{texts[key]}" for key, number in counts.most_common()]


def _faults(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each error, and of each traceback up to its exception.

    Lines of several parts may be mixed, so each part has its own traceback.
    """
    open_now: dict[str, list[str]] = {}
    for line in lines:
        found = _PART.match(line)
        part = found.group() if found else ""
        text = line[len(part) :].rstrip("\n")[:_MAX_CHARACTERS]
        if text.strip() == _TRACEBACK:
            open_now[part] = [text]
        elif part in open_now:
            open_now[part].append(text)
            if text.strip() and not text.startswith(" "):
                yield open_now.pop(part)
        elif "[error" in text or "[critical" in text:
            yield [text]
