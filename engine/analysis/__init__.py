"""Analysis of a finished match: chances, the loss of each decision, and luck apart from play.

`analyse` takes a record that `engine.record.verify` accepts. `Work` does the same in portions that
can be stored between them. docs/analysis.md explains the method and its errors.
"""

from engine.analysis.match import DEFAULT_PLAYOUTS, MAX_PLAYOUTS, VERSION, Work, analyse
from engine.analysis.results import MARKS, Analysis, Chance, Decision, Total, mark

__all__ = [
    "DEFAULT_PLAYOUTS",
    "MARKS",
    "MAX_PLAYOUTS",
    "VERSION",
    "Analysis",
    "Chance",
    "Decision",
    "Total",
    "Work",
    "analyse",
    "mark",
]
