"""How neural networks are run on a CPU.

Owns the choice of runtime and its settings. Never knows what a network does.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


class Network:
    """One network with one input and one output, loaded on first need.

    Args:
        path: The ONNX file.
        threads: Threads it may use.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._path = path
        self._threads = threads

    def run(self, batch: FloatArray) -> FloatArray:
        """Output of the network for ``batch``."""
        session = self._session
        result: FloatArray = session.run(None, {session.get_inputs()[0].name: batch})[0]
        return result

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says of itself."""
        found: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        return found

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # The arena keeps the memory of the largest page ever seen.
        options.enable_cpu_mem_arena = False
        return onnxruntime.InferenceSession(
            str(self._path), options, providers=["CPUExecutionProvider"]
        )
