"""Forms that refuse to overwrite a change that another person has stored meanwhile."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Field, Model
from django.http import QueryDict

SEEN = "seen"
"""The hidden field with the values that the form's page showed."""


class ConflictForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form that carries the stored values which it showed, and compares them when it is saved.

    If one of its fields has another value by then, the form shows both versions. Sent once more, it
    replaces the stored version.
    """

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None:
            self.initial[SEEN] = self._values_of(self.instance)

    def clean(self) -> dict[str, Any]:
        """Refuse the form if its fields have changed since its page was shown."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        seen = cleaned.pop(SEEN, "")
        if self.instance.pk is None or not seen:
            return cleaned
        rows = type(self.instance)._default_manager.all()
        if connection.in_atomic_block:
            rows = rows.select_for_update(of=("self",))
        stored = self._values_of(rows.get(pk=self.instance.pk))
        if stored != seen:
            self._show_newest(stored)
            raise ValidationError(self._both_versions(seen, stored), code="changed-meanwhile")
        return cleaned

    def _values_of(self, row: Model) -> str:
        """Return the values of the form's fields in a row, as JSON."""
        fields = {field.name: field for field in row._meta.concrete_fields}
        return json.dumps(
            {name: _text(fields[name], row) for name in self.fields if name in fields}
        )

    def _show_newest(self, stored: str) -> None:
        """Let the next attempt of the person replace the version that they now see."""
        self.data = replaced(self.data, self.add_prefix(SEEN), stored)

    def _both_versions(self, seen: str, stored: str) -> list[str]:
        before, now = _parsed(seen), _parsed(stored)
        lines = [
            "Somebody else has changed this since you opened the page, so your changes are not "
            "saved. Save again to replace the stored version with yours."
        ]
        for name, value in now.items():
            if before.get(name) != value:
                label = self.fields[name].label or name
                sent = self.data.get(self.add_prefix(name), "")
                lines.append(f"{label}: stored now “{value}”, yours “{sent}”.")
        return lines


def replaced(data: Mapping[str, Any], name: str, value: str) -> QueryDict:
    """Return the data of a form with another value of one field."""
    assert isinstance(data, QueryDict)
    copy: QueryDict = data.copy()
    copy[name] = value
    return copy


def _text(field: "Field[Any, Any]", row: Model) -> str:
    return field.value_to_string(row)


def _parsed(text: str) -> dict[str, str]:
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
