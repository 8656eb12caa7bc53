"""A real server and a real Chromium for the page's end-to-end tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One more try for a test in the browser: a busy machine may lose a click. The summary line counts it."""
    for item in items:
        if item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, object]) -> dict[str, object]:
    """The machine's own Chromium where there is one, else the one Playwright installed."""
    found = os.environ.get("QA_CHROMIUM") or next((path for name in BROWSERS if (path := shutil.which(name))), None)
    own = {"executable_path": found} if found else {}
    return {**browser_type_launch_args, **own, "args": ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app, served with an audit database and a cache of its own; gives its address."""
    folder = tmp_path_factory.mktemp("server")
    with serve(folder) as url:
        yield url


class serve:  # noqa: N801 - reads as the verb it is
    """`with serve(folder) as url:` runs the app until the block ends. Settings of the machine are kept out."""

    def __init__(self, folder: Path, **extra: str) -> None:
        self.folder, self.extra = folder, extra

    def __enter__(self) -> str:
        port = _free_port()
        own = {k: v for k, v in os.environ.items() if not k.startswith("QA_") and not k.endswith("_API_KEY")}
        own |= {"QA_AUDIT": str(self.folder / "audit.sqlite"), "QA_CACHE": str(self.folder / "cache"), "TZ": "UTC"}
        options = {"port": str(port), "address": "127.0.0.1", "headless": "true", "fileWatcherType": "none"}
        flags = [piece for key, value in options.items() for piece in (f"--server.{key}", value)]
        self.log = (self.folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *flags],
            cwd=ROOT,
            env=own | self.extra,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        url = f"http://127.0.0.1:{port}"
        _wait(f"{url}/_stcore/health", self.process)
        return url

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server did not come up")


@pytest.fixture
def page(page: Page) -> Page:
    """Waits are generous: the machine may be busy, the assertions are not about time."""
    page.set_default_timeout(45_000)
    return page
