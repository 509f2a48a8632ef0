from django.conf import settings
from django.db import migrations, models


def fill(apps, schema_editor):
    runs = apps.get_model('playground', 'Run').objects.using(schema_editor.connection.alias)
    steps = apps.get_model('playground', 'Step').objects.filter(run=models.OuterRef('pk'))
    runs.filter(models.Exists(steps)).update(made_by='collection')
    runs.filter(recorded=True).update(made_by='recording')


def empty(apps, schema_editor):
    runs = apps.get_model('playground', 'Run').objects.using(schema_editor.connection.alias)
    runs.filter(made_by='recording').update(recorded=True)


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0004_collections'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='step',
            name='verdict',
            field=models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('met', 'Met'), ('unmet', 'Not met'), ('unsent', 'Not sent'), ('stopped', 'Stopped'), ('skipped', 'Skipped')], default='waiting', max_length=8),
        ),
        migrations.AddField(
            model_name='run',
            name='made_by',
            field=models.CharField(choices=[('user', 'You'), ('collection', 'A collection run'), ('recording', 'A recording')], default='user', max_length=10),
        ),
        migrations.RunPython(fill, empty),
        migrations.RemoveField(
            model_name='run',
            name='recorded',
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'made_by', '-created_at'], name='run_history_made_by'),
        ),
    ]
