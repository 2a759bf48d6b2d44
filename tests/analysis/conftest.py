"""Stores, trained once for all tests of a program."""

from support import HEAD, OFF, ARMS, TINY, half_done, pytest, train


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="session")
def tiny(folder):
    """Every switch on; three arms, one of them without running statistics."""
    return train(TINY, folder / "tiny.h5")


@pytest.fixture(scope="session")
def plain(folder):
    """Every switch off."""
    return train(HEAD + OFF + ARMS, folder / "plain.h5")


@pytest.fixture(scope="session")
def midrun(tiny, folder):
    """Units in all states."""
    return half_done(tiny, folder / "midrun.h5")
