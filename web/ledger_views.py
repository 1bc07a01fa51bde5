"""The pages of the ledger: what each round did to each rating, and what it was made of."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from league.models import BlockEntry, Ladder, Round
from league.ratings.ledger import revision_at, spans_of
from league.ratings.match_results import k_schedule
from league.visibility import may_see_seed
from web.selectors import add_block_counts, blocks_shown

_BLOCKS = 20
_ROWS = 100


@require_safe
def ladder_round(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A round of a ladder, under the revision asked for or the one in force."""
    ladder = get_object_or_404(Ladder, slug=slug)
    found = get_object_or_404(ladder.rounds.select_related("tournament"), number=number)
    revision = _revision(request, ladder)
    add_block_counts([found])
    in_force = revision_at(spans_of(ladder, revision), number)
    rows = found.ledger.filter(revision=in_force).select_related("bot").order_by("-rating_after")
    shown = blocks_shown(found).select_related("void_mark")
    blocks = Paginator(shown, _BLOCKS).get_page(_page_number(request, found))
    deltas: dict[int, list[BlockEntry]] = {}
    entries = BlockEntry.objects.filter(block__in=list(blocks), revision=in_force)
    for entry in entries.select_related("bot").order_by("-delta", "bot__name"):
        deltas.setdefault(entry.block_id, []).append(entry)
    for block in blocks:
        for match in block.matches.all():
            match.block = block  # so that nobody has to ask again
    context = {
        "ladder": ladder,
        "round": found,
        "rows": Paginator(rows, _ROWS).get_page(request.GET.get("bots")),
        "blocks": blocks,
        "told": [(block, deltas.get(block.pk, [])) for block in blocks],
        "seed": bytes(found.seed).hex() if may_see_seed(found) else None,
        "schedule": k_schedule(found.k_schedule),
        "revision": revision,
        "in_force": in_force,
        "revisions": ladder.revisions.order_by("number") if ladder.revision > 1 else [],
    }
    return render(request, "web/round.html", context)


def _page_number(request: HttpRequest, round_: Round) -> str | int | None:
    """Return which page of blocks is wanted: by its number, or as the one that has a block."""
    block = request.GET.get("block", "")
    if not (block.isascii() and block.isdigit() and len(block) < 10):
        return request.GET.get("page")
    return round_.blocks.filter(number__lt=int(block)).count() // _BLOCKS + 1


def _revision(request: HttpRequest, ladder: Ladder) -> int:
    text = request.GET.get("revision", "")
    if not text:
        return ladder.revision
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= ladder.revision):
        raise Http404(f"{ladder.slug} has revisions 1 to {ladder.revision}.")
    return int(text)
