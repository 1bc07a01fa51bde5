"""JSON bodies."""

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class JsonParser(BaseParser):
    """JSON in UTF-8; whatever else comes in ends in a `ParseError`."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return what the body says."""
        try:
            return json.loads(stream.read().decode("utf-8"), parse_constant=_refuse)
        except RecursionError:
            raise ParseError("Not JSON that is read here: nested too deep.") from None
        except ValueError as error:
            raise ParseError(f"Not JSON: {error}.") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
