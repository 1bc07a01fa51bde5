"""The renderer of JSON answers."""

from datetime import UTC, datetime
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder


class Encoder(JSONEncoder):
    """JSON whose times are ISO 8601 in UTC with milliseconds."""

    def default(self, obj: Any) -> Any:
        """Return a value that JSON has for one that it has not."""
        if isinstance(obj, datetime):
            return obj.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return super().default(obj)


class Renderer(JSONRenderer):
    """JSON by `Encoder`."""

    encoder_class = Encoder
