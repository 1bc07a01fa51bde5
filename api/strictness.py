"""Strict input: unknown names and values of a wrong type are refused, and nothing is converted.

DRF's fields convert: 1 becomes "1", "true" becomes true, and an unknown name is dropped. So every
body, form and query string is compared with its serializer before DRF validates it. This holds for
any serializer that `api.base.checked` or `ApiView.query` receives.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.serializers import BaseSerializer

from api.problems import ProblemError
from api.unknown_names import MAX_ERRORS, ONLY_ONCE, Errors, refuse_names

_WHOLE = "Must be a whole number, such as 3."
_TRUTHS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d{1,6})?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def validated(serializer_class: type[BaseSerializer[Any]], data: Any) -> dict[str, Any]:
    """Return the validated data of a body, a form or a query string.

    Args:
        serializer_class: the fields that the data may have.
        data: a value of a JSON body, or a `QueryDict` of a form or a query string.

    Raises:
        ProblemError: ``invalid``, with each error by field.
    """
    serializer: Any = serializer_class()
    _keep_white_space(serializer)
    errors: Errors = {}
    if isinstance(data, QueryDict):
        data = _single_values(serializer, data, errors)
    else:
        _compare(serializer, data, "", errors)
    if isinstance(data, Mapping):
        # DRF checks what is left, so that one answer has all errors.
        wrong = {path.partition(".")[0] for path in errors}
        data = {name: value for name, value in data.items() if name not in wrong}
    elif errors:
        raise ProblemError("invalid", errors=errors)
    else:
        wrong = set()
    checking = serializer_class(data=data)
    _keep_white_space(checking)
    if not checking.is_valid():
        reported: Mapping[str, Any] = checking.errors  # type: ignore[assignment] # of an object
        found = {name: each for name, each in reported.items() if name not in wrong}
        raise ProblemError("invalid", errors={**errors, **found})
    if errors:
        raise ProblemError("invalid", errors=errors)
    result: dict[str, Any] = checking.validated_data
    return result


def _writable(serializer: Any) -> dict[str, Any]:
    return {name: field for name, field in serializer.fields.items() if not field.read_only}


def _keep_white_space(field: Any) -> None:
    """Make the text fields of a serializer keep white space; `_text_error` refuses it instead."""
    for inner in _inner_fields(field):
        _keep_white_space(inner)
    if isinstance(field, serializers.CharField):
        if field.trim_whitespace:
            field.one_line = True  # type: ignore[attr-defined] # our own mark
        field.trim_whitespace = False


def _inner_fields(field: Any) -> Iterator[Any]:
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        yield field.child
    elif isinstance(field, serializers.Serializer):
        yield from _writable(field).values()


# -- JSON ----------------------------------------------------------------------------------------


def _compare(field: Any, value: Any, path: str, errors: Errors) -> None:
    """Add an error for each part of a JSON value that has another type than its field."""
    if len(errors) >= MAX_ERRORS or (value is None and path and field.allow_null):
        return
    if error := _type_error(field, value):
        errors[path] = [error]
    elif isinstance(field, serializers.Serializer):
        writable = _writable(field)
        for name, found in refuse_names(value, writable, "field").items():
            errors[_joined(path, name)] = found
        for name, inner in writable.items():
            if name in value:
                _compare(inner, value[name], _joined(path, name), errors)
    elif isinstance(field, serializers.ListField | serializers.ListSerializer):
        for number, each in enumerate(value):
            _compare(field.child, each, _joined(path, str(number)), errors)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _type_error(field: Any, value: Any) -> str:
    """Return what is wrong with the type of a JSON value, empty if it is right."""
    if isinstance(field, serializers.Serializer | serializers.DictField):
        return "" if isinstance(value, dict) else _not("an object", value)
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        return "" if isinstance(value, list) else _not("a list", value)
    if isinstance(field, serializers.BooleanField):
        return "" if isinstance(value, bool) else _not("true or false", value)
    if isinstance(field, serializers.IntegerField):
        return "" if type(value) is int else _not("a whole number", value)
    if isinstance(field, serializers.FloatField):
        return "" if type(value) in (int, float) else _not("a number", value)
    if isinstance(field, serializers.JSONField):
        return ""
    return _text_error(field, value) if isinstance(value, str) else _not("a text", value)


def _not(wanted: str, value: Any) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a whole number",
        float: "a number with a fraction or an exponent",
    }
    return f"Must be {wanted}, not {kinds.get(type(value), 'null')}."


def _text_error(field: Any, text: str) -> str:
    """Return what is wrong with a text that DRF would convert or cut, empty if nothing is."""
    if isinstance(field, serializers.DateTimeField) and not _TIME.fullmatch(text):
        return "Must be a time in ISO 8601 with its UTC offset, such as 2026-12-24T18:00:00Z."
    if getattr(field, "one_line", False) and text != text.strip():
        return "Must not begin or end with white space."
    return ""


# -- Forms and query strings ---------------------------------------------------------------------


def _single_values(serializer: Any, data: QueryDict, errors: Errors) -> dict[str, Any]:
    """Return the values of a form or a query string, and add an error for each one that is wrong.

    All values are texts. ``true`` and ``false`` stand for a boolean, digits for a whole number.
    """
    writable = _writable(serializer)
    kind = "field" if any(isinstance(f, serializers.FileField) for f in writable.values()) else ""
    errors |= refuse_names(data, writable, kind or "parameter")
    values: dict[str, Any] = {}
    for name, field in writable.items():
        if name not in data:
            continue
        given = data.getlist(name)
        values[name] = given[-1]
        if len(given) > 1:
            errors[name] = [ONLY_ONCE]
        elif error := _form_error(field, values[name]):
            errors[name] = [error]
        elif isinstance(field, serializers.BooleanField):
            values[name] = _TRUTHS[values[name]]
    return values


def _form_error(field: Any, value: Any) -> str:
    if isinstance(field, serializers.FileField):
        return "" if hasattr(value, "read") else "Must be a file."
    if not isinstance(value, str):
        return "Must be a text, not a file."
    if isinstance(field, serializers.BooleanField):
        return "" if value in _TRUTHS else "Must be true or false."
    if isinstance(field, serializers.IntegerField):
        return "" if _INTEGER.fullmatch(value) else _WHOLE
    return _text_error(field, value)
