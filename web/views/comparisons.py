"""The pages of comparisons, the A/B tests of two versions of a bot."""

from typing import NamedTuple

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from bots_sdk import verdicts
from engine.rating.sprt import Decision, Plan
from league import competitions
from league.competitions import comparisons
from league.models import Bot, Comparison, Match
from league.visibility import owns
from web.charts.evidence import evidence_chart
from web.forms import CompareForm, add_errors, status_of
from web.requests import form_of_a_person, signed_in, visitor
from web.result_story import comparison_headline, comparison_state, comparison_verdict
from web.selectors.matches import matches_compared

_DECISIVE = 8
"""The most blocks in which results differ that the page lists."""


@require_safe
def comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the path of a comparison so far, and its verdict."""
    found = get_object_or_404(
        Comparison.objects.select_related("bot__current", "ladder", "new", "old"), pk=pk
    )
    progress = comparisons.progress(found)
    plan, steps = progress.plan, progress.steps
    context = {
        "comparison": found,
        "headline": comparison_headline(found),
        "description": comparison_state(found, len(steps)),
        "verdict": comparison_verdict(found, progress.estimate),
        "part_done": _part_done(progress),
        "decisive": _decisive_blocks(found, len(steps)),
        "blocks": len(steps),
        "last": steps[-1] if steps else None,
        "differing": progress.differing,
        "estimate": progress.estimate,
        "plan": plan,
        "live": found.state == Comparison.State.RUNNING,
        "void_blocks": comparisons.MAX_VOID_BLOCKS
        if found.state == Comparison.State.CANCELLED and comparisons.only_becomes_void(found)
        else 0,
        "chart": evidence_chart(progress),
        "words": _words(found, plan, len(steps)),
        "owned": owns(visitor(request), found.bot),
    }
    return render(request, "web/comparison.html", context)


def _words(comparison: Comparison, plan: Plan, blocks: int) -> dict[str, str]:
    """Return the sentences that the page shares with ``twelfth-night ab``."""
    new, old = f"version {comparison.new.number}", f"version {comparison.old.number}"
    verdict = comparison.verdict
    return {
        "meaning": verdict and verdicts.meaning(Decision(verdict), new, old, blocks, plan),
        "rule": verdicts.rule(plan),
        "swap_block": verdicts.SWAP_BLOCK,
        "likelihood": verdicts.LIKELIHOOD,
        "claims": verdicts.claims(plan),
        "bounds": verdicts.bounds(plan),
        "small_edits": verdicts.SMALL_EDITS,
        "error_rates": verdicts.ERROR_RATES,
    }


def _part_done(progress: comparisons.Progress) -> float:
    """Return how many of the blocks are finished without which there is no verdict, up to 1."""
    plan, blocks = progress.plan, len(progress.steps)
    return min(1, max(progress.differing / plan.min_differing, blocks / plan.guard_blocks))


class _Decisive(NamedTuple):
    """A swap block in which the results of the versions differ.

    Attributes:
        number: of the block.
        gain: win share of the new version less that of the old one.
        bar: its size in percent, at most 100.
        is_loss: whether the old version has the higher win share.
        matches: each with the scores of the new and the old version.
    """

    number: int
    gain: str
    bar: int
    is_loss: bool
    matches: list[tuple[Match, int | None, int | None]]


def _decisive_blocks(comparison: Comparison, steps: int) -> list[_Decisive]:
    """Return the last blocks in which the results differ.

    Args:
        comparison: of the blocks.
        steps: the number of blocks that count. Blocks after the verdict may be finished too.
    """
    with_matches = Prefetch("matches", matches_compared())
    counting = comparison.blocks.filter(void=False).order_by("number")
    newest = counting.values_list("number", flat=True)[max(steps - 1, 0) : steps]
    last = counting.filter(number__lte=max(newest, default=-1)).exclude(difference=0)
    found = []
    for block in last.order_by("-number").prefetch_related(with_matches)[:_DECISIVE]:
        matches = []
        for match in block.matches.all():
            score = {seat.version_id: seat.score for seat in match.seating.all()}
            matches.append((match, score.get(comparison.new_id), score.get(comparison.old_id)))
        gain = round(100 * (block.difference or 0))
        text = f"{gain:+d} %".replace("-", "−")
        found.append(_Decisive(block.number, text, min(abs(gain), 100), gain < 0, matches))
    return found


@login_required
@never_cache
def compare(request: HttpRequest, name: str) -> HttpResponse:
    """Start a comparison of two versions of a hosted bot."""
    bot = get_object_or_404(
        Bot,
        name=name,
        owner=signed_in(request),
        kind=Bot.Kind.HOSTED,
        retired_at=None,
    )
    form = CompareForm(bot, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            started = competitions.compare(bot=bot, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return redirect("web:comparison", started.pk)
    context = {"bot": bot, "form": form}
    return render(request, "web/compare.html", context, status=status_of(form))


@form_of_a_person
def cancel_comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """End a comparison without a verdict."""
    found = get_object_or_404(Comparison, pk=pk, bot__owner=signed_in(request))
    competitions.cancel_comparison(found)
    return redirect("web:comparison", pk)
