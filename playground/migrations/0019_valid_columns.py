import logging

import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.utils.crypto import get_random_string
from django.utils.text import slugify

IN_URL = r'\A[-a-zA-Z0-9_]+\Z'
COLLECTIONS = ['import', 'new', 'runs', 'search', 'tabs', 'undo']

log = logging.getLogger('playground.migrations')


def slug(model, within, *reserved):
    """Return the row of a slug in `CONSTRAINTS`; a new one is made from the name."""
    def free_slug(rows, row):
        siblings = rows.filter(**{within: getattr(row, within)}).exclude(pk=row.pk)
        taken = {*siblings.values_list('slug', flat=True), *reserved}
        name = row.name.translate(dict.fromkeys(map(ord, './:?&='), '-'))
        base = slugify(name)[:70].strip('-') or model
        found, number = base, 2
        while found in taken:
            found, number = f'{base}-{number}', number + 1
        return found

    condition = models.Q(slug__regex=IN_URL)
    condition = condition & ~models.Q(slug__in=list(reserved)) if reserved else condition
    return model, 'slug', condition, free_slug


def choice(model, column, *values):
    return model, column, models.Q(**{f'{column}__in': list(values)}), lambda rows, row: values[0]


#: Model, column, condition of the constraint, and the new value for a row that breaks it.
CONSTRAINTS = [
    slug('agent', 'owner_id', 'new'),
    choice('agent', 'protocol', 'nlweb', 'agent-api'),
    choice('agent', 'binding', 'http', 'mcp'),
    slug('collection', 'owner_id', *COLLECTIONS),
    slug('environment', 'owner_id', 'active', 'new'),
    slug('folder', 'collection_id'),
    slug('saved_request', 'collection_id'),
    choice('saved_request', 'protocol', 'nlweb', 'agent-api'),
    choice('saved_request', 'binding', 'http', 'mcp'),
    ('saved_request', 'document', models.Q(document__startswith='{'), lambda rows, row: '{}'),
    ('share', 'token', models.Q(token__regex=IN_URL), lambda rows, row: get_random_string(32)),
]


def correct_rows(apps, schema_editor):
    """Correct the rows that break a constraint, which hand-written fixtures have left."""
    def rows_of(model):
        found = apps.get_model('playground', model.replace('_', ''))
        return found.objects.using(schema_editor.connection.alias)

    for model, column, condition, value in CONSTRAINTS:
        rows = rows_of(model)
        for row in rows.exclude(condition).order_by('pk'):
            old, new = getattr(row, column), value(rows, row)
            rows.filter(pk=row.pk).update(**{column: new})
            log.warning('%s of %s %s changed from %.200r to %.200r.', column, model, row.pk, old, new)
            if (model, column) == ('agent', 'slug') and old:
                saved = rows_of('saved_request').filter(collection__owner=row.owner_id)
                saved.filter(agent=old).update(agent=new)
    # PostgreSQL alters no table whose deferred constraints have not been checked.
    schema_editor.connection.check_constraints()


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
        *(
            migrations.AddConstraint(
                model.replace('_', ''),
                models.CheckConstraint(condition=condition, name=f'{model}_{column}_valid'),
            )
            for model, column, condition, _ in CONSTRAINTS
        ),
    ]
