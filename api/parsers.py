"""The parser of JSON bodies."""

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class JsonParser(BaseParser):
    """JSON in UTF-8."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value of a body.

        Raises:
            ParseError: the body is not JSON, or nested too deeply.
        """
        try:
            return json.loads(stream.read().decode("utf-8"), parse_constant=_refuse)
        except RecursionError:
            raise ParseError("The body is not valid JSON: it is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
