"""Remedies of the library, as they are typed for the program."""

import re
import shlex

import pytest

from rgboost.cli.typed import as_typed, parameter_option, read_option


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("say decimal=',', else", "say --read 'decimal=,', else"),
        ("else say dtypes={'a b': 'str'}", """else say --read 'dtypes={"a b": "str"}'"""),
        ("give n_features=2000000000, else", "give --read n_features=2000000000, else"),
        ("read it with zero_based=True", "read it with --read zero_based=true"),
        ("(encoding='utf-16') or", "(--read encoding=utf-16) or"),
        ("Or use engine='direct'.", "Or use --engine direct."),
        ("learning_rate=-1 must be above 0.", "--learning-rate -1 must be above 0."),
        ("max_iter=10.", "--max-iter 10."),
        ("monotone_constraints=None.", "--monotone-constraints none."),
        ("Use early_stopping=False, or X_val, y_val.", "Use --early-stopping false, or --valid."),
        ("groups=[['a', 'b'], ['c']] is", """--groups '[["a", "b"], ["c"]]' is"""),
    ],
)
def test_settings(said, typed):
    assert as_typed(said) == typed
    assert as_typed(typed) == typed


@pytest.mark.parametrize(
    "message",
    [
        "it needs the squared loss, not Ridged(loss=Huber(delta=1), ridge=0.1).",
        "learner=Stumps(leaves='signed', max_bins=7) knows none",
        "pass groups=... to fit",
        "the column 'a max_iter=3 b' is missing",
        "Python's, such as 'cv=3' or cv=",
        "level=1.5 must be less than 1",
        "else by --read header=true",
    ],
)
def test_what_stays(message):
    assert as_typed(message) == message


def test_a_shell_reads_what_was_meant():
    awkward = {'it\'s a "name"': "str", "two  blanks": "str"}
    assert shlex.split(read_option("dtypes", awkward))[0] == "--read"
    for option in (read_option, parameter_option):
        assert "\n" not in option("missing_values", ["a\nb"])


NAMES = ["a", "it's", 'a "b"', "two  blanks", "max_iter=3", "x,y; $HOME `id`"]


@pytest.mark.parametrize("name", NAMES)
def test_remedies_can_be_copied(rgboost, tmp_path, name):
    """What stands after a word of advice runs, and mends."""
    path, model = tmp_path / "t.csv", tmp_path / "m.rgb"
    asked = ["fit", path, "--target", "y", "--out", model, "--max-iter", "5", "--verbose", "0"]
    quoted = '"' + name.replace('"', '""') + '"'

    def mended(content, *wanted, encoding="utf-8"):
        path.write_bytes(content.encode(encoding))
        done = rgboost(*asked)
        assert done.code == 3
        options = [option for option in options_in(done.err) if option[1].startswith(wanted)]
        assert len(options) == len(wanted), done.err
        for option in options:
            again = rgboost(*asked, *option)
            assert again.code == 0, (option, again.err)

    rows = "".join(f"{k / 7:.3f}".replace(".", ",") + f";{k % 5}\n" for k in range(40))
    mended(f"{quoted};y\n{rows}1.5;2\n", "dtypes=")
    rows = "".join(f"{k};{k % 5}\n" for k in range(40))
    mended(f"{quoted};y\n{rows}n/a;2\n", "missing_values=", "dtypes=")
    mended(f"{quoted};y\n{rows}Köln;2\nUlm;3\n" + "Ulm;1\n" * 60, "encoding=", encoding="cp1252")


def test_other_remedies_can_be_copied(rgboost, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 1:2\n2 2000000:1\n" * 20)
    asked = ["fit", path, "--out", tmp_path / "m", "--max-iter", "5", "--verbose", "0"]
    (option,) = options_in(rgboost(*asked).err)
    assert rgboost(*asked, *option).code == 0
    asked += [*option, "--loss", "log-cosh", "--task", "regression", "--engine"]
    done = rgboost(*asked, "gram")
    assert done.code == 2
    assert options_in(done.err)[-1] == ["--engine", "direct"]
    assert rgboost(*asked, "direct").code == 0


def options_in(message):
    """The options that a message has, as a shell reads them when they are copied."""
    word = r"""(?:'[^']*'|"[^"]*"|[^\s'"()])+"""
    copied = re.findall(rf"--[a-z-]+ {word}", message)
    return [shlex.split(text.rstrip(",.;")) for text in copied]
