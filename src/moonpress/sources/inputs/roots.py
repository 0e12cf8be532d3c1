"""What the ids of documents begin with.

Owns telling roots of the same name apart. Pure; never looks at what is in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moonpress.sources.inputs.ids import marked, safe_part
from moonpress.sources.inputs.targets import Target


@dataclass(frozen=True, slots=True)
class Naming:
    """Ids of what a root stands for, as safe parts.

    Attributes:
        itself: The root's own id, when it is a document.
        inside: What ids of documents in it begin with.
    """

    itself: tuple[str, ...]
    inside: tuple[str, ...]

    def below(self, parts: tuple[str, ...]) -> Naming:
        """Of something in it."""
        path = (*self.inside, *parts)
        return Naming(path, path)


def name_roots(targets: Sequence[Target]) -> Iterator[tuple[Target, Naming]]:
    """All targets with what their ids begin with; the same target again is left out.

    Patterns and folders that begin at one folder are one root.
    """
    labels = {target.address: safe_part(target.label) for target in targets}
    times = Counter(labels.values())
    seen = set()
    for target in targets:
        key = (target.address, target.what, target.pattern)
        if key in seen:
            continue
        seen.add(key)
        label = labels[target.address]
        if times[label] > 1:
            label = marked(target.label, "/".join(target.where))
        yield target, Naming((label,), () if len(labels) == 1 else (label,))
