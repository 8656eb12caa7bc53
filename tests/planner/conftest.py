"""One provider server and one loaded model library for all planner tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wire.server import Wire, serve


@pytest.fixture(scope="session")
def _server() -> Iterator[Wire]:
    with serve() as running:
        yield running


@pytest.fixture
def wire(_server: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """The scripted provider, forgetful, with no waits between retries."""
    from qa.planner import loop

    monkeypatch.setattr(loop, "BACK_OFF", (0.0, 0.0))
    loop._learned.clear()
    return _server.says("")
