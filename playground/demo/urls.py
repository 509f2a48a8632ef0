"""Where the demo answers; mounted under `demo/`."""

from __future__ import annotations

from django.urls import path

from playground.demo import views

urlpatterns = [
    path("", views.page, name="demo"),
    path("ask", views.ask, name="demo-ask"),
    path("await", views.await_, name="demo-await"),
    path("cookbook/", views.saved, {"name": "cookbook"}, name="demo-cookbook"),
    path("cart/", views.saved, {"name": "cart"}, name="demo-cart"),
    path("scenarios/", views.page, name="demo-scenarios"),
    path("scenarios/<slug:slug>/ask", views.scenario, name="demo-scenario"),
]
