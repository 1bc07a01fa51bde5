"""What people fill in; the rules are in `league.accounts`, whose errors the forms show."""

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts

from league.models import Bot


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
