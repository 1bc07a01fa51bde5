"""The pages of comparisons, the A/B tests of two versions of a bot."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league import competitions
from league.competitions import comparisons
from league.models import Bot, Comparison
from league.visibility import owns
from web.charts.evidence import evidence_chart
from web.forms import CompareForm, add_errors, status_of
from web.requests import signed_in, visitor
from web.result_story import comparison_headline, comparison_state


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
        "owned": owns(visitor(request), found.bot),
    }
    return render(request, "web/comparison.html", context)


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


@login_required
@require_POST
def cancel_comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """End a comparison without a verdict."""
    found = get_object_or_404(Comparison, pk=pk, bot__owner=signed_in(request))
    competitions.cancel_comparison(found)
    return redirect("web:comparison", pk)
