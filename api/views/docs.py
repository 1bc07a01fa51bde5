"""The OpenAPI schema, and the reference of the API as a page for people."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.base import ApiView
from api.problems import CODES
from api.reference import Reference, common_problems
from api.schema import openapi_schema

FIRST_BOT = (
    ("accounts_create", "Sign up. The answer has your owner token."),
    ("bots_create", "Create a bot of the kind “remote”. The answer has its bot token."),
    ("ladders_list", "Choose a ladder."),
    (
        "ladders_enter",
        "Enter the bot on the ladder. While it is online, the league gives it matches.",
    ),
    ("turns_list", "Ask for the bot's turns with wait=25. A turn has the legal moves."),
    ("matches_move", "Send a move for the turn. Then ask for turns again."),
    ("matches_record", "After the match, get its record."),
)
"""The order of calls for a first bot: the operation's id, and what to do with it."""


class SchemaView(ApiView):
    """The OpenAPI schema."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """Get the schema of the whole API as OpenAPI 3.1 in JSON."""
        return Response(openapi_schema())


def docs(request: HttpRequest) -> HttpResponse:
    """Show the order of calls for a first bot, all calls, all objects and all problem codes."""
    schema = openapi_schema()
    reference = Reference(schema, request.build_absolute_uri("/").removesuffix("/"))
    calls = reference.calls()
    by_id = {call.id: call for group in calls.values() for call in group}
    context = {
        "info": schema["info"],
        "first_bot": [(by_id[name], text) for name, text in FIRST_BOT],
        "calls": calls,
        "common_problems": common_problems(by_id.values()),
        "objects": reference.objects(),
        "codes": CODES,
    }
    return render(request, "api/docs.html", context)
