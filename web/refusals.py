"""Pages for requests that Django refuses before a view gets them."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults


def refuse(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for a form that is too long to be read, and Django's for other requests."""
    if isinstance(exception, RequestDataTooBig):
        # Without the request: the usual context would read the form again.
        return HttpResponse(render_to_string("413.html"), status=413)
    return defaults.bad_request(request, exception)
