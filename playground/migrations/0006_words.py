from django.db import migrations

from playground.models import word_tables


def install(apps, schema_editor):
    word_tables.install(schema_editor.connection)


def remove(apps, schema_editor):
    word_tables.remove(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0005_made_by'),
    ]

    operations = [
        migrations.RunPython(install, remove),
    ]
