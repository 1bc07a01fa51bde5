"""``/healthz`` and ``/readyz``: for those who run the league, and their load balancers."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.bots import jails
from league.health import find_alarms, find_faults


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that this process answers; it asks nobody else."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether the league can do its work, else 503 and what is wrong, by part.

    A worker without a sandbox is among the ``limits``: all but hosted bots can play. Alarms are for
    the operator and leave it ready: wrong ratings don't get right by sending nobody here.
    """
    faults = find_faults()
    sandbox = jails.find_fault()
    told = {
        "status": "not ready" if faults else "ready",
        "faults": faults,
        "limits": {"sandbox": sandbox} if sandbox else {},
    }
    if alarms := find_alarms():
        told["alarms"] = alarms
    return JsonResponse(told, status=503 if faults else 200)
