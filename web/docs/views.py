"""The pages of the documents, and search in them."""

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from web.docs.library import EXAMPLE, FILES, FRONT_PAGE, find, find_file, shelves
from web.docs.search import search


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """Show the front page of the documents, or with ``?q=`` the sections that contain a query."""
    query = request.GET.get("q", "").strip()
    if query:
        found = {"query": query, "results": search(query), "shelves": shelves()}
        return render(request, "web/docs/search.html", found)
    return document(request, FRONT_PAGE)


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """Show a document.

    Raises:
        Http404: there is no such document.
    """
    found = find(path)
    if found is None:
        raise Http404(f"There is no document {path}.")
    if path != FRONT_PAGE and request.path != found.address:
        return redirect(found.address, permanent=True)
    here = request.build_absolute_uri("/").rstrip("/")
    html = found.html.replace(EXAMPLE, here)  # so that commands can be copied
    shown = replace(found, html=_in_cards(html) if path == FRONT_PAGE else html)
    return render(request, "web/docs/document.html", {"document": shown, "shelves": shelves()})


def _in_cards(html: str) -> str:
    """Return the front page with each heading and the list below it in a card."""
    lead, *parts = html.split("<h2")
    cards = "".join(f'<section class="panel"><h2{part}</section>' for part in parts)
    return f'{lead}<div class="readers">{cards}</div>'


@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    """Send a picture or an example that a document shows.

    Raises:
        Http404: there is no such file, or the site does not serve it.
    """
    found = find_file(path)
    if found is None:
        raise Http404(f"There is no file {path}.")
    return HttpResponse(found.read_bytes(), content_type=FILES[found.suffix])
