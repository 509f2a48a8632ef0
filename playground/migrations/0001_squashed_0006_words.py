"""The tables as they were in version 0.1, from six migrations."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('playground', '0001_initial'),
        ('playground', '0002_conversations'),
        ('playground', '0003_protocols'),
        ('playground', '0004_collections'),
        ('playground', '0005_made_by'),
        ('playground', '0006_words'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('slug', models.SlugField(max_length=90)),
                ('url', models.CharField(max_length=2000, verbose_name='URL')),
                ('protocol', models.CharField(choices=[('nlweb', 'NLWeb'), ('agent-api', 'Agent API')], default='nlweb', max_length=20)),
                ('binding', models.CharField(choices=[('http', 'HTTP'), ('mcp', 'MCP')], default='http', max_length=10)),
                ('version', models.CharField(default='0.55', max_length=10)),
                ('auth', models.CharField(choices=[('none', 'None'), ('bearer', 'Bearer token'), ('api_key', 'API key in a header'), ('basic', 'User name and password')], default='none', max_length=10, verbose_name='authentication')),
                ('auth_header', models.CharField(blank=True, max_length=100, verbose_name='header')),
                ('auth_user', models.CharField(blank=True, max_length=200, verbose_name='user name')),
                ('auth_secret', models.TextField(blank=True, verbose_name='secret')),
                ('headers', models.TextField(blank=True, default=list)),
                ('notes', models.TextField(blank=True)),
                ('ask_tool', models.CharField(blank=True, max_length=128, verbose_name='tool for ask')),
                ('await_tool', models.CharField(blank=True, max_length=128, verbose_name='tool for await')),
                ('opening', models.TextField(blank=True, default=dict, editable=False)),
                ('detected', models.TextField(blank=True, editable=False, null=True)),
                ('reply_strategy', models.CharField(choices=[('filters', 'As filters'), ('text', 'In the text'), ('context', 'In the context'), ('template', 'By a template')], default='filters', max_length=10)),
                ('reply_template', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['created_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(max_length=130)),
                ('description', models.TextField(blank=True)),
                ('position', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('modified_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('synced', models.CharField(blank=True, editable=False, max_length=64)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='CollectionRun',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('environment', models.CharField(blank=True, max_length=80)),
                ('options', models.TextField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('running', 'Running'), ('completed', 'Completed'), ('stopped', 'Stopped'), ('interrupted', 'Interrupted')], default='running', max_length=12)),
                ('planned', models.PositiveIntegerField(default=0)),
                ('stop_requested', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('driver', models.CharField(blank=True, max_length=120)),
                ('alive_at', models.DateTimeField(blank=True, null=True)),
                ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='collection_runs', to='playground.collection')),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Environment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('slug', models.SlugField(max_length=130)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Folder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(max_length=130)),
                ('description', models.TextField(blank=True)),
                ('position', models.PositiveIntegerField(default=0)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='folders', to='playground.collection')),
            ],
            options={
                'ordering': ['position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Removal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=200)),
                ('fixture', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Retention',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('max_days', models.PositiveIntegerField(blank=True, null=True)),
                ('max_runs', models.PositiveIntegerField(blank=True, null=True)),
                ('max_bytes', models.PositiveBigIntegerField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('ask', 'Request'), ('answer', 'Answer'), ('check', 'Check'), ('cancel', 'Cancellation'), ('reply', 'Reply'), ('action', 'Action')], default='ask', max_length=8)),
                ('cause_seq', models.PositiveIntegerField(blank=True, null=True)),
                ('cause_part', models.PositiveIntegerField(blank=True, null=True)),
                ('agent_name', models.CharField(max_length=80)),
                ('url', models.CharField(max_length=2000)),
                ('protocol', models.CharField(max_length=20)),
                ('binding', models.CharField(max_length=10)),
                ('version', models.CharField(max_length=10)),
                ('request', models.TextField()),
                ('headers', models.TextField(blank=True, default=list)),
                ('made_by', models.CharField(choices=[('user', 'You'), ('collection', 'A collection run'), ('recording', 'A recording')], default='user', max_length=10)),
                ('template', models.TextField(blank=True, null=True)),
                ('environment', models.CharField(blank=True, max_length=130)),
                ('secrets', models.TextField(blank=True, default=list)),
                ('expectations', models.TextField(blank=True, default=list)),
                ('text', models.CharField(blank=True, max_length=500)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('connecting', 'Connecting'), ('streaming', 'Streaming'), ('completed', 'Completed'), ('truncated', 'Truncated'), ('failed', 'Failed'), ('refused', 'Refused'), ('cancelled', 'Cancelled'), ('interrupted', 'Interrupted')], default='queued', max_length=12)),
                ('outcome', models.CharField(choices=[('answer', 'Answer'), ('elicitation', 'Elicitation'), ('promise', 'Promise'), ('failure', 'Failure'), ('none', 'None')], default='none', max_length=12)),
                ('problem', models.TextField(blank=True, null=True)),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('retry_after', models.CharField(blank=True, max_length=60)),
                ('session_context', models.TextField(blank=True, null=True)),
                ('resume', models.TextField(blank=True, null=True)),
                ('answers', models.TextField(blank=True, null=True)),
                ('echo', models.TextField(blank=True, null=True)),
                ('declined', models.TextField(blank=True, default=list)),
                ('frames', models.PositiveIntegerField(default=0)),
                ('bytes', models.PositiveBigIntegerField(default=0)),
                ('events', models.PositiveIntegerField(default=0)),
                ('results', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('entries', models.PositiveIntegerField(default=0)),
                ('out_of_order', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('headers_us', models.PositiveBigIntegerField(blank=True, null=True)),
                ('first_event_us', models.PositiveBigIntegerField(blank=True, null=True)),
                ('ended_us', models.PositiveBigIntegerField(blank=True, null=True)),
                ('stop_requested', models.BooleanField(default=False)),
                ('driver', models.CharField(blank=True, max_length=120)),
                ('alive_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='playground.agent')),
                ('conversation', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='playground.conversation')),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='children', to='playground.run')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='FrameBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.PositiveIntegerField()),
                ('last', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('entries', models.PositiveIntegerField(default=0)),
                ('pinned', models.PositiveIntegerField(default=0)),
                ('separate', models.BooleanField(default=False)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='frame_batches', to='playground.run')),
            ],
            options={
                'ordering': ['run', 'first'],
            },
        ),
        migrations.CreateModel(
            name='SavedRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(max_length=130)),
                ('position', models.PositiveIntegerField(default=0)),
                ('agent', models.CharField(blank=True, max_length=90)),
                ('address', models.CharField(blank=True, max_length=2000)),
                ('protocol', models.CharField(choices=[('nlweb', 'NLWeb'), ('agent-api', 'Agent API')], default='nlweb', max_length=20)),
                ('binding', models.CharField(choices=[('http', 'HTTP'), ('mcp', 'MCP')], default='http', max_length=10)),
                ('version', models.CharField(default='0.55', max_length=10)),
                ('document', models.TextField(default=dict)),
                ('headers', models.TextField(blank=True, default=list)),
                ('auth', models.TextField(blank=True, default=dict)),
                ('notes', models.TextField(blank=True)),
                ('expectations', models.TextField(blank=True, default=list)),
                ('captures', models.TextField(blank=True, default=dict)),
                ('reply', models.TextField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('modified_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='playground.collection')),
                ('folder', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='playground.folder')),
                ('replayed', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='playground.run')),
            ],
            options={
                'ordering': ['position', 'pk'],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='saved_request',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='playground.savedrequest'),
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(editable=False, max_length=40, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='playground.collection')),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='playground.run')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Step',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('iteration', models.PositiveIntegerField(default=1)),
                ('folder', models.CharField(blank=True, max_length=120)),
                ('name', models.CharField(max_length=120)),
                ('verdict', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('met', 'Met'), ('unmet', 'Not met'), ('unsent', 'Not sent'), ('stopped', 'Stopped'), ('skipped', 'Skipped')], default='waiting', max_length=8)),
                ('checks', models.TextField(blank=True, default=list)),
                ('reason', models.TextField(blank=True)),
                ('took_ms', models.FloatField(blank=True, null=True)),
                ('collection_run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='playground.collectionrun')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='playground.run')),
                ('saved_request', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='playground.savedrequest')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='Tracker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField()),
                ('part', models.PositiveIntegerField(default=0)),
                ('token', models.TextField()),
                ('status', models.CharField(choices=[('following', 'Following'), ('paused', 'Not followed'), ('answered', 'Answered'), ('cancelled', 'Cancelled'), ('failed', 'Failed'), ('gave_up', 'Given up')], db_index=True, default='following', max_length=10)),
                ('history', models.TextField(default=list)),
                ('checks', models.PositiveIntegerField(default=0)),
                ('patience', models.PositiveIntegerField()),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('note', models.TextField(blank=True)),
                ('cancelling', models.BooleanField(default=False)),
                ('headers', models.TextField(blank=True, default=list)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('answer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='playground.run')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='tracker', to='playground.run')),
            ],
        ),
        migrations.CreateModel(
            name='Twin',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('left', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='playground.run')),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('right', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='playground.run')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Variable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(choices=[('text', 'Text'), ('json', 'JSON'), ('secret', 'Secret')], default='text', max_length=6)),
                ('value', models.TextField(blank=True)),
                ('secret', models.TextField(blank=True)),
                ('origins', models.TextField(blank=True, default=list)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='variables', to='playground.environment')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ActionServer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('protocol', models.CharField(choices=[('mcp', 'MCP'), ('a2a', 'A2A')], max_length=4)),
                ('identifier', models.CharField(max_length=2000)),
                ('url', models.CharField(max_length=2000, verbose_name='URL')),
                ('description', models.TextField(blank=True, null=True)),
                ('described_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['protocol', 'identifier'],
                'constraints': [models.UniqueConstraint(fields=('owner', 'protocol', 'identifier'), name='action_server_per_owner'), models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('protocol', 'identifier'), name='action_server_unowned')],
            },
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='agent_slug_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('slug',), name='agent_slug_unowned'),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='collection_slug_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('slug',), name='collection_slug_unowned'),
        ),
        migrations.AddIndex(
            model_name='collectionrun',
            index=models.Index(fields=['owner', '-created_at'], name='collection_run_latest'),
        ),
        migrations.AddConstraint(
            model_name='environment',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='environment_slug_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='environment',
            constraint=models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('slug',), name='environment_slug_unowned'),
        ),
        migrations.AddConstraint(
            model_name='folder',
            constraint=models.UniqueConstraint(fields=('collection', 'slug'), name='folder_slug'),
        ),
        migrations.AddConstraint(
            model_name='retention',
            constraint=models.UniqueConstraint(fields=('owner',), name='retention_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='retention',
            constraint=models.UniqueConstraint(models.Value(1), condition=models.Q(('owner', None)), name='retention_unowned'),
        ),
        migrations.AddIndex(
            model_name='framebatch',
            index=models.Index(fields=['run', 'last'], name='frame_batch_last'),
        ),
        migrations.AddConstraint(
            model_name='framebatch',
            constraint=models.UniqueConstraint(fields=('run', 'first'), name='frame_batch_first'),
        ),
        migrations.AddIndex(
            model_name='savedrequest',
            index=models.Index(fields=['collection', 'folder', 'position'], name='saved_request_order'),
        ),
        migrations.AddConstraint(
            model_name='savedrequest',
            constraint=models.UniqueConstraint(fields=('collection', 'slug'), name='saved_request_slug'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', '-created_at'], name='run_history'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'agent', '-created_at'], name='run_history_agent'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'state', '-created_at'], name='run_history_state'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'outcome', '-created_at'], name='run_history_outcome'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'made_by', '-created_at'], name='run_history_made_by'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['state'], name='run_state'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['conversation', 'created_at'], name='run_conversation'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(('run', None), ('collection', None), _connector='XOR'), name='share_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='step',
            constraint=models.UniqueConstraint(fields=('collection_run', 'number'), name='step_number'),
        ),
        migrations.AddConstraint(
            model_name='variable',
            constraint=models.UniqueConstraint(fields=('environment', 'name'), name='variable_name'),
        ),
    ]
