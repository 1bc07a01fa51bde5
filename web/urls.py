"""Where the pages are."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, re_path

from web import account_views, health, ledger_views, metrics, views
from web.docs import views as docs
from web.throttled import limited

app_name = "web"
urlpatterns = [
    path("", views.home, name="home"),
    path("ladders/<slug:slug>/", views.ladder, name="ladder"),
    path("ladders/<slug:slug>/fair-play/", account_views.fair_play, name="fair-play"),
    path("ladders/<slug:slug>/rounds/<int:number>/", ledger_views.ladder_round, name="round"),
    path("bots/<slug:name>/", views.bot, name="bot"),
    path("comparisons/<int:pk>/", views.comparison, name="comparison"),
    path("tournaments/", views.tournaments, name="tournaments"),
    path("tournaments/<int:pk>/", views.tournament, name="tournament"),
    path("matches/<int:pk>/", views.match, name="match"),
    path("matches/<int:pk>/steps/", views.match_steps, name="match-steps"),
    path("matches/<int:pk>/record.json", views.record, name="record"),
    path("docs/", docs.front, name="docs"),
    re_path(r"^docs/(?P<path>.+\.(?:svg|jsonl))$", docs.file, name="document-file"),
    path("docs/<path:path>/", docs.document, name="document"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("account/sign-in/", limited("passwords")(LoginView.as_view()), name="sign-in"),
    path("account/sign-out/", LogoutView.as_view(), name="sign-out"),
    path("account/", account_views.account, name="account"),
    path("account/sign-up/", account_views.sign_up, name="sign-up"),
    path("account/bots/<slug:name>/token/", account_views.new_token, name="new-token"),
    path("account/bots/<slug:name>/upload/", account_views.upload, name="upload"),
    path("account/bots/<slug:name>/versions/<int:number>/", account_views.version, name="version"),
    path("account/bots/<slug:name>/compare/", account_views.compare, name="compare"),
    path("account/bots/<slug:name>/promote/", account_views.promote, name="promote"),
    path(
        "account/comparisons/<int:pk>/cancel/",
        account_views.cancel_comparison,
        name="cancel-comparison",
    ),
    path("account/bots/<slug:name>/pause/", account_views.pause, name="pause"),
    path(
        "account/bots/<slug:name>/ladders/<slug:slug>/",
        account_views.ladder_entry,
        name="ladder-entry",
    ),
    path("tournaments/<int:pk>/enter/", account_views.tournament_entry, name="tournament-entry"),
    path(
        "tournaments/<int:pk>/withdraw/",
        account_views.tournament_withdrawal,
        name="tournament-withdrawal",
    ),
]
