import pytest


class TestMean:
    def test_two(self):
        assert (1 + 2) / 2 == 1.5

    def test_wrong(self):
        values = {"a": 1}
        assert values["a"] == 2, "a should be two"


@pytest.fixture
def broken():
    raise RuntimeError("no database")


def test_error(broken):
    pass


@pytest.mark.skip(reason="not here")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected():
    assert False


@pytest.mark.parametrize("n", [1, 2, 3])
def test_many(n):
    assert n < 3


def test_key():
    {"left": 1}["rigth"]
