"""What a fitted model can be written as: methods of both estimators."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from .document import write_document
from .extract import extract
from .onnx_model import write_onnx
from .sources import write_javascript, write_python


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
        return write_document(self, _written_by())

    def to_onnx(self, *, contributions: bool = False) -> Any:
        """The model as an ONNX graph, an `onnx.ModelProto`; needs the package onnx.

        Every feature is an input of its name (x0, x1, ... if they had none), with one entry a row:
        numbers are doubles (NaN: missing), categories that are strings are strings ('': missing,
        unless that is a category). Outputs are ``prediction`` (a number, or the label of a class),
        ``probabilities`` (rows, classes) of a classifier, ``score``, and, with
        ``contributions=True``, what every term adds to the score: (rows, terms), with several
        classes one axis more. An output gets an underscore where a feature has its name. Names of
        terms are in the metadata. All operators are of ai.onnx (opset 15), but for the LabelEncoder
        of ai.onnx.ml that reads strings.

        Parameters
        ----------
        contributions : bool
            Whether the graph has an output with what every term adds to the score.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
        >>> graph = model.to_onnx().graph
        >>> [value.name for value in graph.input][:3], [value.name for value in graph.output]
        (['age', 'sex', 'bmi'], ['prediction', 'score'])
        """
        return write_onnx(extract(self), _written_by(), contributions)

    def to_sql(
        self,
        table: str,
        *,
        dialect: str,
        columns: Sequence[str] | None = None,
        contributions: bool = False,
    ) -> str:
        """The text of one SELECT that predicts the rows of a table; needs the package sqlglot.

        Parameters
        ----------
        table
            The name of the table, as one writes it in SQL. Its columns have the names of the
            features; NULL and NaN are missing values.
        dialect
            "duckdb", "sqlite", "postgres", "bigquery", "snowflake" or "spark".
        columns
            Columns of the table that stay in the result, such as a key; by default those of the
            features.
        contributions
            Whether the result has a column for what every term adds to the score.

        Returns
        -------
        str
            Its result has the columns that stay, contributions, the score, the probability of every
            class, and last the prediction.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
        >>> query = model.to_sql("patients", dialect="duckdb", columns=["id"])
        >>> query.splitlines()[-5:-2]
        ['SELECT', '  "id",', '  "score" AS "score",']
        """
        try:
            from .sql import write_sql
        except ModuleNotFoundError as error:
            if error.name != "sqlglot":
                raise
            raise ImportError(
                "to_sql needs the package sqlglot: pip install 'rgboost[export]'"
            ) from error
        return write_sql(extract(self), table, dialect, columns, contributions)

    def to_python(self) -> str:
        """The text of a Python file that predicts without any package.

        It has the functions ``predict(row)``, ``predict_proba(row)``, ``decision_function(row)``
        and ``contributions(row)``; a row is a dictionary of values by the names of the features
        (x0, x1, ... if they had none), and None stands for a missing value.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
        >>> file = {}
        >>> exec(model.to_python(), file)
        >>> bool(file["predict"](X.iloc[0].to_dict()) == model.predict(X[:1])[0])
        True
        """
        return write_python(extract(self), _written_by())

    def to_javascript(self, name: str = "predict") -> str:
        """The text of a JavaScript function of this ``name`` that predicts in a page or in Node.

        It takes an object of values by the names of the features (x0, x1, ... if they had none;
        null is a missing value), and gives ``{prediction, score, probabilities, contributions}``.

        Parameters
        ----------
        name : str
            The name of the function.

        Returns
        -------
        str

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> "const predict = " in model.to_javascript()
        True
        """
        return write_javascript(extract(self), _written_by(), name)


def _written_by() -> str:
    return f"rgboost {version('rgboost')}"
