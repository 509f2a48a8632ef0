import logging

from django.db import migrations, models
from django.db.models import F, Q, Sum
from django.db.models.functions import Greatest

log = logging.getLogger('playground.migrations')

#: What searched runs for words, by database: earlier versions made it after each migration.
SEARCH = {
    'sqlite': [
        'TRIGGER IF EXISTS playground_run_words_added',
        'TRIGGER IF EXISTS playground_run_words_gone',
        'TRIGGER IF EXISTS playground_run_words_changed',
        'TABLE IF EXISTS playground_run_words',
        'TABLE IF EXISTS playground_run_number',
    ],
    'postgresql': ['INDEX IF EXISTS playground_run_words'],
}
#: Models with a generated column `stored_bytes`, and the index of it, "" for none.
COUNTED = {
    'run': 'run_stored_bytes',
    'agent': 'agent_stored_bytes',
    'variable': 'variable_stored_bytes',
    'collection': 'collection_stored_bytes',
    'folder': 'folder_stored_bytes',
    'savedrequest': 'saved_request_stored_bytes',
    'lessonprogress': '',
    'collectionrun': 'collection_run_stored_bytes',
    'step': 'step_stored_bytes',
    'polledpromise': '',
    'actionserver': 'action_server_stored_bytes',
}
#: The most runs that an owner can set as the limit.
MAX_RUNS = 100_000_000


def drop_search(apps, schema_editor):
    """Before any table is changed: a trigger does not survive that."""
    for what in SEARCH.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(f'DROP {what}')


def count_other_columns(apps, schema_editor, factor=1):
    """Count what was stored with a run besides its frames among its other bytes."""
    runs = apps.get_model('playground', 'Run').objects.using(schema_editor.connection.alias)
    changed = Greatest(F('other_bytes') + factor * F('stored_bytes'), 0)
    runs.update(other_bytes=changed)
    check_constraints(schema_editor)


def count_frames_only(apps, schema_editor):
    count_other_columns(apps, schema_editor, -1)


def replace_limits_of_size(apps, schema_editor):
    """Turn a limit on bytes into one on runs, where there is no other limit.

    The number is never less than what is stored, so that nothing is deleted which the limit on
    bytes would retain.
    """
    alias = schema_editor.connection.alias
    retention = apps.get_model('playground', 'Retention').objects.using(alias)
    runs = apps.get_model('playground', 'Run').objects.using(alias)
    for row in retention.exclude(max_bytes=None).order_by('pk'):
        if row.max_days is None and row.max_runs is None:
            owned = runs.filter(owner=row.owner_id).order_by()
            count = owned.count()
            size = owned.aggregate(size=Sum('bytes'))['size'] or 0
            if size:
                row.max_runs = min(max(count, row.max_bytes * count // size), MAX_RUNS)
                row.save(update_fields=['max_runs'])
        kept = f'{row.max_days or "any number of"} days, {row.max_runs or "any number of"} runs'
        log.warning(
            'The retention limit of %d bytes of %s was removed. The limits are now: %s.',
            row.max_bytes, f'user {row.owner_id}' if row.owner_id else 'all runs', kept,
        )
    check_constraints(schema_editor)


def check_constraints(schema_editor):
    """PostgreSQL alters no table whose deferred constraints have not been checked."""
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0021_trash_rows'),
    ]

    operations = [
        migrations.RunPython(drop_search, migrations.RunPython.noop),
        *(migrations.RemoveIndex(model, name) for model, name in COUNTED.items() if name),
        migrations.RunPython(count_other_columns, count_frames_only),
        *(migrations.RemoveField(model, 'stored_bytes') for model in COUNTED),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(
                condition=Q(
                    state__in=(
                        'completed', 'truncated', 'failed', 'refused', 'cancelled', 'interrupted',
                    )
                ),
                fields=['owner', 'state', 'bytes', 'other_bytes', 'frames'],
                name='run_bytes',
            ),
        ),
        migrations.RunPython(replace_limits_of_size, migrations.RunPython.noop),
        migrations.RemoveField('retention', 'max_bytes'),
    ]
