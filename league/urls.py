"""Where everything is."""

from django.contrib import admin
from django.urls import include, path

from league.web.limited import limited

urlpatterns = [
    path("admin/login/", limited("passwords")(admin.site.login)),
    path("admin/", admin.site.urls),
    path("api/v1/", include("api.urls")),
    path("", include("league.web.urls")),
]
