from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0014_agent_own_ids'),
    ]

    operations = [
        migrations.AddField(
            model_name='actionserver',
            name='mcp_version',
            field=models.CharField(blank=True, max_length=10, verbose_name='MCP version'),
        ),
    ]
