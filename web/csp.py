"""The content security policy of the pages: everything from this site, nothing inline."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_HEADER = "Content-Security-Policy"
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)


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
