"""``write_sdk_types``: generate the types of API answers in the SDK."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from api.schema import openapi_schema
from api.typed_answers import modules

DIRECTORY = Path(__file__).parents[3] / "bots_sdk" / "answers"


class Command(BaseCommand):
    """Write ``bots_sdk/answers/`` from the OpenAPI schema."""

    help = "Generate the types of API answers in bots_sdk/answers/ from the OpenAPI schema."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Write each module that differs."""
        texts = modules(openapi_schema())
        for name, text in texts.items():
            path = DIRECTORY / name
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
                self.stdout.write(f"Wrote {path}.")
