"""The tables as they were in version 0.1, from three migrations."""

from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('demo', '0001_initial'),
        ('demo', '0002_lists_and_tasks'),
        ('demo', '0003_memory'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('site', models.CharField(max_length=80)),
                ('item_type', models.CharField(max_length=40)),
                ('url', models.URLField(max_length=300, unique=True)),
                ('document', models.JSONField()),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=80, unique=True)),
                ('ask', models.TextField()),
                ('plot', models.CharField(max_length=20)),
                ('started', models.FloatField()),
                ('seconds', models.FloatField()),
                ('cancelled', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Saved',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shelf', models.CharField(db_index=True, max_length=20)),
                ('entry', models.TextField()),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('area', models.CharField(max_length=20)),
                ('key', models.CharField(max_length=200)),
                ('state', models.TextField()),
                ('touched', models.FloatField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('area', 'key'), name='demo_memory_key')],
            },
        ),
    ]
