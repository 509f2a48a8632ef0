"""Runs that were sent to a URL: marked, with the handshake and the detected settings."""

from django.db import migrations, models


def handshake(default):
    return migrations.AddField(
        model_name='run',
        name='handshake',
        field=models.TextField(blank=True, default=default, editable=False),
    )


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0007_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='detected',
            field=models.TextField(blank=True, editable=False, null=True),
        ),
        # Stored runs get the empty text: the column is encrypted, and "{}" would not be.
        migrations.SeparateDatabaseAndState([handshake('')], [handshake(dict)]),
        migrations.AddField(
            model_name='run',
            name='sent_to_url',
            field=models.BooleanField(default=False),
        ),
    ]
