"""The pages of a bot: the public one, and its owner's uploads, versions and actions."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from bots_sdk.sandbox.sources import MAX_BYTES
from league import accounts, bots
from league.competitions.ladder_entries import enter_ladder, leave_ladder
from league.models import Bot, BotVersion, Ladder, Standing
from league.ratings.standings import opponents, public_standing
from league.visibility import owns
from web.bot_panels import Panel, first_blocks, importance, opponents_page, panel
from web.bot_story import headline, next_step, tournaments_of
from web.forms import UploadForm, add_errors, status_of
from web.requests import page_of, signed_in, visitor, whole_number
from web.selectors.bots import last_challenges, last_faults, last_versions, source_text
from web.selectors.matches import last_seats, matches_waiting

_MATCHES = 20
_OPPONENTS = 20
_FAULTS_AMONG = 200
_VERSIONS = 10
_COMPARISONS = 5
_CHALLENGES = 5


@require_safe
def bot(request: HttpRequest, name: str) -> HttpResponse:
    """Show a bot: where it stands, its record on each ladder, its matches and versions."""
    found = Bot.objects.select_related("owner", "current").filter(name=name).first()
    if found is None:
        renamed = bots.find_renamed(name)
        if renamed is None:
            raise Http404
        return redirect("web:bot", renamed.name, permanent=True)
    rows = found.standings.select_related("ladder__anchor", "bot").order_by("ladder__slug")
    versions = last_versions(found, _VERSIONS)
    panels = [_panel(request, public_standing(row), versions) for row in rows]
    panels.sort(key=importance)
    unrated = first_blocks(found)
    online = bots.is_online(found, timezone.now())
    owned = found.retired_at is None and owns(visitor(request), found)
    context = {
        "bot": found,
        "online": online,
        "headline": headline(found, panels, unrated),
        "panels": panels,
        "unrated": unrated,
        "next_step": ""
        if panels or unrated
        else next_step(found, versions, online=online, owned=owned),
        "entries": tournaments_of(found),
        "seats": last_seats(found, _MATCHES),
        "waiting": matches_waiting(found),
        "faults": last_faults(found, _FAULTS_AMONG),
        "versions": versions,
        "comparisons": found.comparisons.select_related("bot", "new", "old")[:_COMPARISONS],
        "challenges": last_challenges(found, _CHALLENGES),
        "owned": owned,
        "challengeable": found.current_id is not None
        and found.retired_at is None
        and (owned or found.owner_id is None or found.challenges_from != "nobody"),
    }
    return render(request, "web/bot.html", context)


def _panel(request: HttpRequest, standing: Standing, versions: Sequence[BotVersion]) -> Panel:
    parameter = opponents_page(standing.ladder)
    return panel(standing, page_of(request, opponents(standing), _OPPONENTS, parameter), versions)


@login_required
@never_cache
def upload(request: HttpRequest, name: str) -> HttpResponse:
    """Upload a version of a hosted bot; then show how its check goes."""
    bot = get_object_or_404(
        Bot.objects.active().hosted().owned_by(signed_in(request)).select_related("current"),
        name=name,
    )
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            version = _upload(bot, form)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return redirect("web:version", bot.name, version.number)
    if not form.has_error(NON_FIELD_ERRORS, "same-file"):
        del form.fields["again"]
    context = {"bot": bot, "form": form}
    return render(request, "web/upload.html", context, status=status_of(form))


def _upload(bot: Bot, form: UploadForm) -> BotVersion:
    options = {name: form.cleaned_data[name] for name in ("note", "held", "again")}
    size = form.cleaned_data["source"].size
    if size > MAX_BYTES:
        raise ValidationError(
            {"source": f"The file has {size:,} bytes; at most 8 MiB are allowed."}
        )
    return bots.upload(bot=bot, data=form.cleaned_data["source"].read(), **options)


@login_required
@never_cache
def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Show an owner a version of a bot: the results of its check, and its file."""
    found = get_object_or_404(
        BotVersion.objects.select_related("bot__current"),
        bot__name=name,
        bot__owner=signed_in(request),
        number=number,
    )
    context = {
        "version": found,
        "qualifying": found.qualifying.all(),
        "live": found.state == BotVersion.State.CHECKING,
        "source": source_text(found),
    }
    return render(request, "web/version.html", context)


@login_required
@require_POST
def promote(request: HttpRequest, name: str) -> HttpResponse:
    """Make a version of a bot the current one."""
    bot = own_bot(request, name)
    number = whole_number(request.POST.get("version", ""))
    found = get_object_or_404(bot.versions, number=number or 0)
    try:
        bots.promote(found)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Version {found.number} plays from now on.")
    return redirect("web:version", bot.name, found.number)


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest, name: str) -> HttpResponse:
    """Replace a bot's token and show the new one once; the old one stops working."""
    bot = own_bot(request, name)
    context = {"token": accounts.new_bot_token(bot), "kind": "bot token", "bot": bot}
    return render(request, "web/token.html", context)


@login_required
@require_POST
def pause(request: HttpRequest, name: str) -> HttpResponse:
    """Pause a bot or resume it."""
    bot = own_bot(request, name)
    bots.change_bot(bot, paused=request.POST.get("paused") == "yes")
    messages.success(request, f"{bot} {'is paused' if bot.paused else 'plays again'}.")
    return redirect("web:account")


@login_required
@require_POST
def ladder_entry(request: HttpRequest, name: str, slug: str) -> HttpResponse:
    """Enter a bot on a ladder, or withdraw it from there."""
    bot = own_bot(request, name)
    ladder = get_object_or_404(Ladder, slug=slug)
    if request.POST.get("enter") == "yes":
        try:
            enter_ladder(ladder=ladder, bot=bot)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, f"{bot} is on the ladder {ladder}.")
    else:
        leave_ladder(ladder=ladder, bot=bot)
        messages.success(
            request,
            f"{bot} has left the ladder {ladder}. Its rating stays; the standings hide the bot.",
        )
    return redirect("web:account")


def own_bot(request: HttpRequest, name: str) -> Bot:
    """Return a bot of the person who is signed in, or raise ``Http404``."""
    if "\0" in name:  # from a form; an address cannot contain it
        raise Http404("No bot has this name.")
    return get_object_or_404(Bot, name=name, owner=signed_in(request), retired_at=None)
