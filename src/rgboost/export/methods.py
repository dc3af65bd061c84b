"""What a fitted model can be written as: methods of both estimators."""

from __future__ import annotations

from importlib.metadata import version

from .document import write_document


class ExportsMixin:
    """Exports have the numbers of the model itself; each is tested against `predict`."""

    def to_json(self) -> str:
        """The model as a JSON document, which `rgboost.from_json` makes a model of again.

        It has the names, kinds and categories of the features, the edges, values and weights of
        all curves and pairs, the link and the classes, in numbers that are read as the same bits;
        `rgboost.export.schema` gives its JSON Schema. An ``offset`` is no part of it.

        Examples
        --------
        >>> import json
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
        >>> document = json.loads(model.to_json())
        >>> document["link"]["name"], document["features"][2]
        ('identity', {'name': 'bmi', 'kind': 'number'})
        """
        return write_document(self, f"rgboost {version('rgboost')}")
