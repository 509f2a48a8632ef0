"""Rows with a time of deletion in place of the trash, which was text.

An item was a line of JSON with the relations of what was deleted, and after it a fixture; older
ones are a fixture alone. A part whose collection is gone gets one with its slug, which was deleted
at the same time. An item that cannot be read becomes a collection that was deleted now: its
description is the text.
"""

import json
import logging

from django.core.validators import slug_re
from django.db import migrations, transaction
from django.utils import timezone

#: Columns with JSON.
JSON = {'lesson', 'document', 'headers', 'auth', 'expectations', 'captures', 'reply'}
#: What an item is, by the model of the first item of its fixture, and the order of conversion.
ORDER = ['playground.collection', 'playground.folder', 'playground.savedrequest']
#: Start of an item that says that a shipped collection is not loaded again.
MARKER = '{"declined": '
#: Keys in one query.
CHUNK = 500

log = logging.getLogger('playground.migrations')


class Converter:
    """Conversion of one item of the trash to rows."""

    def __init__(self, rows, item):
        """Raise `ValueError` and the like if it cannot be read."""
        self.rows, self.owner, self.deleted_at = rows, item.owner_id, item.created_at
        text = item.fixture
        relations, _, fixture = text.partition('\n') if text.startswith('{') else ('{}', '', text)
        self.relations, self.items = json.loads(relations), json.loads(fixture)
        self.order = ORDER.index(self.items[0]['model'])

    def convert(self):
        """Create the rows, and link what the item remembers."""
        collection = self.collection()
        folders = {}
        for fields in self.fields('playground.folder'):
            folders[fields['slug']] = self.create('Folder', fields, collection=collection)
        known = {row['slug']: row for row in self.relations.get('requests', [])}
        requests = {}
        for fields in self.fields('playground.savedrequest'):
            _, slug = fields.pop('folder', None) or (None, None)
            folder = folders.get(slug)
            if slug and not folder:
                folder = self.present(self.rows('Folder', collection=collection), slug)
            fields |= known.get(fields['slug'], {})
            reply = fields.pop('recorded_run', None)
            if reply:
                reply = self.rows('Run', owner=self.owner, pk=reply).first()
            relations = {'collection': collection, 'folder': folder, 'recorded_run': reply}
            requests[fields['slug']] = self.create('SavedRequest', fields, **relations)
        runs = self.rows('Run', owner=self.owner)
        steps = self.rows('Step', collection_run__owner=self.owner)
        for name, rows in (('runs', runs), ('steps', steps)):
            for slug, keys in self.relations.get(name, {}).items():
                if slug in requests:
                    self.link(rows, keys, 'saved_request', requests[slug])
        runs = self.rows('CollectionRun', owner=self.owner)
        self.link(runs, self.relations.get('collection_runs', []), 'collection', collection)
        tokens = self.rows('Share')
        for share in self.relations.get('shares', []):
            token = share['token']
            if slug_re.match(token) and not tokens.filter(token=token).exists():
                self.create('Share', share, owner_id=self.owner, collection=collection)

    def collection(self):
        """Return the collection: a new one, or the one of the part, or one that stands for it."""
        for fields in self.fields('playground.collection'):
            fields |= self.relations.get('collection', {})
            return self.create('Collection', fields, owner_id=self.owner)
        (slug,) = self.items[0]['fields']['collection']
        found = self.present(self.rows('Collection', owner=self.owner), slug)
        fields = {'name': slug[:120], 'slug': slug}
        return found or self.create('Collection', fields, owner_id=self.owner)

    def present(self, rows, slug):
        """Return the row that had a slug when the item was deleted: one deleted later, or a live one."""
        rows = rows.filter(slug=slug)
        later = rows.filter(deleted_at__gte=self.deleted_at).order_by('deleted_at')
        return later.first() or rows.filter(deleted_at=None).first()

    def fields(self, model):
        """Yield the fields of the fixture's items of a model, without the collection."""
        for item in self.items:
            if item['model'] == model:
                fields = dict(item['fields'])
                fields.pop('collection', None)
                yield fields

    def create(self, model, fields, **relations):
        """Create a row of plain values, or of those of a fixture."""
        model = self.rows(model).model
        for name, value in fields.items():
            if name in JSON and value is not None:
                value = json.dumps(value)
            relations[name] = model._meta.get_field(name).to_python(value)
        if hasattr(model, 'deleted_at'):
            relations['deleted_at'] = self.deleted_at
        return self.rows(model.__name__).create(**relations)

    def link(self, rows, keys, name, row):
        """Link rows to a row; those that were linked meanwhile, or deleted, are left alone."""
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK]
            rows.filter(**{'pk__in': chunk, name: None}).update(**{name: row})


def convert(apps, schema_editor):
    """Convert all items: collections, then folders, then requests; of each the latest first."""
    alias = schema_editor.connection.alias

    def rows(model, **filters):
        return apps.get_model('playground', model).objects.using(alias).filter(**filters)

    def attempt(item, function):
        try:
            with transaction.atomic(alias):
                return function(item)
        except Exception as error:
            log.warning('Restoring %s of the trash failed, its text is kept: %r', item.label, error)
            rows('Collection').create(
                owner_id=item.owner_id,
                name=f'Text of {item.label}'[:120],
                slug=f'trash-{item.pk}',
                description=item.fixture,
                deleted_at=timezone.now(),
            )

    def order(item):
        if item.owner_id is None and item.fixture.startswith(MARKER):
            slug = json.loads(item.fixture)['declined']
            rows('SkippedCollection').get_or_create(slug=slug)
            return None
        return Converter(rows, item).order

    items = rows('TrashedItem')
    keys = list(items.order_by('-created_at', '-pk').values_list('pk', flat=True))
    # Read one at a time: an item can have the size of a large file.
    orders = {key: attempt(items.get(pk=key), order) for key in keys}
    for key in sorted((key for key in keys if orders[key] is not None), key=orders.get):
        attempt(items.get(pk=key), lambda item: Converter(rows, item).convert())
    # PostgreSQL alters no table whose deferred constraints have not been checked.
    schema_editor.connection.check_constraints()


def forget(apps, schema_editor):
    """Delete what is in the trash: without the time of deletion everybody would see it."""
    alias = schema_editor.connection.alias
    for model in ('SavedRequest', 'Folder', 'Collection'):
        rows = apps.get_model('playground', model).objects.using(alias)
        rows.filter(deleted_at__isnull=False).delete()
    trashed = apps.get_model('playground', 'TrashedItem').objects.using(alias)
    for skipped in apps.get_model('playground', 'SkippedCollection').objects.using(alias):
        trashed.create(label=skipped.slug, fixture=f'{MARKER}{json.dumps(skipped.slug)}}}')
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0020_deleted_at'),
    ]

    operations = [
        migrations.RunPython(convert, forget),
        migrations.DeleteModel('TrashedItem'),
    ]
