"""How neural networks are run on a CPU.

Owns the choice of runtime and its settings. Never knows what a network does.

OpenVINO is used where it is installed: on CPUs with bfloat16 units it takes a third of the time of
onnxruntime, on others it is about as fast. onnxruntime is what remains elsewhere.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]


class Network:
    """One network with one input, loaded on first need.

    Args:
        path: The ONNX file.
        threads: Threads it may use.
        classes: Which classes of a classifier to compute; ``None`` for all. Leaving most of a large
            alphabet out saves a third of the time.
    """

    def __init__(self, path: Path, threads: int, classes: Classes | None = None) -> None:
        self._path = path
        self._threads = threads
        self._classes = classes

    def run(self, batch: FloatArray) -> FloatArray:
        """Output of the network for ``batch``; valid until the next call.

        Every new shape costs time and memory once: callers keep to few of them.
        """
        return self._backend.run(batch)

    def run_all(self, batch: FloatArray) -> list[FloatArray]:
        """All outputs of a network that has several, in the file's order."""
        return self._backend.run_all(batch)

    def metadata(self, key: str) -> str:
        """What the file says of itself under ``key``.

        Raises:
            KeyError: it says nothing of that.
        """
        return self._backend.metadata(key)

    @cached_property
    def _backend(self) -> _Backend:
        if importlib.util.find_spec("openvino") is not None:
            return _OpenVino(self._path, self._threads, self._classes)
        return _OnnxRuntime(self._path, self._threads, self._classes)


class _Backend(Protocol):
    def run(self, batch: FloatArray) -> FloatArray: ...

    def run_all(self, batch: FloatArray) -> list[FloatArray]: ...

    def metadata(self, key: str) -> str: ...


def _import_openvino() -> Any:
    """OpenVINO without its telemetry, which would report every import to a server of its maker.

    The package falls back to a stub when it finds no ``openvino_telemetry``, so it is kept from
    finding it; what others imported before stays as it was.
    """
    name = "openvino_telemetry"
    if name in sys.modules or "openvino" in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[name]


class _OpenVino:
    def __init__(self, path: Path, threads: int, classes: Classes | None) -> None:
        openvino = _import_openvino()
        core = openvino.Core()
        # Pinned, every process would take the first core of the machine for itself.
        options = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self._model = core.read_model(path)
        if classes is not None:
            self._model = _with_classes(self._model, classes)
        self._request = core.compile_model(self._model, "CPU", options).create_infer_request()

    def run(self, batch: FloatArray) -> FloatArray:
        self._request.infer([batch], share_inputs=True)
        result: FloatArray = self._request.get_output_tensor().data
        return result

    def run_all(self, batch: FloatArray) -> list[FloatArray]:
        self._request.infer([batch], share_inputs=True)
        return [tensor.data for tensor in self._request.output_tensors]

    def metadata(self, key: str) -> str:
        entry: Any = self._model.get_rt_info()["framework"][key]
        return str(entry.value)


class _OnnxRuntime:
    def __init__(self, path: Path, threads: int, classes: Classes | None) -> None:
        import onnxruntime

        self._classes = classes

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # The arena keeps the memory of the largest page ever seen.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def run(self, batch: FloatArray) -> FloatArray:
        result: FloatArray = self._session.run(None, {self._input: batch})[0]
        return result if self._classes is None else result[..., self._classes]

    def run_all(self, batch: FloatArray) -> list[FloatArray]:
        return list(self._session.run(None, {self._input: batch}))

    def metadata(self, key: str) -> str:
        return str(self._session.get_modelmeta().custom_metadata_map[key])


def _with_classes(model: Any, classes: Classes) -> Any:
    """The classifier ``model``, ending in a linear layer and softmax, with some classes only."""
    openvino = _import_openvino()
    ops = importlib.import_module("openvino.opset8")
    nodes = model.get_ordered_ops()
    linear = [node for node in nodes if node.get_type_name() == "MatMul"][-1]
    bias = next(node for node in nodes[nodes.index(linear) :] if node.get_type_name() == "Add")
    weights = linear.input_value(1).get_node().data[:, classes]
    offsets = bias.input_value(1).get_node().data[classes]
    fewer = ops.add(
        ops.matmul(linear.input_value(0), weights, transpose_a=False, transpose_b=False), offsets
    )
    return openvino.Model([ops.softmax(fewer, -1).output(0)], model.get_parameters(), "fewer")
