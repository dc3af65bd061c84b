"""Write models of the present version of the format, to be kept for ever.

    python -m tests.storage.make_fixtures

Run once for each version, by the release that introduces it. Files that are there are not touched:
that later releases read what earlier ones wrote is the point of them.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from rgboost import RGBMClassifier, RGBMRegressor, Stumps
from rgboost.losses import Huber, Ridged
from rgboost.selection import RandomGroups
from rgboost.steps import LineSearch
from rgboost.storage import VERSION

FOLDER = Path(__file__).parent / "fixtures"
ROWS = np.array([[0.1 * i, (i * i) % 7, -1.0 if i % 3 else 2.5] for i in range(-8, 12)])


def models():
    """(name, fitted model): with and without objects, names, groups, labels of both kinds."""
    y = ROWS[:, 0] + np.abs(ROWS[:, 1] - 3)
    plain = RGBMRegressor(max_iter=15, random_state=0).fit(ROWS, y)
    yield "regressor", plain
    objects = RGBMRegressor(
        loss=Ridged(Huber(0.5), 0.01),
        learner=Stumps(leaves="signed", max_bins=6),
        selection=RandomGroups(1),
        step=LineSearch(),
        groups=[[0, 2], [1]],
        max_iter=15,
        random_state=1,
    )
    frame = pd.DataFrame(ROWS, columns=["length", "größe", "<&>"])
    yield "objects", objects.fit(frame, y, np.arange(1.0, 21.0))
    labels = np.where(y > y.mean(), "high", "low")
    mixed = mixed_rows()
    yield "mixed", RGBMRegressor(max_iter=15, random_state=3, selection="all").fit(mixed, y)
    three = np.array(["low", "middle", "high"])[np.digitize(y, [1.0, 3.0])]
    yield "classes", RGBMClassifier(max_iter=15, max_bins=8, random_state=4).fit(ROWS, three)
    both = RGBMClassifier(max_iter=15, random_state=5, selection="all")
    yield "mixed_classes", both.fit(mixed, three)
    yield "classifier", RGBMClassifier(max_iter=15, max_bins=8, random_state=2).fit(ROWS, labels)


def mixed_rows():
    """Categories that are strings and numbers, and missing values."""
    frame = pd.DataFrame(ROWS, columns=["length", "kind", "size"])
    frame.loc[::6, "length"] = np.nan
    frame["kind"] = np.array(["ä", "b", None, "日本"], object)[np.arange(20) % 4]
    frame["size"] = pd.Categorical(np.array([0.5, 2.0, 1e6])[np.arange(20) % 3])
    return frame


def rows_for(model):
    if model.input_.categorical.any():
        return mixed_rows()
    names = getattr(model, "feature_names_in_", None)
    return ROWS if names is None else pd.DataFrame(ROWS, columns=names)


def expected(model):
    """What the model says, exactly: floats are written so that they come back as they were."""
    return {
        "score": model.explain_local(rows_for(model)).score().tolist(),
        "prediction": model.predict(rows_for(model)).tolist(),
        "importances": model.feature_importances_.tolist(),
        "train_loss": model.trace_.train_loss.tolist(),
        "parameters": {name: repr(value) for name, value in model.get_params(deep=False).items()},
    }


def main():
    for name, model in models():
        path = FOLDER / f"{name}_{VERSION}.safetensors"
        if path.exists():
            print(f"{path} is there and stays as it is")
            continue
        model.save(path, full=True)
        text = json.dumps(expected(model), indent=1, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
