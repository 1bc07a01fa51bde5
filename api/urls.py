"""The addresses of the API's calls. `api.middleware` answers all other addresses."""

from django.urls import path

from api.play import moves
from api.views import (
    accounts,
    bots,
    comparisons,
    docs,
    fairness,
    games,
    ladders,
    matches,
    standings,
    tournaments,
)

urlpatterns = [
    path("schema/", docs.SchemaView.as_view(), name="api-schema"),
    path("docs/", docs.docs, name="api-docs"),
    path("accounts", accounts.AccountsView.as_view()),
    path("tokens", accounts.TokensView.as_view()),
    path("tokens/current", accounts.CurrentTokenView.as_view()),
    path("tokens/<int:token_id>", accounts.TokenView.as_view()),
    path("games", games.GamesView.as_view()),
    path("bots", bots.BotsView.as_view()),
    path("bots/<slug:name>", bots.BotView.as_view()),
    path("bots/<slug:name>/token", bots.BotTokenView.as_view()),
    path("bots/<slug:name>/versions", bots.VersionsView.as_view()),
    path("bots/<slug:name>/versions/<int:number>", bots.VersionView.as_view()),
    path("bots/<slug:name>/versions/<int:number>/source", bots.VersionSourceView.as_view()),
    path("bots/<slug:name>/versions/<int:number>/log", bots.VersionLogView.as_view()),
    path("bots/<slug:name>/versions/<int:number>/promote", bots.PromoteVersionView.as_view()),
    path("bots/<slug:name>/ladders/<slug:slug>", standings.BotStandingView.as_view()),
    path(
        "bots/<slug:name>/ladders/<slug:slug>/performance",
        standings.PerformanceHistoryView.as_view(),
    ),
    path("bots/<slug:name>/comparisons", comparisons.BotComparisonsView.as_view()),
    path("comparisons/<int:comparison_id>", comparisons.ComparisonView.as_view()),
    path("comparisons/<int:comparison_id>/cancel", comparisons.CancelComparisonView.as_view()),
    path("ladders", ladders.LaddersView.as_view()),
    path("ladders/<slug:slug>", ladders.LadderView.as_view()),
    path("ladders/<slug:slug>/standings", ladders.LadderStandingsView.as_view()),
    path("ladders/<slug:slug>/cross-table", standings.LadderCrossTableView.as_view()),
    path("ladders/<slug:slug>/fair-play", fairness.FairPlayView.as_view()),
    path("ladders/<slug:slug>/rounds", ladders.LadderRoundsView.as_view()),
    path("ladders/<slug:slug>/export", ladders.LadderExportView.as_view()),
    path("ladders/<slug:slug>/ledger", ladders.LadderLedgerView.as_view()),
    path("ladders/<slug:slug>/revisions", ladders.LadderRevisionsView.as_view()),
    path("ladders/<slug:slug>/entries/<slug:name>", ladders.LadderEntryView.as_view()),
    path("tournaments", tournaments.TournamentsView.as_view()),
    path("tournaments/<int:tournament_id>", tournaments.TournamentView.as_view()),
    path("tournaments/<int:tournament_id>/cancel", tournaments.CancelTournamentView.as_view()),
    path(
        "tournaments/<int:tournament_id>/standings", tournaments.TournamentStandingsView.as_view()
    ),
    path("tournaments/<int:tournament_id>/rounds", tournaments.TournamentRoundsView.as_view()),
    path(
        "tournaments/<int:tournament_id>/cross-table",
        tournaments.TournamentCrossTableView.as_view(),
    ),
    path("tournaments/<int:tournament_id>/bracket", tournaments.TournamentBracketView.as_view()),
    path("tournaments/<int:tournament_id>/entries", tournaments.TournamentEntriesView.as_view()),
    path(
        "tournaments/<int:tournament_id>/entries/<slug:name>/disqualify",
        tournaments.DisqualificationView.as_view(),
    ),
    path(
        "tournaments/<int:tournament_id>/entries/<slug:name>",
        tournaments.TournamentEntryView.as_view(),
    ),
    path("matches", matches.MatchesView.as_view()),
    path("matches/<int:match_id>", matches.MatchView.as_view()),
    path("matches/<int:match_id>/record", matches.RecordView.as_view()),
    path("matches/<int:match_id>/log", matches.MatchLogView.as_view()),
    path("matches/<int:match_id>/moves", moves.MatchMovesView.as_view()),
    path("moves", moves.MovesView.as_view()),
]
