"""The forms; `league` holds the rules and raises the errors that the forms show."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Exists, OuterRef

from league import bots
from league.models import Bot, Ladder, LadderEntry
from league.models.bots import MAX_DESCRIPTION
from league.models.limits import CHALLENGES_PER_DAY

PASSWORD_RULES = "At least 8 characters; not a common password, and not similar to your username."
"""The rules of `AUTH_PASSWORD_VALIDATORS` in one sentence; an account has a name and no more."""
_NAMED_LADDERS = 3
_OPPONENTS = 2
"""Number of opponents that are chosen at first: each game can be played by three bots."""
_USUAL = ("house-thumb", "house-counting")
_VERSIONS = 50
"""Versions that can be chosen for a comparison."""


class SignUpForm(forms.Form):
    """A new account."""

    username = forms.CharField(
        max_length=150,
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        max_length=200,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=PASSWORD_RULES,
    )


class TokenForm(forms.Form):
    """A new owner token."""

    name = forms.CharField(
        max_length=40,
        required=False,
        help_text="A name by which you recognise the token, such as laptop.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )


class NewPasswordForm(forms.Form):
    """A new password."""

    new_password = forms.CharField(
        max_length=200,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=PASSWORD_RULES,
    )
    revoke = forms.BooleanField(
        required=False,
        label="Revoke my owner tokens too",
        help_text="Choose this if somebody else may know your password. Bot tokens keep working, "
        "so running bots play on.",
    )


class PasswordForm(NewPasswordForm):
    """A new password in place of the old one."""

    old = forms.CharField(
        label="Current password",
        max_length=200,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    field_order = ("old", "new_password", "revoke")


class BotForm(forms.Form):
    """A new bot."""

    name = forms.CharField(
        max_length=32,
        help_text="3 to 32 characters: a-z, 0-9 and -. You can rename the bot later.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    kind = forms.ChoiceField(
        label="Where it runs",
        choices=[
            (Bot.Kind.HOSTED, "In the league (hosted): you upload its file"),
            (Bot.Kind.REMOTE, "On your machine (remote): it plays over the API"),
        ],
        initial=Bot.Kind.HOSTED,
        widget=forms.RadioSelect,
    )


class UploadForm(forms.Form):
    """A version of a hosted bot."""

    source = forms.FileField(
        label="File",
        allow_empty_file=True,  # `league.bots.upload` has the message for an empty file
        help_text="One .py file, or a .zip file with a bot.py at its top, of at most 8 MiB; or a "
        ".wasm file (WebAssembly) of at most 4 MiB.",
        widget=forms.FileInput({"accept": ".py,.zip,.wasm"}),
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        label="Note (optional)",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    held = forms.BooleanField(
        required=False,
        label="Hold this version",
        help_text="A held version does not become current after its check. You can promote it "
        "later, or allow a comparison to promote it if it is better.",
    )
    again = forms.BooleanField(
        required=False,
        label="Upload the same file again",
        help_text="Choose the file once more. The new version begins without a rank.",
    )


class CodeForm(forms.Form):
    """A version of a hosted bot from the editor."""

    name = forms.CharField(
        label="Bot",
        max_length=32,
        help_text="One of your bots, or a new name of 3 to 32 characters: a-z, 0-9 and -.",
        widget=forms.TextInput(
            {
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "list": "own-bots",
            }
        ),
    )
    source = forms.CharField(
        label="File",
        max_length=1_000_000,
        strip=False,
        widget=forms.Textarea({"rows": 18, "spellcheck": "false", "class": "code"}),
    )


class NoteForm(forms.Form):
    """The note about a version."""

    note = forms.CharField(required=False, max_length=500)


class BotSettingsForm(forms.Form):
    """The name and settings of a bot."""

    name = forms.CharField(
        max_length=32,
        help_text="3 to 32 characters: a-z, 0-9 and -. Links with the old name keep working.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    description = forms.CharField(
        required=False,
        max_length=MAX_DESCRIPTION,
        help_text="Everybody can read it on the bot’s page.",
        widget=forms.Textarea({"rows": 3}),
    )
    challenges_from = forms.ChoiceField(
        label="Who may challenge the bot",
        choices=[
            (Bot.Challengers.ANYONE, "Anyone with an account"),
            (Bot.Challengers.NOBODY, "Nobody but you"),
        ],
        help_text="A challenge is one unrated block, played at once.",
        widget=forms.RadioSelect,
    )
    max_challenges_per_day = forms.IntegerField(
        label="Maximum number of challenges by others in 24 hours",
        min_value=int(CHALLENGES_PER_DAY.low),
        max_value=int(CHALLENGES_PER_DAY.high),
    )

    @staticmethod
    def values(bot: Bot) -> dict[str, Any]:
        """Return what a form shows of a bot."""
        return {name: getattr(bot, name) for name in BotSettingsForm.base_fields}


def _game_of_ladders(bot: Bot | None) -> str:
    """Return the choice of the game of one of a bot's ladders, named if they are few."""
    entries = bot.ladder_entries.order_by("ladder__title") if bot else None
    titles = [] if entries is None else list(entries.values_list("ladder__title", flat=True))
    if 0 < len(titles) <= _NAMED_LADDERS:
        return f"The game of your bot’s ladder: {' or '.join(titles)}"
    return "The game of one of your bot’s ladders"


class ChallengeForm(forms.Form):
    """A bot of one's own, its opponents, and the game.

    Attributes:
        has_bots: whether one of the person's bots can play now.
    """

    bot = forms.ChoiceField(label="Your bot")
    opponents = forms.MultipleChoiceField(
        required=False, label="Opponents", widget=forms.CheckboxSelectMultiple
    )
    others = forms.CharField(
        required=False,
        max_length=300,
        label="More opponents (optional)",
        help_text="Names of bots that accept challenges, separated by spaces.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    game = forms.ChoiceField(required=False, label="Game")

    def __init__(self, user: User, named: Bot, data: Any = None) -> None:
        """Create a form.

        Args:
            user: who challenges.
            named: the bot on whose page the person was: one of theirs, or an opponent.
            data: of a request.
        """
        super().__init__(data)
        online = Bot.objects.playable().online()
        own = list(online.owned_by(user).order_by("name").values_list("name", flat=True))
        is_own = named.owner_id == user.pk
        if is_own and named.name not in own:
            own.insert(0, named.name)  # the answer states why it can't play
        self.has_bots = bool(own)
        opponents = list(Bot.objects.playable().house().values_list("name", flat=True))
        if not is_own and named.name not in opponents:
            opponents.insert(0, named.name)
        first = [] if is_own else [named.name]
        usual = [name for name in (*_USUAL, *opponents) if name in opponents]
        picked = list(dict.fromkeys([*first, *usual]))[:_OPPONENTS]
        ladders = Ladder.objects.order_by("title").values_list("title", "game", "rules")
        games = {f"{game} {rules}": title for title, game, rules in ladders}
        self._fill("bot", [(name, name) for name in own], named.name if is_own else None)
        self._fill("opponents", [(name, name) for name in opponents], picked)
        usual_game = ("", _game_of_ladders(named if is_own else None))
        self._fill("game", [usual_game, *((key, f"{games[key]}: {key}") for key in games)], "")

    def _fill(self, name: str, choices: list[tuple[str, str]], initial: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices, field.initial = choices, initial

    def challenge(self) -> dict[str, Any]:
        """Return the arguments of `league.competitions.challenge`."""
        sent = self.cleaned_data
        more = sent["others"].replace(",", " ").split()
        game, _, rules = sent["game"].partition(" ")
        opponents = [*sent["opponents"], *more]
        return {"bot": sent["bot"], "opponents": opponents, "game": game, "rules": rules}


class CompareForm(forms.Form):
    """Two versions of a bot to compare.

    The ladders are those of games for which at least two of the versions qualified. The bot's own
    ladders come first, and the first ladder and two versions that play its game are chosen.

    Attributes:
        versions: number of versions that are ready.
        has_ladder: whether there is a ladder to choose.
    """

    new = forms.TypedChoiceField(label="New version", coerce=int)
    old = forms.TypedChoiceField(label="Old version", coerce=int)
    ladder = forms.ModelChoiceField(
        Ladder.objects.none(), label="Ladder from which the opponents come", empty_label=None
    )
    promote = forms.BooleanField(
        required=False,
        label="Promote the new version",
        help_text="If it is better, it becomes the current version, which plays.",
    )

    def __init__(self, bot: Bot, data: Any = None) -> None:
        super().__init__(data)
        ready = list(bot.versions.ready().order_by("-number")[:_VERSIONS])
        qualified = bots.qualified_games(ready)
        playing = {
            game: [number for number in qualified if game in qualified[number]]
            for game in set().union(*qualified.values())
        }
        is_own = Exists(LadderEntry.objects.filter(ladder=OuterRef("pk"), bot=bot))
        games = [game for game, numbers in playing.items() if len(numbers) > 1]
        ladders = Ladder.objects.filter(game__in=games).order_by(is_own.desc(), "title", "pk")
        first = ladders.first()
        chosen = playing[first.game] if first else list(qualified)
        self.versions, self.has_ladder = len(ready), first is not None
        ladder = self.fields["ladder"]
        assert isinstance(ladder, forms.ModelChoiceField)
        ladder.queryset, ladder.initial = ladders, first
        for at, name in enumerate(("new", "old")):
            field = self.fields[name]
            assert isinstance(field, forms.TypedChoiceField)
            field.choices = [(number, number) for number in qualified]
            field.initial = chosen[at] if len(chosen) > at else None


class QuarantineForm(forms.Form):
    """A quarantine of a bot or an account."""

    reason = forms.CharField(
        max_length=500,
        help_text="The owner and organisers see it. Everybody else sees “in quarantine”.",
        widget=forms.Textarea({"rows": 3}),
    )
    ends_at = forms.DateTimeField(
        required=False,
        label="End (UTC)",
        help_text="Empty: it holds until an organiser lifts it.",
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    seen = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class FindForm(forms.Form):
    """A bot or an account to find by name."""

    kind = forms.ChoiceField(choices=[("bot", "bot"), ("account", "account")])
    name = forms.CharField(max_length=150)


class FindMatchForm(forms.Form):
    """A match to find by number."""

    match = forms.IntegerField(
        min_value=1, max_value=2**63 - 1, widget=forms.NumberInput({"autocomplete": "off"})
    )


class DecisionForm(forms.Form):
    """The confirmation of a decision."""

    reason = forms.CharField()
    seen = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def __init__(
        self, data: Any = None, *, seen: str, help_text: str, optional: bool, max_letters: int = 500
    ) -> None:
        super().__init__(data, initial={"seen": seen})
        self.fields["reason"] = forms.CharField(
            max_length=max_letters,
            required=not optional,
            help_text=help_text,
            widget=forms.Textarea({"rows": 3}),
        )


class RestartForm(DecisionForm):
    """The confirmation that a cancelled tournament continues, with a new start."""

    starts_at = forms.DateTimeField(
        required=False,
        label="New start (UTC)",
        help_text="Empty: the planned start.",
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )


def add_errors(form: forms.Form, error: ValidationError) -> None:
    """Add a service's errors to a form: beside their fields, the other errors above the form."""
    by_field = error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
    for name, errors in by_field.items():
        if name in form.fields and form.fields[name].help_text == PASSWORD_RULES:
            form[name].help_text = ""  # each error states the rule that it is about
        for each in errors:
            form.add_error(name if name in form.fields else None, each)


def status_of(form: forms.Form) -> int:
    """Return the status of a page with a form: 200, 400 for errors, 429 for a limit per day."""
    if any(form.has_error(NON_FIELD_ERRORS, code) for code in bots.DAILY_LIMITS):
        return 429
    return 400 if form.errors else 200
