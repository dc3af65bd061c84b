import json

from rgboost import warming


def test_all_kinds_of_fits_are_compiled(rgboost, monkeypatch):
    monkeypatch.setattr(warming, "_compile_apart", lambda name: "")
    done = rgboost("warm-up", "--jobs", 2)
    assert done.code == 0
    assert done.out.startswith(f"{len(warming.PATHS)} kinds of fits are compiled, ")
    found = json.loads(rgboost("warm-up", "--json").out)
    assert found["fits"] == len(warming.PATHS)
