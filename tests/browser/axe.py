"""Looks for faults of accessibility in a page with axe-core."""

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPTIONS: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": _TAGS},
    "rules": {"target-size": {"enabled": True}},  # off by default, as it is new in WCAG 2.2
}

LOOKS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size")
"""The rules whose result a theme or a width can change, apart from what is shown at all."""

LAYOUT = ("scrollable-region-focusable", "target-size")
"""The rules whose result the width alone can change."""


def prepare(page: Page) -> None:
    """Have all pages that a tab opens from now on begin with axe, which is sent to it only once."""
    page.add_init_script(AXE_SCRIPT)


def faults(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return what axe finds in a page, as it is shown now: rule, element and reason.

    Args:
        page: what is looked at.
        rules: the rules to check; all by default.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    chosen = {"runOnly": {"type": "rule", "values": [*rules]}} if rules else {}
    result = page.evaluate("options => axe.run(document, options)", _OPTIONS | chosen)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]
