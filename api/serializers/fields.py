"""Fields that several serializers have, and what a list without pages looks like."""

from typing import Any

from rest_framework import serializers

from league.models import Ladder


class LadderField(serializers.SlugRelatedField[Ladder]):
    """A ladder by its slug."""

    def __init__(self, **how: Any) -> None:
        super().__init__("slug", queryset=Ladder.objects.all(), **how)

    def to_internal_value(self, data: Any) -> Ladder:
        """Return the ladder; a text that PostgreSQL can't even look for is that of none."""
        if not isinstance(data, str) or "\0" in data:
            self.fail("invalid")
        return super().to_internal_value(data)


class OnePageSerializer(serializers.Serializer[None]):
    """As other lists, but always on one page; its ``results`` are the subclass's."""

    next = serializers.CharField(
        read_only=True, default=None, allow_null=True, help_text="Always null."
    )
    previous = serializers.CharField(
        read_only=True, default=None, allow_null=True, help_text="Always null."
    )
