"""Leases: one holder at a time, and the dead lose theirs."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moonpress.batch.leases import Lease, Leases, is_current
from moonpress.batch.sinks.store import Store, open_store


@pytest.fixture(params=["folder", "address"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    root = str(tmp_path / "leases")
    return open_store(root if request.param == "folder" else f"local://{root}")


def test_one_holder_at_a_time(store: Store) -> None:
    ours, theirs = Leases(store), Leases(store)
    lease = ours.take("x")
    assert lease == Lease("x", 1)
    assert theirs.take("x") is None
    assert theirs.take("y") == Lease("y", 1)
    ours.release(lease)
    assert theirs.take("x") == Lease("x", 1)


def test_a_holder_may_take_its_own_anew_for_another_worker(store: Store) -> None:
    ours = Leases(store)
    first, second = ours.take("x"), ours.take("x")
    assert first is not None
    assert second == Lease("x", 2)
    assert not is_current(store, first)
    assert is_current(store, second)


def test_who_ends_leaves_its_leases_to_others(store: Store) -> None:
    ours, theirs = Leases(store), Leases(store)
    ours.take("x")
    ours.close()
    assert theirs.take("x") == Lease("x", 2)


def test_a_process_that_was_killed_leaves_its_leases_at_once(tmp_path: Path) -> None:
    place = str(tmp_path / "leases")
    code = (
        "import os, signal, sys\n"
        "from moonpress.batch.leases import Leases\n"
        "from moonpress.batch.sinks.store import open_store\n"
        "assert Leases(open_store(sys.argv[1])).take('x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, place], check=False, timeout=60)
    assert Leases(open_store(place)).take("x") == Lease("x", 2)


def test_a_machine_that_is_silent_loses_its_leases_after_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(socket, "gethostname", lambda: "other")
    away = Leases(store, patience=90)
    stale = away.take("x")
    assert stale is not None
    monkeypatch.setattr(socket, "gethostname", lambda: "here")
    ours = Leases(store, patience=90)
    assert ours.take("x") is None
    now += 80
    away.beat()
    assert ours.take("x") is None
    now += 80
    assert ours.take("x") is None
    now += 20
    assert ours.take("x") == Lease("x", 2)
    assert not is_current(store, stale)


def test_a_lease_that_a_crash_cut_short_is_free_after_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    store.write("x.1", b"{")
    ours = Leases(store, patience=90)
    assert ours.take("x") is None
    now += 91
    assert ours.take("x") == Lease("x", 2)
