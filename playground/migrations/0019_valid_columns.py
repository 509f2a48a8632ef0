import logging

import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.utils.crypto import get_random_string
from django.utils.text import slugify

IN_URL = r'\A[-a-zA-Z0-9_]+\Z'
PROTOCOLS, BINDINGS = ['nlweb', 'agent-api'], ['http', 'mcp']
COLLECTIONS = ['import', 'new', 'runs', 'search', 'tabs', 'undo']
ENVIRONMENTS = ['active', 'new']
#: Names of models, of the foreign keys within which slugs are unique, and reserved slugs.
SLUGS = (
    ('Agent', 'owner_id', ['new']),
    ('Collection', 'owner_id', COLLECTIONS),
    ('Environment', 'owner_id', ENVIRONMENTS),
    ('Folder', 'collection_id', []),
    ('SavedRequest', 'collection_id', []),
)
#: Columns with known values, the first of which replaces an unknown one.
CHOICES = (('protocol', PROTOCOLS), ('binding', BINDINGS))

log = logging.getLogger('playground.migrations')


def valid_slug(*reserved):
    found = models.Q(slug__regex=IN_URL)
    return found & ~models.Q(slug__in=list(reserved)) if reserved else found


def correct_rows(apps, schema_editor):
    """Correct the rows that the constraints refuse, which hand-written fixtures have left."""
    alias = schema_editor.connection.alias
    for model, within, reserved in SLUGS:
        rows = apps.get_model('playground', model).objects.using(alias)
        for row in rows.exclude(valid_slug(*reserved)).order_by('pk'):
            siblings = rows.filter(**{within: getattr(row, within)}).exclude(pk=row.pk)
            taken = {*siblings.values_list('slug', flat=True), *reserved}
            name = row.name.translate(dict.fromkeys(map(ord, './:?&='), '-'))
            base = slugify(name)[:70].strip('-') or model.lower()
            slug, number = base, 2
            while slug in taken:
                slug, number = f'{base}-{number}', number + 1
            rows.filter(pk=row.pk).update(slug=slug)
            log.warning('%s %s (%r): the slug %r was changed to %r.', model, row.pk, row.name, row.slug, slug)
            if model == 'Agent' and row.slug:
                saved = apps.get_model('playground', 'SavedRequest').objects.using(alias)
                saved.filter(agent=row.slug, collection__owner=row.owner_id).update(agent=slug)
    for model in ('Agent', 'SavedRequest'):
        rows = apps.get_model('playground', model).objects.using(alias)
        for column, known in CHOICES:
            unknown = rows.exclude(**{f'{column}__in': known})
            for pk, name, value in unknown.values_list('pk', 'name', column):
                log.warning('%s %s (%r): the %s %r was changed to %r.', model, pk, name, column, value, known[0])
            unknown.update(**{column: known[0]})
    saved = apps.get_model('playground', 'SavedRequest').objects.using(alias)
    for row in saved.exclude(document__startswith='{'):
        log.warning('SavedRequest %s (%r): the document %.200r was removed.', row.pk, row.name, row.document)
        saved.filter(pk=row.pk).update(document='{}')
    shares = apps.get_model('playground', 'Share').objects.using(alias)
    for share in shares.exclude(token__regex=IN_URL):
        log.warning('Share %s: the token %r was replaced.', share.pk, share.token)
        shares.filter(pk=share.pk).update(token=get_random_string(32))


def constraint(model, name, condition):
    return migrations.AddConstraint(
        model_name=model.replace('_', ''),
        constraint=models.CheckConstraint(condition=condition, name=f'{model}_{name}_valid'),
    )


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0018_queued_work'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='agent',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.RunPython(correct_rows, migrations.RunPython.noop),
        constraint('agent', 'slug', valid_slug('new')),
        constraint('agent', 'protocol', models.Q(protocol__in=PROTOCOLS)),
        constraint('agent', 'binding', models.Q(binding__in=BINDINGS)),
        constraint('collection', 'slug', valid_slug(*COLLECTIONS)),
        constraint('environment', 'slug', valid_slug(*ENVIRONMENTS)),
        constraint('folder', 'slug', valid_slug()),
        constraint('saved_request', 'slug', valid_slug()),
        constraint('saved_request', 'protocol', models.Q(protocol__in=PROTOCOLS)),
        constraint('saved_request', 'binding', models.Q(binding__in=BINDINGS)),
        constraint('saved_request', 'document', models.Q(document__startswith='{')),
        constraint('share', 'token', models.Q(token__regex=IN_URL)),
    ]
