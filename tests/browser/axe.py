"""Looks for faults of accessibility in a page with axe-core."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPTIONS: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": _TAGS},
    "rules": {"target-size": {"enabled": True}},  # off by default, as it is new in WCAG 2.2
}


def prepare(page: Page) -> None:
    """Have all pages that a tab opens from now on begin with axe, which is sent to it only once."""
    page.add_init_script(AXE_SCRIPT)


def faults(page: Page) -> list[str]:
    """Return what axe finds in a page, as it is shown now: rule, element and reason."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    result = page.evaluate("options => axe.run(document, options)", _OPTIONS)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]
