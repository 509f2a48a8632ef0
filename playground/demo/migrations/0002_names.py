"""Models and columns under the names of the glossary."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('demo', '0001_squashed_0003_memory'),
    ]

    operations = [
        migrations.RenameModel('Pending', 'PromisedTask'),
        migrations.RenameField('promisedtask', 'plot', 'script'),
        migrations.RenameModel('Saved', 'ListItem'),
        migrations.RenameField('listitem', 'shelf', 'list_name'),
        migrations.RenameModel('Memory', 'StoredState'),
        migrations.RenameField('storedstate', 'touched', 'used_at'),
        # Stored with the old names of their members; they live for a day.
        migrations.RunSQL("DELETE FROM demo_storedstate WHERE area = 'a2a-task'", migrations.RunSQL.noop),
        migrations.RemoveConstraint('storedstate', 'demo_memory_key'),
        migrations.AddConstraint(
            'storedstate',
            models.UniqueConstraint(fields=['area', 'key'], name='demo_stored_state_key'),
        ),
    ]
