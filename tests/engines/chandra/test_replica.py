from __future__ import annotations

import pytest

from moonpress.engines.chandra.address import Address, without_login
from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.errors import UsageError


def test_a_password_in_an_address_is_sent_and_never_shown() -> None:
    engine = ChandraVLLMEngine("http://me:a%40b@gpu1:8000/v1")
    (replica,) = engine.pool.engines
    assert isinstance(replica, ChandraReplica)
    assert replica.client.address == Address(
        "http://gpu1:8000/v1", headers=(("Authorization", "Basic bWU6YUBi"),)
    )
    assert [state.name for state in engine.pool.states()] == ["http://gpu1:8000/v1"]


def test_addresses_without_one_stay_as_they_are() -> None:
    assert without_login("https://host/models/v1") == ("https://host/models/v1", ())


def test_an_engine_may_start_without_servers_where_more_come() -> None:
    with pytest.raises(UsageError, match="no server is named"):
        ChandraVLLMEngine(())
    engine = ChandraVLLMEngine((), more_come=True, api_key="all")
    assert (engine.capacity, engine.preferred_dpi) == (0, 192.0)
    own = engine.replica("127.0.0.1:9", api_key="own")
    assert own.client.address == Address("http://127.0.0.1:9/v1", "own")
    assert own.client.address.local
    assert not Address("http://gpu1:8000/v1").local
    assert engine.replica("gpu1").client.address.api_key == "all"
