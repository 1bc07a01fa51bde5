"""``/healthz`` and ``/readyz``, for operators and load balancers.

`league.health` has the checks.
"""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.bots import sandbox_reports
from league.health import find_alarms, find_faults


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if this process runs, without a query to any server."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def web_door(request: HttpRequest) -> HttpResponse:
    """Answer 200 if pages can be read and bots be entered; the clock probes it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:  # the clock logs the outage, once
        return HttpResponse("the database can't be reached", status=503, content_type="text/plain")
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the league can do its work, else 503 with the faults by part.

    A worker without a sandbox is among the ``limits``, since all bots but hosted ones can play.
    Alarms are for the operator and leave the league ready: refusing visitors repairs no ratings.
    """
    faults = find_faults()
    sandbox = sandbox_reports.find_fault()
    answer = {
        "status": "not ready" if faults else "ready",
        "faults": faults,
        "limits": {"sandbox": sandbox} if sandbox else {},
    }
    if alarms := find_alarms():
        answer["alarms"] = alarms
    return JsonResponse(answer, status=503 if faults else 200)
