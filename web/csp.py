"""The content security policy of the pages: everything from this site, nothing inline.

Other sites may frame the embeds alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.clickjacking import xframe_options_exempt

_HEADER = "Content-Security-Policy"
_DIRECTIVES = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ]
)
_POLICY = f"{_DIRECTIVES}; frame-ancestors 'none'"
_FRAMED_POLICY = f"{_DIRECTIVES}; frame-ancestors *"


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Add the policy to every response whose view has not set another one."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if settings.DEBUG and response.status_code >= 400:
            return response  # Django's error pages have inline styles
        response.headers.setdefault(_HEADER, _POLICY)
        return response

    return middleware


def framed(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view whose pages every other site may show in a frame."""

    @wraps(view)
    def with_policy(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response[_HEADER] = _FRAMED_POLICY
        return response

    return xframe_options_exempt(with_policy)
