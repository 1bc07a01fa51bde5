"""Fields and pages that several serializers share."""

from collections.abc import Sequence
from typing import Any, TypeVar

from rest_framework import serializers

from league.models import Ladder

Instance = TypeVar("Instance")


class LadderField(serializers.SlugRelatedField[Ladder]):
    """A ladder by its slug."""

    def __init__(self, **options: Any) -> None:
        super().__init__("slug", queryset=Ladder.objects.all(), **options)

    def to_internal_value(self, data: Any) -> Ladder:
        """Return the ladder; refuse a text that PostgreSQL can't compare."""
        if not isinstance(data, str) or "\0" in data:
            self.fail("invalid")
        return super().to_internal_value(data)


class OnePageSerializer(serializers.Serializer[Instance]):
    """A list that is always complete on one page; a subclass adds its ``results``."""

    next = serializers.CharField(
        read_only=True, default=None, allow_null=True, help_text="Always null."
    )
    previous = serializers.CharField(
        read_only=True, default=None, allow_null=True, help_text="Always null."
    )


class OneOfField(serializers.ChoiceField):
    """A text that must be one of a few; the error lists them."""

    def __init__(self, choices: Sequence[str | tuple[str, Any]], **options: Any) -> None:
        super().__init__(choices, **options)
        self.error_messages["invalid_choice"] = f"Must be one of: {', '.join(self.choices)}."


def owner_field(source: str) -> serializers.CharField:
    """Return the field for the name of a bot's owner.

    Args:
        source: path from the serialized object to the bot's owner.
    """
    return serializers.CharField(
        source=f"{source}.username",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Name of the account that owns the bot; null for a house bot.",
    )
