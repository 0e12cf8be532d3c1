"""Groups of documents: all are in one, and they follow from the documents alone."""

from __future__ import annotations

from moonpress.batch.shards import name_of, portions
from moonpress.errors import InputMissing
from moonpress.sources.inputs.item import InputItem, InputProblem


def _items(count: int, size: int = 1000) -> list[InputItem]:
    return [InputItem(f"a/{i:05}.pdf", f"/in/{i}", f"{i}", size, "1") for i in range(count)]


def _names(items: list[InputItem]) -> list[str]:
    return [name_of(portion.items, "x") for portion in portions(iter(items))]


def test_every_document_is_in_one_group_in_order() -> None:
    items = _items(5000)
    groups = [portion.items for portion in portions(iter(items))]
    assert [item for group in groups for item in group] == items
    assert max(map(len, groups)) <= 256
    assert len(groups[0]) <= 16
    late = [len(group) for group in groups[-11:-1]]
    assert min(late) >= 64


def test_a_new_document_changes_few_groups() -> None:
    items = _items(5000)
    new = InputItem("a/02500x.pdf", "/in/x", "x", 1000, "1")
    before, after = _names(items), _names([*items[:2501], new, *items[2501:]])
    assert len(set(before) - set(after)) <= 3


def test_a_changed_document_and_other_choices_give_other_names() -> None:
    items = _items(10)
    changed = [*items[:-1], InputItem("a/00009.pdf", "/in/9", "9", 1000, "2")]
    assert name_of(items, "x") != name_of(changed, "x")
    assert name_of(items, "x") != name_of(items, "y")


def test_groups_are_bounded_in_bytes() -> None:
    groups = list(portions(iter(_items(20, size=3 << 30))))
    assert [len(group.items) for group in groups] == [1] * 20


def test_problems_come_along_and_do_not_count() -> None:
    items = _items(30)
    problem = InputProblem("gone", InputMissing("there is no such file"))
    found = list(portions(iter([problem, *items, problem])))
    assert sum(len(portion.problems) for portion in found) == 2
    assert [item for portion in found for item in portion.items] == items


def test_a_limit_takes_the_first_and_asks_for_one_more_at_most() -> None:
    asked = iter(_items(100))
    found = list(portions(asked, limit=20))
    assert sum(len(portion.items) for portion in found) == 20
    assert len(list(asked)) >= 79
