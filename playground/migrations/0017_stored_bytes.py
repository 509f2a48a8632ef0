from django.db import migrations, models
from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest, Length
from django.utils.deconstruct import deconstructible

#: Bytes of a frame besides its data, in a row of frames.
FRAME_HEADER = 13


@deconstructible(path='playground.models.octets.Octets')
class Octets(models.Func):
    function = 'OCTET_LENGTH'
    output_field = models.BigIntegerField()

    def as_sqlite(self, compiler, connection, **context):
        template = 'LENGTH(CAST(%(expressions)s AS BLOB))'
        return self.as_sql(compiler, connection, template=template, **context)


def octets_of(*columns):
    first, *others = (Coalesce(Octets(name), 0) for name in columns)
    return models.GeneratedField(
        expression=sum(others, first),
        output_field=models.BigIntegerField(),
        db_persist=True,
    )


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


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0016_lessons'),
    ]

    operations = [
        migrations.RemoveIndex(model_name='run', name='run_stored_bytes'),
        migrations.RemoveIndex(model_name='collection', name='collection_stored_bytes'),
        migrations.RemoveIndex(model_name='savedrequest', name='saved_request_stored_bytes'),
        migrations.RemoveIndex(model_name='trasheditem', name='trash_stored_bytes'),
        migrations.RemoveField(model_name='run', name='request_bytes'),
        migrations.RemoveField(model_name='collection', name='stored_bytes'),
        migrations.RemoveField(model_name='savedrequest', name='stored_bytes'),
        migrations.RemoveField(model_name='trasheditem', name='stored_bytes'),
        migrations.AddField(
            model_name='run',
            name='other_bytes',
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.RunPython(count_other_frames, migrations.RunPython.noop),
        migrations.AddField(
            model_name='run',
            name='stored_bytes',
            field=octets_of(
                'request',
                'headers',
                'request_template',
                'expectations',
                'answers',
                'resume',
                'handshake',
                'detected',
                'session_context',
                'session_override',
                'declined_elicitations',
            ),
        ),
        migrations.AddField(
            model_name='agent',
            name='stored_bytes',
            field=octets_of(
                'url',
                'auth_secret',
                'headers',
                'notes',
                'handshake',
                'detected',
                'answer_template',
            ),
        ),
        migrations.AddField(
            model_name='variable',
            name='stored_bytes',
            field=octets_of('value', 'secret', 'allowed_origins'),
        ),
        migrations.AddField(
            model_name='collection',
            name='stored_bytes',
            field=octets_of('description', 'lesson'),
        ),
        migrations.AddField(
            model_name='folder',
            name='stored_bytes',
            field=octets_of('description'),
        ),
        migrations.AddField(
            model_name='savedrequest',
            name='stored_bytes',
            field=octets_of(
                'document',
                'headers',
                'auth',
                'notes',
                'expectations',
                'captures',
                'reply',
            ),
        ),
        migrations.AddField(
            model_name='lessonprogress',
            name='stored_bytes',
            field=octets_of('steps'),
        ),
        migrations.AddField(
            model_name='trasheditem',
            name='stored_bytes',
            field=octets_of('fixture'),
        ),
        migrations.AddField(
            model_name='collectionrun',
            name='stored_bytes',
            field=octets_of('options'),
        ),
        migrations.AddField(
            model_name='step',
            name='stored_bytes',
            field=octets_of('checks', 'reason'),
        ),
        migrations.AddField(
            model_name='polledpromise',
            name='stored_bytes',
            field=octets_of('token', 'updates', 'status_message', 'headers'),
        ),
        migrations.AddField(
            model_name='actionserver',
            name='stored_bytes',
            field=octets_of('identifier', 'url', 'description'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(
                condition=Q(
                    state__in=(
                        'completed', 'truncated', 'failed', 'refused', 'cancelled', 'interrupted',
                    )
                ),
                fields=['owner', 'state', 'bytes', 'other_bytes', 'frames', 'stored_bytes'],
                name='run_stored_bytes',
            ),
        ),
        migrations.AddIndex(
            model_name='agent',
            index=models.Index(fields=['owner', 'stored_bytes'], name='agent_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='variable',
            index=models.Index(fields=['environment', 'stored_bytes'], name='variable_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='collection',
            index=models.Index(fields=['owner', 'stored_bytes'], name='collection_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='folder',
            index=models.Index(fields=['collection', 'stored_bytes'], name='folder_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='savedrequest',
            index=models.Index(fields=['collection', 'stored_bytes'], name='saved_request_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='trasheditem',
            index=models.Index(fields=['owner', 'stored_bytes'], name='trash_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='collectionrun',
            index=models.Index(fields=['owner', 'stored_bytes'], name='collection_run_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='step',
            index=models.Index(fields=['collection_run', 'stored_bytes'], name='step_stored_bytes'),
        ),
        migrations.AddIndex(
            model_name='actionserver',
            index=models.Index(fields=['owner', 'stored_bytes'], name='action_server_stored_bytes'),
        ),
    ]
