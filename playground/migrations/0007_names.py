"""Models, columns and stored values under the names of the glossary."""

import json

import django.db.models.deletion
from django.db import migrations, models

#: The statuses of a polled promise that have another value now.
STATUSES = {'following': 'polling', 'answered': 'fulfilled', 'gave_up': 'timed_out'}
#: Attributes in the first line of what a deleted request or collection is kept as.
ATTRIBUTES = {'replayed': 'recorded_run', 'synced': 'file_digest'}


def rename_values(apps, schema_editor):
    _rename(apps, schema_editor, STATUSES, ATTRIBUTES)


def restore_values(apps, schema_editor):
    _rename(
        apps,
        schema_editor,
        {new: old for old, new in STATUSES.items()},
        {new: old for old, new in ATTRIBUTES.items()},
    )


def _rename(apps, schema_editor, statuses, attributes):
    alias = schema_editor.connection.alias
    promises = apps.get_model('playground', 'PolledPromise').objects.using(alias)
    for old, new in statuses.items():
        promises.filter(status=old).update(status=new)
    trashed = apps.get_model('playground', 'TrashedItem').objects.using(alias)
    for item in trashed.filter(fixture__startswith='{"requests"'):
        notes, separator, fixture = item.fixture.partition('\n')
        found = json.loads(notes)
        for row in (*found['requests'], found.get('collection', {})):
            for old, new in attributes.items():
                if old in row:
                    row[new] = row.pop(old)
        item.fixture = json.dumps(found) + separator + fixture
        item.save(update_fields=['fixture'])


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0001_squashed_0006_words'),
    ]

    operations = [
        migrations.RemoveIndex('run', 'run_history_made_by'),
        migrations.RenameModel('Tracker', 'PolledPromise'),
        migrations.RenameModel('Removal', 'TrashedItem'),
        migrations.RenameField('agent', 'opening', 'handshake'),
        migrations.RenameField('agent', 'reply_strategy', 'answer_strategy'),
        migrations.RenameField('agent', 'reply_template', 'answer_template'),
        migrations.RenameField('collection', 'synced', 'file_digest'),
        migrations.RenameField('collectionrun', 'alive_at', 'heartbeat_at'),
        migrations.RenameField('step', 'took_ms', 'duration_ms'),
        migrations.RenameField('savedrequest', 'replayed', 'recorded_run'),
        migrations.RenameField('variable', 'origins', 'allowed_origins'),
        migrations.RenameField('framebatch', 'separate', 'is_independent'),
        migrations.RenameField('run', 'made_by', 'source'),
        migrations.RenameField('run', 'cause_seq', 'parent_entry_seq'),
        migrations.RenameField('run', 'cause_part', 'parent_entry_part'),
        migrations.RenameField('run', 'template', 'request_template'),
        migrations.RenameField('run', 'secrets', 'secret_names'),
        migrations.RenameField('run', 'echo', 'session_override'),
        migrations.RenameField('run', 'declined', 'declined_elicitations'),
        migrations.RenameField('run', 'alive_at', 'heartbeat_at'),
        migrations.RenameField('polledpromise', 'seq', 'entry_seq'),
        migrations.RenameField('polledpromise', 'part', 'entry_part'),
        migrations.RenameField('polledpromise', 'history', 'updates'),
        migrations.RenameField('polledpromise', 'checks', 'polls'),
        migrations.RenameField('polledpromise', 'patience', 'polling_seconds'),
        migrations.RenameField('polledpromise', 'next_at', 'next_poll_at'),
        migrations.RenameField('polledpromise', 'answer', 'final_run'),
        migrations.RenameField('polledpromise', 'note', 'status_message'),
        migrations.RenameField('polledpromise', 'cancelling', 'cancel_requested'),
        migrations.AddIndex(
            'run',
            models.Index(
                fields=['owner', 'source', '-created_at'], name='run_history_source'
            ),
        ),
        migrations.AlterField(
            'polledpromise',
            'run',
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name='polled_promise',
                to='playground.run',
            ),
        ),
        migrations.AlterField(
            'polledpromise',
            'status',
            models.CharField(
                choices=[
                    ('polling', 'Following'),
                    ('paused', 'Not followed'),
                    ('fulfilled', 'Answered'),
                    ('cancelled', 'Cancelled'),
                    ('failed', 'Failed'),
                    ('timed_out', 'Given up'),
                ],
                db_index=True,
                default='polling',
                max_length=10,
            ),
        ),
        migrations.RunPython(rename_values, restore_values),
    ]
