import not_there


def test_b():
    assert not_there
