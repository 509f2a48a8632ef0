from __future__ import annotations

import json
from collections import Counter
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.management import call_command

from playground.demo import corpus as corpora
from playground.demo.corpus import Corpus
from playground.demo.models import Item
from tests.demo.reference_responses import FIXTURE


class TestShippedCorpus:
    def test_has_enough_of_every_kind(self, whole_corpus: Corpus) -> None:
        kinds = Counter(entry.kind for entry in whole_corpus.entries)
        assert kinds["Recipe"] >= 60
        assert kinds["Restaurant"] >= 20
        assert all(kinds[kind] >= 8 for kind in ("Product", "Movie", "Article"))
        assert whole_corpus.sites == ["pantry.example", "recipes.example", "tables.example"]

    def test_documents_are_complete(self, whole_corpus: Corpus) -> None:
        for found in whole_corpus.entries:
            doc = found.document
            assert doc["@type"] == found.kind
            assert doc["@context"] == "https://schema.org"
            assert doc["name"]
            assert len(doc["description"]) > 20
            assert urlsplit(doc["url"]).hostname == found.site

    def test_recipes_can_be_filtered(self, whole_corpus: Corpus) -> None:
        for recipe in whole_corpus.of_kind("Recipe"):
            assert recipe.minutes, recipe.name
            assert recipe.ingredients
            assert recipe.cuisines
            assert recipe.price
            assert len(recipe.document["recipeInstructions"]) >= 1

    def test_diets_are_true_to_the_ingredients(self, whole_corpus: Corpus) -> None:
        animal = ("egg", "butter,", "honey", "parmesan", "feta", "cream,", "bacon", "anchovy")
        for recipe in whole_corpus.of_kind("Recipe"):
            lines = recipe.ingredients.split("\n")
            if "vegan" in recipe.diets:
                assert not [line for line in lines if any(a in f"{line}," for a in animal)
                            and "peanut butter" not in line and "aubergine" not in line
                            and "eggplant" not in line], recipe.name  # fmt: skip

    def test_every_picture_is_there(self, whole_corpus: Corpus) -> None:
        pictures = {found.document["image"] for found in whole_corpus.entries}
        for picture in pictures:
            assert (settings.BASE_DIR / "static" / picture).is_file(), picture

    @pytest.mark.django_db
    def test_loading_it_twice_changes_nothing(self) -> None:
        call_command("loaddata", "demo_corpus", verbosity=0)
        first = list(Item.objects.values_list("id", "url"))
        call_command("loaddata", "demo_corpus", verbosity=0)
        assert list(Item.objects.values_list("id", "url")) == first
        assert len(first) == len(json.loads(FIXTURE.read_text()))
        item = Item.objects.get_by_natural_key(first[0][1])
        assert (str(item), item.natural_key()) == (item.url, (item.url,))


@pytest.mark.django_db
class TestLoad:
    def test_an_empty_table_is_not_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(corpora, "_corpus", None)
        assert corpora.load().entries == []
        assert corpora.loaded() is None
        document = {"@type": "Recipe", "name": "Soup", "url": "https://recipes.example/soup"}
        Item.objects.create(
            site="recipes.example", item_type="Recipe", url=document["url"], document=document
        )
        assert [found.name for found in corpora.load().entries] == ["Soup"]

    def test_the_table_is_read_once(
        self, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: object
    ) -> None:
        monkeypatch.setattr(corpora, "_corpus", None)
        Item.objects.create(
            site="s.example", item_type="Thing", url="https://s.example/", document={}
        )
        first = corpora.load()
        with django_assert_num_queries(0):  # type: ignore[operator]
            assert corpora.load() is first
        assert corpora.loaded() is first
