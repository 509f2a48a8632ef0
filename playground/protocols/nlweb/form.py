"""The composer's form of an NLWeb request (0.55 sections 3 and 4.2)."""

from __future__ import annotations

from playground.protocols.nlweb.versions import RESPONSE_FORMATS
from playground.protocols.request_form import FormSection, MemberField, OtherMembers

FORM = (
    FormSection(
        title="Await",
        operation="await",
        fields=(
            MemberField(
                pointer="/promise_token", placeholder="The token of the promise", is_required=True
            ),
            MemberField(pointer="/action", suggestions="await-actions", is_required=True),
        ),
        suggestions={"await-actions": ("checkin", "cancel")},
    ),
    FormSection(
        title="Query",
        member="/query",
        operation="ask",
        fields=(
            MemberField(
                pointer="/query/text",
                placeholder="Ask in natural language",
                is_required=True,
                is_wide=True,
            ),
            MemberField(pointer="/query/site"),
            MemberField(pointer="/query/itemType", suggestions="item-types"),
            MemberField(pointer="/query/location"),
            MemberField(pointer="/query/price", types="text number"),
        ),
        others=OtherMembers(name="filter"),
        suggestions={
            "item-types": (
                "Recipe",
                "Restaurant",
                "Product",
                "Movie",
                "Article",
                "HowTo",
                "Event",
            )
        },
    ),
    FormSection(
        title="Context",
        id="form-context",
        member="/context",
        operation="ask",
        fields=(
            MemberField(pointer="/context/@type", suggestions="context-types"),
            MemberField(pointer="/context/@context", placeholder="https://"),
            MemberField(pointer="/context/prev", types="list"),
            MemberField(pointer="/context/text"),
            MemberField(pointer="/context/memory", types="text list"),
        ),
        others=OtherMembers(name="context attribute", hint="Any other attribute of the context."),
        suggestions={"context-types": ("ConversationalContext",)},
    ),
    FormSection(
        title="Prefer",
        id="form-prefer",
        member="/prefer",
        operation="ask",
        fields=(
            MemberField(pointer="/prefer/streaming", types="boolean"),
            MemberField(pointer="/prefer/response_format", suggestions="response-formats"),
            MemberField(pointer="/prefer/mode", suggestions="modes"),
            MemberField(pointer="/prefer/accept-language", placeholder="en"),
            MemberField(pointer="/prefer/user-agent"),
        ),
        others=OtherMembers(name="preference", hint="Any other preference."),
        suggestions={
            "response-formats": RESPONSE_FORMATS,
            "modes": ("list", "summarize", "list, summarize"),
        },
    ),
    FormSection(
        title="Meta",
        id="form-meta",
        member="/meta",
        fields=(
            MemberField(
                pointer="/meta/version",
                suggestions="versions",
                hint="Follows the version of the target.",
            ),
            MemberField(pointer="/meta/user", types="text json"),
            MemberField(pointer="/meta/session_context", types="json"),
            MemberField(pointer="/meta/remember", types="boolean"),
        ),
        others=OtherMembers(name="meta attribute", hint="Any other metadata."),
        suggestions={"versions": ("0.55", "0.54")},
    ),
)
