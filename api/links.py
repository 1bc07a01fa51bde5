"""Links of the OpenAPI schema: which calls take the ids that a call returns."""

import re
from typing import Any

_FIRST = "$response.body#/results/0/"
_SOURCES: dict[tuple[str, str], dict[str, str]] = {
    ("bots_list", "200"): {"name": f"{_FIRST}name"},
    ("bots_create", "201"): {"name": "$response.body#/name"},
    ("ladders_list", "200"): {"slug": f"{_FIRST}slug"},
    ("ladders_standings", "200"): {"slug": "$request.path.slug", "name": f"{_FIRST}bot"},
    ("ladders_enter", "200"): {"slug": "$request.path.slug", "name": "$response.body#/bot"},
    ("versions_list", "200"): {"name": "$request.path.name", "number": f"{_FIRST}number"},
    ("versions_upload", "202"): {
        "name": "$request.path.name",
        "number": "$response.body#/number",
    },
    ("comparisons_list", "200"): {"comparison_id": f"{_FIRST}id"},
    ("comparisons_create", "201"): {"comparison_id": "$response.body#/id"},
    ("tournaments_list", "200"): {"tournament_id": f"{_FIRST}id"},
    ("tournaments_create", "201"): {"tournament_id": "$response.body#/id"},
    ("tournaments_entries", "200"): {
        "tournament_id": "$request.path.tournament_id",
        "name": f"{_FIRST}bot",
    },
    ("matches_list", "200"): {"match_id": f"{_FIRST}id"},
    ("matches_create", "201"): {"match_id": "$response.body#/id"},
    ("tokens_list", "200"): {"token_id": f"{_FIRST}id"},
    ("tokens_create", "201"): {"token_id": "$response.body#/id"},
    ("turns_list", "200"): {"match_id": "$response.body#/turns/0/match"},
}
"""By call and status, the parameters that its answer gives, as runtime expressions."""


def add_links(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Link each answer that has ids to the calls that take exactly these, as a hook."""
    takers: dict[frozenset[str], list[str]] = {}
    for path, methods in result["paths"].items():
        names = frozenset(re.findall(r"\{(\w+)\}", path))
        takers.setdefault(names, []).extend(each["operationId"] for each in methods.values())
    for methods in result["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                given = _SOURCES.get((operation["operationId"], status))
                if given:
                    response["links"] = {
                        taker: {"operationId": taker, "parameters": given}
                        for taker in takers.get(frozenset(given), [])
                    }
    return result
