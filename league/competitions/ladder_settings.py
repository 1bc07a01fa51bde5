"""The settings of a ladder: what is checked when somebody makes or changes one."""

from league.competitions.settings_checks import ladder_problems
from league.models import Ladder
from league.models.settings_problems import Problem, require_valid, values_of

FIXED = ("game", "rules", "seats")
"""The first round of a ladder settles these: ratings compare only matches of one kind."""


def check_ladder(ladder: Ladder) -> None:
    """Raise if a new or changed ladder can't be stored as it is.

    Raises:
        ValidationError: by field: a value is not allowed, another ladder has the name or title, or
            a field has changed that the first round has settled.
    """
    require_valid(
        [*ladder_problems(values_of(ladder)), *_collisions(ladder), *_settled_changes(ladder)]
    )


def _collisions(ladder: Ladder) -> list[Problem]:
    others = Ladder.objects.exclude(pk=ladder.pk)
    problems = []
    for field in ("slug", "title"):
        name = getattr(ladder, field)
        if isinstance(name, str) and others.filter(**{f"{field}__iexact": name.strip()}).exists():
            problems.append(
                Problem(field, f"Another ladder has the {field} {name}; choose another one.")
            )
    return problems


def _settled_changes(ladder: Ladder) -> list[Problem]:
    stored = Ladder.objects.filter(pk=ladder.pk, rounds__isnull=False).first()
    if stored is None:
        return []
    return [
        Problem(
            field,
            f"The ladder has rounds, so {field} can't change: it stays {getattr(stored, field)}. "
            "Create another ladder instead.",
        )
        for field in FIXED
        if getattr(stored, field) != getattr(ladder, field)
    ]
