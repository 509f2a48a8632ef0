from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('demo', '0002_lists_and_tasks'),
    ]

    operations = [
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
