"""A real cluster on this machine for the tests: a master, two workers and a Connect server from the pyspark package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
CONFIGURED = {
    "spark.connect.grpc.binding.address": "127.0.0.1", "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false",
    "spark.driver.memory": "768m", "spark.executor.memory": "768m", "spark.sql.session.timeZone": "UTC",
}  # fmt: skip


def why_not() -> str | None:
    """Why no cluster can be started here."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        return "pyspark is not installed: make spark installs it"
    if not (Path(spark.origin).parent / "bin" / "spark-class").exists():
        return "only Spark's client is installed: make spark installs the server too"
    return None if shutil.which("java") else "there is no Java: install a JRE, such as openjdk-17-jre-headless"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until_it_answers(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if answers(port):
            return
        if process.poll() is not None:
            break
        time.sleep(0.5)
    raise AssertionError(f"a part of the cluster did not start: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="session")
def spark_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the Connect server. `SPARK_TEST` names one that runs already."""
    if given := os.environ.get("SPARK_TEST"):
        yield given
        return
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("spark")
    spec = find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    home = Path(spec.origin).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "TZ": "UTC"}
    processes: list[subprocess.Popen[bytes]] = []

    def start(name: str, *command: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.log").open("wb") as log:
            processes.append(
                subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
            )
        return processes[-1]

    launch, master, connect = str(home / "bin" / "spark-class"), free_port(), free_port()
    address = f"spark://127.0.0.1:{master}"
    try:
        head = start(
            "master", launch, MASTER, "--host", "127.0.0.1", "--port", str(master), "--webui-port", str(free_port())
        )
        until_it_answers(master, head, folder / "master.log")
        for number in (1, 2):
            work = str(folder / f"work{number}")
            start(
                f"worker{number}",
                launch,
                WORKER,
                "--host",
                "127.0.0.1",
                "--webui-port",
                str(free_port()),
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                work,
                address,
            )
        options = [
            part
            for key, value in {**CONFIGURED, "spark.connect.grpc.binding.port": str(connect)}.items()
            for part in ("--conf", f"{key}={value}")
        ]
        server = start(
            "connect",
            str(home / "bin" / "spark-submit"),
            "--class",
            CONNECT,
            "--master",
            address,
            *options,
            "spark-internal",
        )
        until_it_answers(connect, server, folder / "connect.log")
        yield f"sc://127.0.0.1:{connect}"
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
