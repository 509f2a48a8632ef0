from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Coalesce, Length


def count_requests(apps, schema_editor):
    runs = apps.get_model("playground", "Run").objects.using(schema_editor.connection.alias)
    parts = (Coalesce(Length(name), 0) for name in ("request_template", "answers", "resume"))
    size = 2 * Length("request") + Length("headers") + Length("expectations")
    runs.update(request_bytes=sum(parts, size))


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0011_agent_pictures'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='request_bytes',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(count_requests, migrations.RunPython.noop),
        migrations.AddField(
            model_name='savedrequest',
            name='stored_bytes',
            field=models.GeneratedField(
                db_persist=True,
                expression=Length('document')
                + Length('headers')
                + Length('notes')
                + Length('expectations')
                + Coalesce(Length('reply'), 0),
                output_field=models.BigIntegerField(),
            ),
        ),
        migrations.AddField(
            model_name='trasheditem',
            name='stored_bytes',
            field=models.GeneratedField(
                db_persist=True,
                expression=Length('fixture'),
                output_field=models.BigIntegerField(),
            ),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(
                condition=models.Q(
                    state__in=(
                        'completed', 'truncated', 'failed', 'refused', 'cancelled', 'interrupted',
                    )
                ),
                fields=['owner', 'state', 'bytes', 'frames', 'request_bytes'],
                name='run_stored_bytes',
            ),
        ),
        migrations.AddIndex(
            model_name='savedrequest',
            index=models.Index(
                fields=['collection', 'stored_bytes'], name='saved_request_stored_bytes'
            ),
        ),
        migrations.AddIndex(
            model_name='trasheditem',
            index=models.Index(fields=['owner', 'stored_bytes'], name='trash_stored_bytes'),
        ),
    ]
