"""Examples in the OpenAPI schema: of parameters, bodies and answers, and as code."""

from typing import Any

from api.examples import samples
from api.examples.stored import Example, stored_examples


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add its example to each call, as a hook of drf-spectacular."""
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            example = stored_examples().get(operation["operationId"])
            if example is not None:
                _add(operation, method.upper(), path, example)
    return result


def _add(operation: dict[str, Any], method: str, path: str, example: Example) -> None:
    values = {"path": example.path, "query": example.query}
    operation["parameters"] = [
        {**parameter, "example": value}
        if (value := values.get(parameter["in"], {}).get(parameter["name"])) is not None
        else parameter
        for parameter in operation.get("parameters", [])
    ]
    sent = example.form or example.body
    if sent is not None:
        for content in operation.get("requestBody", {}).get("content", {}).values():
            content["example"] = sent
    answer = operation["responses"][str(example.status)]
    if example.media_type:
        answer["content"][example.media_type]["example"] = example.answer
    operation["x-codeSamples"] = [
        {"lang": "Shell", "label": "curl", "source": samples.curl(method, path, example)},
        {"lang": "Python", "label": "Python", "source": samples.python(method, path, example)},
    ]
