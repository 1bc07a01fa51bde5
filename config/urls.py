"""The URLs of pages, API and admin pages."""

from django.contrib import admin
from django.urls import include, path

from web.throttled import limited

handler400 = "web.refusals.refuse"

urlpatterns = [
    path("admin/login/", limited("passwords")(admin.site.login)),
    path("admin/", admin.site.urls),
    path("api/v1/", include("api.urls")),
    path("", include("web.urls")),
]
