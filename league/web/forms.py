"""What people fill in; the rules are in `league.accounts`, whose errors the forms show."""

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts


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
    """A new remote bot."""

    name = forms.CharField(
        max_length=32,
        help_text="3 to 32 of the characters a-z, 0-9 and -. It can't be changed later.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
