import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models.functions import Coalesce, Length


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0015_action_server_mcp_version'),
    ]

    operations = [
        migrations.AddField(
            model_name='collection',
            name='lesson',
            field=models.TextField(blank=True, default=None, null=True),
        ),
        migrations.AddField(
            model_name='collection',
            name='stored_bytes',
            field=models.GeneratedField(
                db_persist=True,
                expression=Coalesce(Length('lesson'), 0),
                output_field=models.BigIntegerField(),
            ),
        ),
        migrations.AddIndex(
            model_name='collection',
            index=models.Index(fields=['owner', 'stored_bytes'], name='collection_stored_bytes'),
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
    ]
