"""Promises are stored states; those of before, which end after ten seconds, are not copied."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('demo', '0002_names'),
    ]

    operations = [
        migrations.DeleteModel('PromisedTask'),
    ]
