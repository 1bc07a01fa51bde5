"""The page of a person's tokens: who uses which, new owner tokens, and revoking."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from league import accounts
from web.forms import TokenForm, status_of
from web.requests import form_of_a_person, page_of, signed_in
from web.throttled import limited

_ROWS = 50


@login_required
@never_cache
@limited("passwords")
def tokens(request: HttpRequest) -> HttpResponse:
    """List a person's tokens; with POST create an owner token and show it once."""
    user = signed_in(request)
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        text = accounts.new_owner_token(user, name=form.cleaned_data["name"])
        return render(request, "web/token.html", {"token": text, "kind": "owner token"})
    page = page_of(request, accounts.tokens_of(user).order_by("-pk"), _ROWS)
    context = {"form": form, "page": page}
    return render(request, "web/tokens.html", context, status=status_of(form))


@form_of_a_person
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token: it stops working."""
    token = get_object_or_404(accounts.tokens_of(signed_in(request)), pk=pk)
    accounts.revoke(token)
    messages.success(request, f"The token {token.prefix}… is revoked. It does not work any more.")
    return redirect("web:tokens")
