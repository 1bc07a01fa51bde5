"""What an owner does with a bot: uploads, versions and actions."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from bots_sdk.sandbox.sources import MAX_BYTES
from league import bots
from league.competitions.ladder_entries import enter_ladder, leave_ladder
from league.models import Bot, BotVersion, Ladder
from web.forms import UploadForm, add_errors, status_of
from web.requests import form_of_a_person, signed_in, whole_number
from web.selectors.bots import ladders_for, source_text


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
        text = f"The file has {size:,} bytes; the limit is {MAX_BYTES:,} (8 MiB)."
        spaced = text.replace(",", "\N{NO-BREAK SPACE}")
        raise ValidationError({"source": f"{spaced} Upload a smaller file."})
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
    qualifying = list(found.qualifying.all())
    games = [match.game for match in qualifying if match.passed]
    context = {
        "version": found,
        "qualifying": qualifying,
        "passed": [match for match in qualifying if match.passed and not match.printed],
        "ladders": ladders_for(found.bot, games),
        "live": found.state == BotVersion.State.CHECKING,
        "source": source_text(found),
    }
    return render(request, "web/version.html", context)


@form_of_a_person
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


@form_of_a_person
@never_cache
def new_token(request: HttpRequest, name: str) -> HttpResponse:
    """Replace a bot's token and show the new one once; the old one stops working."""
    bot = own_bot(request, name)
    try:
        text = bots.renew_token(bot)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("web:account")
    context = {"token": text, "kind": "bot token", "bot": bot}
    return render(request, "web/token.html", context)


@form_of_a_person
def pause(request: HttpRequest, name: str) -> HttpResponse:
    """Pause a bot or resume it."""
    bot = own_bot(request, name)
    try:
        bots.change_bot(bot, paused=request.POST.get("paused") == "yes")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{bot} {'is paused' if bot.paused else 'plays again'}.")
    return redirect("web:account")


@form_of_a_person
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
