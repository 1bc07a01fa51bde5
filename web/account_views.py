"""Pages for those who own bots. Tokens are in the answer that makes them and nowhere else."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from bots_sdk.sandbox.sources import MAX_BYTES
from league import accounts, bots, competitions
from league.competitions.ladder_entries import enter_ladder, leave_ladder
from league.models import Bot, BotVersion, Comparison, Ladder, Tournament
from league.ratings.fair_play import suspicious_pairs
from web import selectors
from web.forms import BotForm, CompareForm, SignUpForm, UploadForm
from web.throttled import limited


@sensitive_post_parameters("password")
@never_cache
@limited("accounts")
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account, sign its owner in and show the owner token once."""
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user, token = accounts.create_account(**form.cleaned_data)
        except ValidationError as error:
            _add_errors(form, error)
        else:
            login(request, user)
            context = {"token": token, "what": "owner token", "fresh_account": True}
            return render(request, "web/token.html", context)
    status = 400 if form.errors else 200
    return render(request, "registration/sign_up.html", {"form": form}, status=status)


@login_required
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """A person's bots; with POST a new one: its token is shown once, or it waits for its file."""
    form = BotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            bot, token = bots.create_bot(owner=request.user, **form.cleaned_data)
        except ValidationError as error:
            _add_errors(form, error)
        else:
            if bot.kind == Bot.Kind.HOSTED:
                messages.success(request, f"{bot} is there. Now upload its first version.")
                return redirect("web:upload", bot.name)
            context = {"token": token, "what": "bot token", "bot": bot}
            return render(request, "web/token.html", context)
    now = timezone.now()
    own = list(selectors.bots_of(request.user))
    ladders = list(Ladder.objects.all())
    context = {
        "form": form,
        "bots": [(bot, bots.is_online(bot, now), _entries(bot, ladders)) for bot in own],
    }
    return render(request, "web/account.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest, name: str) -> HttpResponse:
    """Give a bot a new token and show it once; the old one stops working."""
    bot = _own_bot(request, name)
    context = {"token": accounts.new_bot_token(bot), "what": "bot token", "bot": bot}
    return render(request, "web/token.html", context)


@login_required
@never_cache
def upload(request: HttpRequest, name: str) -> HttpResponse:
    """Take a new version of a hosted bot."""
    bot = get_object_or_404(
        Bot.objects.select_related("current"), name=name, owner=request.user, kind=Bot.Kind.HOSTED
    )
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        try:
            if sent["source"].size > MAX_BYTES:
                raise ValidationError(
                    {"source": f"It has {sent['source'].size:,} bytes; 1 MiB is the most."}
                )
            version = bots.upload(
                bot=bot, data=sent["source"].read(), note=sent["note"], held=sent["held"]
            )
        except ValidationError as error:
            _add_errors(form, error)
        else:
            return redirect("web:version", bot.name, version.number)
    context = {"bot": bot, "form": form}
    return render(request, "web/upload.html", context, status=400 if form.errors else 200)


@login_required
@never_cache
def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """A version of a bot as its owner sees it: how it was checked, and its file."""
    found = get_object_or_404(
        BotVersion.objects.select_related("bot__current"),
        bot__name=name,
        bot__owner=request.user,
        number=number,
    )
    context = {
        "version": found,
        "trials": found.trials.all(),
        "live": found.state == BotVersion.State.CHECKING,
        "source": selectors.source_of(found),
    }
    return render(request, "web/version.html", context)


@login_required
@never_cache
def compare(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether a version of a hosted bot is better than another."""
    bot = get_object_or_404(Bot, name=name, owner=request.user, kind=Bot.Kind.HOSTED)
    form = CompareForm(bot, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            comparison = competitions.compare(bot=bot, **form.cleaned_data)
        except ValidationError as error:
            _add_errors(form, error)
        else:
            return redirect("web:comparison", comparison.pk)
    context = {"bot": bot, "form": form, "versions": bot.versions.filter(state="ready").count()}
    return render(request, "web/compare.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def promote(request: HttpRequest, name: str) -> HttpResponse:
    """Have a version of a bot play from now on."""
    bot = _own_bot(request, name)
    number = request.POST.get("version", "")
    found = get_object_or_404(bot.versions, number=int(number) if number.isdecimal() else 0)
    try:
        bots.promote(found)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Version {found.number} plays from now on.")
    return redirect("web:version", bot.name, found.number)


@login_required
@require_POST
def cancel_comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """End a comparison without a verdict."""
    comparison = get_object_or_404(Comparison, pk=pk, bot__owner=request.user)
    competitions.cancel_comparison(comparison)
    return redirect("web:comparison", pk)


@login_required
@require_POST
def pause(request: HttpRequest, name: str) -> HttpResponse:
    """Pause a bot or let it play again."""
    bot = _own_bot(request, name)
    bots.change_bot(bot, paused=request.POST.get("paused") == "yes")
    messages.success(request, f"{bot} {'is paused' if bot.paused else 'plays again'}.")
    return redirect("web:account")


@login_required
@require_POST
def ladder_entry(request: HttpRequest, name: str, slug: str) -> HttpResponse:
    """Put a bot on a ladder or take it off."""
    bot = _own_bot(request, name)
    ladder = get_object_or_404(Ladder, slug=slug)
    if request.POST.get("enter") == "yes":
        try:
            enter_ladder(ladder=ladder, bot=bot)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, f"{bot} is on {ladder}.")
    else:
        leave_ladder(ladder=ladder, bot=bot)
        messages.success(request, f"{bot} has left {ladder}: it is hidden there, its rating stays.")
    return redirect("web:account")


@login_required
@require_POST
def tournament_entry(request: HttpRequest, pk: int) -> HttpResponse:
    """Enter a bot for a tournament."""
    tournament = get_object_or_404(Tournament, pk=pk)
    bot = _own_bot(request, request.POST.get("bot", ""))
    try:
        competitions.enter(tournament=tournament, bot=bot)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{bot} is entered.")
    return redirect("web:tournament", pk=pk)


@login_required
@require_POST
def tournament_withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a bot out of a tournament."""
    tournament = get_object_or_404(Tournament, pk=pk)
    bot = _own_bot(request, request.POST.get("bot", ""))
    try:
        competitions.withdraw(tournament=tournament, bot=bot)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{bot} is withdrawn.")
    return redirect("web:tournament", pk=pk)


@login_required
@never_cache
def fair_play(request: HttpRequest, slug: str) -> HttpResponse:
    """For organisers: pairs of bots that do better next to each other than they should."""
    if not accounts.is_organiser(request.user):
        raise PermissionDenied
    ladder = get_object_or_404(Ladder, slug=slug)
    context = {"ladder": ladder, "reports": suspicious_pairs(ladder)}
    return render(request, "web/fair_play.html", context)


def _own_bot(request: HttpRequest, name: str) -> Bot:
    return get_object_or_404(Bot, name=name, owner=request.user)


def _entries(bot: Bot, ladders: list[Ladder]) -> list[tuple[Ladder, bool]]:
    """Return each ladder and whether the bot is on it."""
    on = {entry.ladder_id for entry in bot.ladder_entries.all()}
    return [(ladder, ladder.pk in on) for ladder in ladders]


def _add_errors(form: Form, error: ValidationError) -> None:
    """Show a service's errors by the field they are about, the others above the form."""
    by_field = error.message_dict if hasattr(error, "error_dict") else {None: error.messages}
    for field, told in by_field.items():
        for message in told:
            form.add_error(field if field in form.fields else None, message)
