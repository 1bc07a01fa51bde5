"""The chart of a comparison: its evidence block by block, with the bounds of both verdicts."""

from league.competitions.comparisons import Progress
from web.charts.lines import Chart, chart


def evidence_chart(progress: Progress) -> Chart | None:
    """Return the log-likelihood ratio after each block; None before the first block."""
    plan, steps = progress.plan, progress.steps
    ratios = [0.0, *(step.llr for step in steps)]
    upper, lower = [plan.upper] * len(ratios), [plan.lower] * len(ratios)
    bounds = [("upper line: better", upper), ("lower line: not better", lower)]
    return chart([("LLR", ratios), *bounds], "0 blocks", f"{len(steps)} blocks")
