"""Addresses of websockets."""

from django.urls import path

from playground.collection_consumer import CollectionRunConsumer
from playground.consumers import RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<uuid:pk>/", RunConsumer.as_asgi()),
    path(
        "ws/collection-runs/<uuid:pk>/<slug:show>/<int:page>/<str:known>/",
        CollectionRunConsumer.as_asgi(),
    ),
]
