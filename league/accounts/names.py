"""Names of accounts: what a name may contain, and which names look like another one.

The tables of look-alike characters are those of Unicode's report 39, in the package
confusable-homoglyphs.
"""

import re
import unicodedata
from functools import cache
from typing import Any

from confusable_homoglyphs import categories
from confusable_homoglyphs.utils import load
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from league.models import AccountName

_TOGETHER = (
    frozenset({"HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"HAN", "HANGUL"}),
    frozenset({"HAN", "BOPOMOFO"}),
)
"""Scripts that one language writes together."""
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Characters that count as letters and show nothing."""
_LONGEST_SKELETON = AccountName._meta.get_field("skeleton").max_length
"""One letter can look like up to five letters in a row, so long skeletons are cut here."""
_REFUSED = re.compile(r"[^\w.@+-]+")
_DIRECTION_MARKS = str.maketrans("", "", "\u200e\u200f")


def check_name(name: str) -> None:
    """Raise a `ValidationError` for a name that is malformed, or can pass for another one.

    It takes the place of the model's own validator, whose message does not name the value.

    Raises:
        ValidationError: with code ``invalid``: the name has a space or a character that is no
            letter, no digit and none of ``@.+-_``, or it has no letter and no digit. With
            code ``look-alike``: it has an invisible character, a character in another form, letters
            of several scripts, or looks like the name of an account.
    """
    for problem in (_invisible, _other_form, _foreign_digit):
        if message := problem(name):
            raise ValidationError(message, code="look-alike")
    if message := _refused(name) or _without_letters(name):
        raise ValidationError(message, code="invalid")
    for problem in (_mixed_scripts, _taken):
        if message := problem(name):
            raise ValidationError(message, code="look-alike")


def skeleton(name: str) -> str:
    """Return the text that all names have in common that look like this one."""
    table = _prototypes()
    shown = "".join(table.get(character, character) for character in name)
    return unicodedata.normalize("NFKC", shown).casefold()[:_LONGEST_SKELETON]


def store_skeleton(user: User) -> None:
    """Store how an account's name looks; a unique index refuses a second name of the same look.

    Raises:
        IntegrityError: another account's name looks the same.
    """
    AccountName.objects.update_or_create(
        user=user, defaults={"skeleton": skeleton(user.get_username())}
    )


def _refused(name: str) -> str:
    found = _REFUSED.search(name)
    if found is None:
        return ""
    what = "a space" if found[0].isspace() else repr(found[0].strip())
    usual = _REFUSED.sub("-", name).strip("-")
    remedy = f", for example {usual!r}" if usual else ""
    return (
        f"The name {name!r} contains {what}. Use only letters, digits and the characters @ . + - _"
        f"{remedy}."
    )


def _without_letters(name: str) -> str:
    # In an address, "." and ".." stand for other pages, so nobody could open the account's page.
    if any(character.isalnum() for character in name):
        return ""
    return f"The name {name!r} has no letter and no digit. Add one."


def _invisible(name: str) -> str:
    for character in name.replace(" ", ""):
        kind = unicodedata.category(character)
        if kind in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp") or (
            character in _INVISIBLE_LETTERS
        ):
            return (
                f"The name {name!r} contains {_described(character)}, which is invisible. Remove "
                "it."
            )
    return ""


def _other_form(name: str) -> str:
    usual = unicodedata.normalize("NFKC", name)
    if usual == name:
        return ""
    different = next((c for c in name if unicodedata.normalize("NFKC", c) != c), name[0])
    return (
        f"The name {name!r} contains {_described(different)}, a variant of an ordinary "
        f"character. Write {usual!r}."
    )


def _foreign_digit(name: str) -> str:
    for character in name:
        if character.isdigit() and not character.isascii():
            return f"The name {name!r} contains {_described(character)}. Use the digits 0 to 9."
    return ""


def _mixed_scripts(name: str) -> str:
    examples: dict[str, str] = {}
    for character in name:
        if character.isalpha():
            examples.setdefault(_script(character), character)
    scripts = set(examples) - {"COMMON", "INHERITED"}
    if len(scripts) < 2 or any(scripts <= together for together in _TOGETHER):
        return ""
    parts = ", ".join(f"{examples[each]!r} is {each.title()}" for each in sorted(scripts))
    return f"The name {name!r} mixes scripts: {parts}. Use the letters of one script."


def _taken(name: str) -> str:
    alike = AccountName.objects.exclude(user__username=name).filter(skeleton=skeleton(name))
    found = alike.values_list("user__username", flat=True).first()
    if found is None or found.casefold() == name.casefold():
        return ""  # `create_account` has the message for a name that is taken
    return f"The name {name!r} looks like the name of another account. Choose another."


def _described(character: str) -> str:
    name = unicodedata.name(character, "a character without a name")
    return f"U+{ord(character):04X} ({name})"


@cache
def _script(character: str) -> str:
    return str(categories.alias(character))


@cache
def _prototypes() -> dict[str, str]:
    """Return for each look-alike character the character or text that it looks like.

    The package lists both directions. A character with one look-alike, which has several others,
    stands beside that one; of a pair the smaller one counts.
    """
    listed: dict[str, list[dict[str, Any]]] = load("confusables.json")
    found = {}
    for character, others in listed.items():
        if len(character) != 1 or len(others) != 1:
            continue
        other = others[0]["c"].translate(_DIRECTION_MARKS)
        back = len(listed.get(others[0]["c"], ()))
        if back > 1 or len(other) > 1 or other < character:
            found[character] = other
    return found
