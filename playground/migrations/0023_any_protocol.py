from django.db import migrations, models

MODELS = {'agent': 'agent', 'savedrequest': 'saved_request'}


def to_the_default(apps, schema_editor):
    """On the way back: the rows of other protocols become those of the default one."""
    for name in MODELS:
        model = apps.get_model('playground', name)
        fields = {each: model._meta.get_field(each).default for each in ('protocol', 'version')}
        model.objects.exclude(protocol__in=['nlweb', 'agent-api']).update(**fields)


class Migration(migrations.Migration):
    """The column of a protocol holds any name: the registry says which ones there are."""

    dependencies = [
        ('playground', '0022_storage'),
    ]

    operations = [
        operation
        for model, name in MODELS.items()
        for operation in (
            migrations.RemoveConstraint(model, f'{name}_protocol_valid'),
            migrations.AlterField(
                model,
                'protocol',
                models.CharField(default='nlweb', max_length=20),
            ),
            migrations.AddConstraint(
                model,
                models.CheckConstraint(
                    condition=models.Q(protocol__regex=r'\A[a-z0-9-]{1,20}\Z'),
                    name=f'{name}_protocol_valid',
                ),
            ),
        )
    ] + [migrations.RunPython(migrations.RunPython.noop, to_the_default)]
