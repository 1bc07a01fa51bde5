"""What people fill in; the rules are in `league.accounts`, whose errors the forms show."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts

from league.models import Bot, BotVersion, Ladder


class SignUpForm(forms.Form):
    """A new account."""

    username = forms.CharField(
        max_length=150,
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=" ".join(password_validators_help_texts()),
    )


class BotForm(forms.Form):
    """A new bot."""

    name = forms.CharField(
        max_length=32,
        help_text="3 to 32 of the characters a-z, 0-9 and -. It can't be changed later.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    kind = forms.ChoiceField(
        label="Where it runs",
        choices=[
            (Bot.Kind.HOSTED, "Here: I upload its file"),
            (Bot.Kind.REMOTE, "On my machine: it plays over the API"),
        ],
        initial=Bot.Kind.HOSTED,
        widget=forms.RadioSelect,
    )


class UploadForm(forms.Form):
    """A version of a hosted bot."""

    source = forms.FileField(
        label="File",
        allow_empty_file=True,  # `hosting.upload` says what is wrong with it
        help_text="One .py file, or a .zip with a bot.py; 1 MiB at most.",
        widget=forms.FileInput({"accept": ".py,.zip"}),
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        label="Note (may be left out)",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    held = forms.BooleanField(
        required=False,
        label="Hold it back",
        help_text="It doesn't take over when it is ready, but when you promote it, or when a "
        "comparison finds it better.",
    )


class CompareForm(forms.Form):
    """Two versions of a bot to compare."""

    new = forms.TypedChoiceField(label="Is version", coerce=int)
    old = forms.TypedChoiceField(label="better than version", coerce=int)
    ladder = forms.ModelChoiceField(
        Ladder.objects.all(), label="against the field of", empty_label=None
    )
    promote = forms.BooleanField(required=False, label="If it is, have it play from then on")

    def __init__(self, bot: Bot, data: Any = None) -> None:
        super().__init__(data)
        ready = bot.versions.filter(state=BotVersion.State.READY).order_by("-number")
        numbers = list(ready.values_list("number", flat=True)[:50])
        for at, field in enumerate(("new", "old")):
            self.fields[field].choices = [(number, number) for number in numbers]
            self.fields[field].initial = numbers[at] if len(numbers) > at else None
