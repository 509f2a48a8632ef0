"""Addresses of websockets."""

from django.urls import path

from playground.consumers import RunConsumer

websocket_urlpatterns = [path("ws/runs/<uuid:pk>/", RunConsumer.as_asgi())]
