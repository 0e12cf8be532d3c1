"""Whether the server on this machine has a Chandra model.

Owns that one question. Never reads pages.
"""

from __future__ import annotations

from moonpress.engines.chandra.address import Address, base_of
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.engine import LOCAL_URL
from moonpress.engines.chandra.model import is_chandra
from moonpress.engines.registry import ServerOptions


async def has_chandra(server: ServerOptions) -> bool:
    """Ask it.

    Raises:
        EngineUnavailable: it does not answer as an OpenAI API does, or wants another key.
    """
    address = Address(base_of(LOCAL_URL), server.api_key, server.ca_file)
    client = ChatClient(address, Patience(), connections=1)
    try:
        return any(is_chandra(model) for model in await client.models())
    finally:
        await client.aclose()
