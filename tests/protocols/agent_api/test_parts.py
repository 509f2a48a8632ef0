"""Parts of a message: joining of their pieces."""

from __future__ import annotations

from playground.protocols.agent_api.parts import join


class TestJoin:
    """Values from their pieces."""

    def test_of_nothing_and_of_one(self) -> None:
        assert join([]) is None
        assert join([{"a": 1}]) == {"a": 1}

    def test_of_texts(self) -> None:
        assert join(["a", "", "b"]) == "ab"

    def test_of_objects(self) -> None:
        pieces = [
            {"call_id": "c", "name": "f", "arguments": '{"a', "n": 1},
            {"call_id": "c", "name": None, "arguments": '":1}', "n": 2, "tags": [1]},
            {"tags": [2], "more": {"x": "a"}},
            {"more": {"x": "b"}},
        ]
        assert join(pieces) == {
            "call_id": "c", "name": "f", "arguments": '{"a":1}', "n": 2, "tags": [1, 2],
            "more": {"x": "ab"},
        }  # fmt: skip

    def test_of_what_does_not_fit_together(self) -> None:
        assert join(["a", {"b": 1}]) == {"b": 1}
        assert join([{"b": 1}, 5]) == 5
