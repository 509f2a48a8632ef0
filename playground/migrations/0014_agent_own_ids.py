from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0013_mcp_sessions'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='own_ids',
            field=models.CharField(choices=[('auto', 'Automatic'), ('on', 'Send'), ('off', 'Don’t send')], default='auto', max_length=4, verbose_name='session and user id'),
        ),
    ]
