"""Run the program in this process, as a shell would see it."""

from dataclasses import dataclass

import pytest

from rgboost.cli import main


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def rgboost(capfd):
    def run(*arguments) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Done(int(end.value.code), out, err)

    return run
