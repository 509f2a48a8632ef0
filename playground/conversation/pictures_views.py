"""Pictures that agents name, loaded by the playground and served from its own origin."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from playground.conversation.pictures import picture_url
from playground.engine.pictures import PictureError, fetch_picture
from playground.ui.helpers import get_run, make_sandboxed

#: Seconds that the browser keeps a picture, and a failure, in local mode. The playground keeps
#: neither.
MAX_AGE, FAILURE_MAX_AGE = 86_400, 60


@require_GET
async def picture(request: HttpRequest, pk: str) -> HttpResponse:
    """Return the picture `url` of a run, which has the signature of a page with that run.

    A picture that cannot be shown is a JSON object: `label` of a word or two, and `reason`.
    """
    run = await sync_to_async(get_run)(request, pk)
    url = picture_url(request.GET.get("url", ""), run.pk)
    if url is None or not settings.AGENT_IMAGES:
        raise Http404
    response: HttpResponse
    try:
        found = await fetch_picture(url, owner=run.owner_id)
    except PictureError as error:
        response = JsonResponse({"label": error.label, "reason": str(error)}, status=422)
        return _with_max_age(response, FAILURE_MAX_AGE)
    response = HttpResponse(found.data, content_type=found.media_type)
    # It may be opened as a page of its own.
    response["Content-Disposition"] = "inline"
    # Compressed already: gzip would take a thread's time for nothing.
    response["Content-Encoding"] = "identity"
    return _with_max_age(make_sandboxed(response), MAX_AGE)


def _with_max_age(response: HttpResponse, seconds: int) -> HttpResponse:
    if not settings.HOSTED:  # There the middleware lets browsers keep nothing.
        response["Cache-Control"] = f"private, max-age={seconds}"
    return response
