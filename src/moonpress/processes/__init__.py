"""Child processes that can be killed: rendering and CPU engines run in them."""

from moonpress.processes.worker import (
    WorkerDied,
    WorkerError,
    WorkerFailure,
    WorkerProcess,
    WorkerTimeout,
)

__all__ = ["WorkerDied", "WorkerError", "WorkerFailure", "WorkerProcess", "WorkerTimeout"]
