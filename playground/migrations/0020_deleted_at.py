"""The time of deletion of collections, folders and requests; slugs are unique among the others."""

import django.db.models.deletion
from django.db import migrations, models

UNTRASHED = models.Q(deleted_at=None)
#: Model, its name in constraints, and the columns and condition of those.
MODELS = [
    ('collection', 'collection', {
        'slug_per_owner': (['owner', 'slug'], UNTRASHED),
        'slug_unowned': (['slug'], UNTRASHED & models.Q(owner=None)),
    }),
    ('folder', 'folder', {'slug': (['collection', 'slug'], UNTRASHED)}),
    ('savedrequest', 'saved_request', {'slug': (['collection', 'slug'], UNTRASHED)}),
]


class Migration(migrations.Migration):

    dependencies = [
        ('playground', '0019_valid_columns'),
    ]

    operations = [
        migrations.CreateModel(
            name='SkippedCollection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=130, unique=True)),
            ],
        ),
        migrations.AlterField(
            model_name='savedrequest',
            name='folder',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='requests', to='playground.folder'),
        ),
        *(
            operation
            for model, name, constraints in MODELS
            for operation in (
                *(migrations.RemoveConstraint(model, f'{name}_{end}') for end in constraints),
                migrations.AddField(
                    model,
                    'deleted_at',
                    models.DateTimeField(blank=True, editable=False, null=True),
                ),
                migrations.AddIndex(
                    model,
                    models.Index(
                        condition=models.Q(deleted_at__isnull=False),
                        fields=['deleted_at'],
                        name=f'{name}_trashed',
                    ),
                ),
                *(
                    migrations.AddConstraint(
                        model,
                        models.UniqueConstraint(
                            condition=condition, fields=fields, name=f'{name}_{end}'
                        ),
                    )
                    for end, (fields, condition) in constraints.items()
                ),
            )
        ),
    ]
