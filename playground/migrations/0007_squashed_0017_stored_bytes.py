"""From the tables of version 0.1 to those before the workers, from eleven migrations.

Models, columns and stored values get the names of the glossary; runs to URLs, sessions with MCP
servers, lessons, and the bytes of rows are added.
"""

import json

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest, Length

#: The statuses of a polled promise that have another value now.
STATUSES = {'following': 'polling', 'answered': 'fulfilled', 'gave_up': 'timed_out'}
#: Attributes in the first line of what a deleted request or collection is kept as.
ATTRIBUTES = {'replayed': 'recorded_run', 'synced': 'file_digest'}
#: Columns with another name, by model.
COLUMNS = {
    'agent': {
        'opening': 'handshake',
        'reply_strategy': 'answer_strategy',
        'reply_template': 'answer_template',
    },
    'collection': {'synced': 'file_digest'},
    'collectionrun': {'alive_at': 'heartbeat_at'},
    'step': {'took_ms': 'duration_ms'},
    'savedrequest': {'replayed': 'recorded_run'},
    'variable': {'origins': 'allowed_origins'},
    'framebatch': {'separate': 'is_independent'},
    'run': {
        'made_by': 'source',
        'cause_seq': 'parent_entry_seq',
        'cause_part': 'parent_entry_part',
        'template': 'request_template',
        'secrets': 'secret_names',
        'echo': 'session_override',
        'declined': 'declined_elicitations',
        'alive_at': 'heartbeat_at',
    },
    'polledpromise': {
        'seq': 'entry_seq',
        'part': 'entry_part',
        'history': 'updates',
        'checks': 'polls',
        'patience': 'polling_seconds',
        'next_at': 'next_poll_at',
        'answer': 'final_run',
        'note': 'status_message',
        'cancelling': 'cancel_requested',
    },
}
#: Columns whose bytes are counted, by model. Before them the column that the index of the bytes
#: begins with, and the beginning of its name; '' without an index.
COUNTED = {
    'agent': ('owner', 'agent', [
        'url', 'auth_secret', 'headers', 'notes', 'handshake', 'detected', 'answer_template',
    ]),
    'variable': ('environment', 'variable', ['value', 'secret', 'allowed_origins']),
    'collection': ('owner', 'collection', ['description', 'lesson']),
    'folder': ('collection', 'folder', ['description']),
    'savedrequest': ('collection', 'saved_request', [
        'document', 'headers', 'auth', 'notes', 'expectations', 'captures', 'reply',
    ]),
    'lessonprogress': ('', '', ['steps']),
    'trasheditem': ('owner', 'trash', ['fixture']),
    'collectionrun': ('owner', 'collection_run', ['options']),
    'step': ('collection_run', 'step', ['checks', 'reason']),
    'polledpromise': ('', '', ['token', 'updates', 'status_message', 'headers']),
    'actionserver': ('owner', 'action_server', ['identifier', 'url', 'description']),
    'run': ('', '', [
        'request', 'headers', 'request_template', 'expectations', 'answers', 'resume', 'handshake',
        'detected', 'session_context', 'session_override', 'declined_elicitations',
    ]),
}
#: Bytes of a frame besides its data, in a row of frames.
FRAME_HEADER = 13


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
    check_constraints(schema_editor)


def count_other_frames(apps, schema_editor):
    """Count the frames of stored runs that are not of the body: all frames without those that are."""
    alias = schema_editor.connection.alias
    batches = apps.get_model('playground', 'FrameBatch').objects.using(alias)
    runs = apps.get_model('playground', 'Run').objects.using(alias)
    # LENGTH of binary data is bytes, and SQLite does not read the data for it.
    of_run = batches.filter(run=OuterRef('pk')).order_by().values('run')
    stored = Subquery(of_run.annotate(total=Sum(Length('data'))).values('total'))
    other = Coalesce(stored, 0) - F('bytes') - FRAME_HEADER * F('frames')
    runs.update(other_bytes=Greatest(other, 0, output_field=models.BigIntegerField()))
    check_constraints(schema_editor)


def check_constraints(schema_editor):
    """PostgreSQL alters no table whose deferred constraints have not been checked."""
    schema_editor.connection.check_constraints()


def handshake(default):
    return migrations.AddField(
        'run', 'handshake', models.TextField(blank=True, default=default, editable=False)
    )


class Octets(models.Func):
    function = 'OCTET_LENGTH'
    output_field = models.BigIntegerField()

    def as_sqlite(self, compiler, connection, **context):
        template = 'LENGTH(CAST(%(expressions)s AS BLOB))'
        return self.as_sql(compiler, connection, template=template, **context)


def octets_of(columns):
    first, *others = (Coalesce(Octets(name), 0) for name in columns)
    return models.GeneratedField(
        expression=sum(others, first),
        output_field=models.BigIntegerField(),
        db_persist=True,
    )


class Migration(migrations.Migration):

    replaces = [
        ('playground', '0007_names'),
        ('playground', '0008_runs_to_urls'),
        ('playground', '0009_run_terminated'),
        ('playground', '0010_labels'),
        ('playground', '0011_agent_pictures'),
        ('playground', '0012_stored_bytes'),
        ('playground', '0013_mcp_sessions'),
        ('playground', '0014_agent_own_ids'),
        ('playground', '0015_action_server_mcp_version'),
        ('playground', '0016_lessons'),
        ('playground', '0017_stored_bytes'),
    ]

    dependencies = [
        ('playground', '0001_squashed_0006_words'),
    ]

    operations = [
        migrations.RemoveIndex('run', 'run_history_made_by'),
        migrations.RenameModel('Tracker', 'PolledPromise'),
        migrations.RenameModel('Removal', 'TrashedItem'),
        *(
            migrations.RenameField(model, old, new)
            for model, names in COLUMNS.items()
            for old, new in names.items()
        ),
        migrations.AddIndex(
            'run',
            models.Index(fields=['owner', 'source', '-created_at'], name='run_history_source'),
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
            models.CharField(choices=[('polling', 'Polling'), ('paused', 'Paused'), ('fulfilled', 'Fulfilled'), ('cancelled', 'Cancelled'), ('failed', 'Failed'), ('timed_out', 'Timed out')], db_index=True, default='polling', max_length=10),
        ),
        migrations.RunPython(rename_values, restore_values),
        migrations.AddField(
            'run', 'detected', models.TextField(blank=True, editable=False, null=True)
        ),
        # Stored runs get the empty text: the column is encrypted, and "{}" would not be.
        migrations.SeparateDatabaseAndState([handshake('')], [handshake(dict)]),
        migrations.AddField('run', 'sent_to_url', models.BooleanField(default=False)),
        migrations.AddField('run', 'terminated', models.BooleanField(default=True)),
        migrations.AddField('run', 'other_bytes', models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(count_other_frames, migrations.RunPython.noop),
        migrations.AlterField(
            'run',
            'kind',
            models.CharField(choices=[('ask', 'Request'), ('answer', 'Answer'), ('check', 'Poll'), ('cancel', 'Cancellation'), ('reply', 'Client response'), ('action', 'Action')], default='ask', max_length=8),
        ),
        migrations.AlterField(
            'run',
            'source',
            models.CharField(choices=[('user', 'You'), ('collection', 'Collection run'), ('recording', 'Recording')], default='user', max_length=10),
        ),
        migrations.AlterField(
            'step',
            'verdict',
            models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('met', 'Passed'), ('unmet', 'Failed'), ('unsent', 'Not sent'), ('stopped', 'Stopped'), ('skipped', 'Skipped')], default='waiting', max_length=8),
        ),
        migrations.AddField(
            'agent',
            'load_pictures',
            models.BooleanField(default=False, verbose_name='load pictures automatically'),
        ),
        *(
            migrations.AddField(
                model,
                'mcp_version',
                models.CharField(blank=True, max_length=10, verbose_name='MCP version'),
            )
            for model in ('agent', 'actionserver')
        ),
        migrations.AddField(
            'agent',
            'own_ids',
            models.CharField(choices=[('auto', 'Automatic'), ('on', 'Send'), ('off', 'Don’t send')], default='auto', max_length=4, verbose_name='session and user id'),
        ),
        migrations.CreateModel(
            name='McpSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=2000, verbose_name='URL')),
                ('key', models.CharField(max_length=64)),
                ('version', models.CharField(max_length=40)),
                ('session_id', models.TextField()),
                ('headers', models.TextField(default=list)),
                ('used_at', models.DateTimeField()),
                ('conversation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='mcp_sessions', to='playground.conversation')),
            ],
            options={
                'ordering': ['-used_at'],
                'indexes': [models.Index(fields=['used_at'], name='mcp_session_used_at')],
            },
        ),
        migrations.AddField(
            'collection', 'lesson', models.TextField(blank=True, default=None, null=True)
        ),
        migrations.CreateModel(
            name='LessonProgress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_open', models.BooleanField(default=False)),
                ('step', models.CharField(blank=True, max_length=60)),
                ('steps', models.TextField(blank=True, default=dict)),
                ('modified_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('collection', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='lesson_progress', to='playground.collection')),
            ],
        ),
        *(
            migrations.AddField(model, 'stored_bytes', octets_of(columns))
            for model, (_, _, columns) in COUNTED.items()
        ),
        *(
            migrations.AddIndex(
                model,
                models.Index(fields=[owner, 'stored_bytes'], name=f'{name}_stored_bytes'),
            )
            for model, (owner, name, _) in COUNTED.items()
            if name
        ),
        migrations.AddIndex(
            'run',
            models.Index(
                condition=Q(
                    state__in=(
                        'completed', 'truncated', 'failed', 'refused', 'cancelled', 'interrupted',
                    )
                ),
                fields=['owner', 'state', 'bytes', 'other_bytes', 'frames', 'stored_bytes'],
                name='run_stored_bytes',
            ),
        ),
    ]
