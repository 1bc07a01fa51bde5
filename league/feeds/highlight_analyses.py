"""Analyses of the day's first highlights, so that the match on the home page has one."""

from datetime import datetime, timedelta

from league import analyses
from league.feeds.highlights import last_highlights
from league.models import MatchAnalysis

ANALYSED = 4
"""Number of highlights on the home page; only these are analysed."""
MAX_A_DAY = 48
"""If people and this task requested this number of analyses within a day, the task stops."""


def analyse_highlights(now: datetime) -> None:
    """Ask for the analysis of the first highlight that has none, unless another analysis waits.

    So highlights never delay an analysis that a person asked for.
    """
    asked = MatchAnalysis.objects.filter(requested_at__gt=now - timedelta(days=1))
    if MatchAnalysis.objects.exclude(due_at=None).exists() or asked.count() >= MAX_A_DAY:
        return
    shown = [each.match for each in last_highlights() if each.match][:ANALYSED]
    matches = [match.pk for match in shown]
    known = MatchAnalysis.objects.filter(match__in=matches).values_list("match", flat=True)
    if new := [match for match in shown if match.pk not in {*known}]:
        analyses.ask(match=new[0])
