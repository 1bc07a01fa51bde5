"""Where the pages are."""

from django.urls import path

from league.web import views

app_name = "web"
urlpatterns = [
    path("", views.home, name="home"),
    path("ladders/<slug:slug>/", views.ladder, name="ladder"),
    path("tournaments/", views.tournaments, name="tournaments"),
    path("tournaments/<int:pk>/", views.tournament, name="tournament"),
    path("matches/<int:pk>/", views.match, name="match"),
    path("matches/<int:pk>/record.json", views.record, name="record"),
]
