"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from web import health, metrics
from web.docs import views as docs
from web.views import (
    account,
    bot_settings,
    bots,
    challenges,
    comparisons,
    decisions,
    home,
    ladders,
    matches,
    organise,
    passwords,
    tournaments,
)

app_name = "web"
urlpatterns = [
    path("", home.home, name="home"),
    path("ladders/<slug:slug>/", ladders.ladder, name="ladder"),
    path("ladders/<slug:slug>/luck/", ladders.luck, name="luck"),
    path("ladders/<slug:slug>/fair-play/", ladders.fair_play, name="fair-play"),
    path("ladders/<slug:slug>/rounds/<int:number>/", ladders.ladder_round, name="round"),
    path("bots/<slug:name>/", bots.bot, name="bot"),
    path("bots/<slug:name>/challenge/", challenges.new_challenge, name="new-challenge"),
    path("challenges/<int:pk>/", challenges.challenge, name="challenge"),
    path("comparisons/<int:pk>/", comparisons.comparison, name="comparison"),
    path("tournaments/", tournaments.tournaments, name="tournaments"),
    path("tournaments/<int:pk>/", tournaments.tournament, name="tournament"),
    path("tournaments/<int:pk>/enter/", tournaments.tournament_entry, name="tournament-entry"),
    path(
        "tournaments/<int:pk>/withdraw/",
        tournaments.tournament_withdrawal,
        name="tournament-withdrawal",
    ),
    path("matches/<int:pk>/", matches.match, name="match"),
    path("matches/<int:pk>/phases.json", matches.match_phases, name="match-phases"),
    path("matches/<int:pk>/record.json", matches.record, name="record"),
    path("account/", account.account, name="account"),
    path("account/sign-in/", account.sign_in, name="sign-in"),
    path("account/sign-out/", LogoutView.as_view(), name="sign-out"),
    path("account/sign-up/", account.sign_up, name="sign-up"),
    path("account/password/", passwords.change_password, name="change-password"),
    path("account/reset/<str:uid>/<str:token>/", passwords.reset_password, name="reset-password"),
    path("account/bots/<slug:name>/token/", bots.new_token, name="new-token"),
    path("account/bots/<slug:name>/upload/", bots.upload, name="upload"),
    path("account/bots/<slug:name>/versions/<int:number>/", bots.version, name="version"),
    path(
        "account/bots/<slug:name>/versions/<int:number>/note/",
        bot_settings.note,
        name="change-note",
    ),
    path(
        "account/bots/<slug:name>/versions/<int:number>/withdraw/",
        bot_settings.withdraw,
        name="withdraw-version",
    ),
    path("account/bots/<slug:name>/settings/", bot_settings.settings, name="bot-settings"),
    path("account/bots/<slug:name>/delete/", bot_settings.delete, name="delete-bot"),
    path("account/bots/<slug:name>/promote/", bots.promote, name="promote"),
    path("account/bots/<slug:name>/pause/", bots.pause, name="pause"),
    path("account/bots/<slug:name>/ladders/<slug:slug>/", bots.ladder_entry, name="ladder-entry"),
    path("account/bots/<slug:name>/compare/", comparisons.compare, name="compare"),
    path(
        "account/comparisons/<int:pk>/cancel/",
        comparisons.cancel_comparison,
        name="cancel-comparison",
    ),
    path("organise/", organise.overview, name="organise"),
    path("organise/bots/<slug:name>/", organise.bot, name="organise-bot"),
    path("organise/accounts/<str:name>/", organise.account, name="organise-account"),
    path(
        "organise/accounts/<str:name>/reset-link/",
        passwords.issue_reset_link,
        name="issue-reset-link",
    ),
    path("organise/log/", organise.log, name="moderation-log"),
    path("organise/log/export/", organise.log_export, name="moderation-log-export"),
    path(
        "organise/ladders/<slug:slug>/rounds/<int:number>/blocks/<int:block>/",
        decisions.block,
        name="organise-block",
    ),
    path("organise/tournaments/<int:pk>/", decisions.tournament, name="organise-tournament"),
    path("organise/tournaments/<int:pk>/bots/<slug:name>/", decisions.entry, name="organise-entry"),
    path("docs/", docs.front, name="docs"),
    re_path(r"^docs/(?P<path>.+\.(?:svg|jsonl))$", docs.file, name="document-file"),
    path("docs/<path:path>/", docs.document, name="document"),
    path("healthz", health.healthz, name="healthz"),
    path("healthz/web", health.web_door),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
]
