"""The pages on which a person sets a new password."""

from django.contrib import messages
from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from league import accounts
from league.moderation import log
from web.forms import NewPasswordForm, PasswordForm, add_errors, status_of
from web.requests import organiser_only, signed_in
from web.throttled import limited


@sensitive_post_parameters()
@login_required
@never_cache
@limited("passwords")
def change_password(request: HttpRequest) -> HttpResponse:
    """Change the password of the person who is signed in; other sessions end."""
    user = signed_in(request)
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        if authenticate(request, username=user.username, password=sent.pop("old")) != user:
            form.add_error("old", "This is not your current password.")
        else:
            try:
                accounts.set_password(user, sent["new_password"], revoke_tokens=sent["revoke"])
            except ValidationError as error:
                add_errors(form, error)
            else:
                update_session_auth_hash(request, user)
                messages.success(request, _done(sent["revoke"]))
                return redirect("web:account")
    context = {"form": form, "title": "Change your password"}
    return render(request, "registration/password.html", context, status=status_of(form))


@sensitive_post_parameters()
@never_cache
@limited("passwords")
def reset_password(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Set a new password with a one-time link."""
    user = accounts.user_of_reset(uid, token)
    form = NewPasswordForm(request.POST or None)
    if user is not None and request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        password, revoke = sent["new_password"], sent["revoke"]
        try:
            user = accounts.reset_password(uid, token, password, revoke_tokens=revoke)
        except ValidationError as error:
            add_errors(form, error)
        else:
            if user is None:
                return render(request, "registration/dead_link.html", status=404)
            messages.success(request, f"{_done(sent['revoke'])} Now sign in.")
            return redirect("web:sign-in")
    if user is None:
        return render(request, "registration/dead_link.html", status=404)
    context = {"form": form, "title": f"New password of {user.username}"}
    response = render(request, "registration/password.html", context, status=status_of(form))
    # The address is the secret. With "no-referrer" browsers send "Origin: null" with the form, and
    # Django refuses that as forged.
    response["Referrer-Policy"] = "strict-origin"
    return response


@organiser_only
@require_POST
def issue_reset_link(request: HttpRequest, name: str) -> HttpResponse:
    """Show an organiser a one-time link for somebody who has lost the password."""
    user = get_object_or_404(User, username=name, is_active=True)
    if not accounts.may_reset(signed_in(request), user):
        messages.error(
            request,
            f"{user} is an organiser. An operator issues the link: manage.py reset_link {user}.",
        )
        return redirect("web:organise-account", name)
    log.note(log.Action.RESET_LINK, made_by=signed_in(request), subject=user, account=user)
    path = reverse("web:reset-password", args=accounts.new_reset(user))
    context = {"subject": user, "link": request.build_absolute_uri(path)}
    return render(request, "web/organise/reset_link.html", context)


def _done(revoked: bool) -> str:
    tokens = "Your owner tokens are revoked." if revoked else "Your tokens still work."
    return f"The new password is set, and other sessions have ended. {tokens}"
