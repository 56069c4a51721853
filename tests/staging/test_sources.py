"""Sources and the generated functions that read them again."""

from __future__ import annotations

import gc

from autoimport.staging.sources import GuardBuilder, Source


class Thing:
    """Anything with attributes."""


def argument(index: int = 0, text: str = "x") -> Source:
    return Source(f"a[{index}]", text)


def test_a_place_below_a_source_is_one_source() -> None:
    parent = argument()
    assert parent.attribute("rate") is parent.attribute("rate")
    assert parent.attribute("rate").text == "x.rate"
    assert parent.attribute("rate") is not argument().attribute("rate")


def test_the_check_returns_the_inputs_in_order() -> None:
    builder = GuardBuilder()
    first, second = argument(0), argument(1).attribute("value")
    names = [builder.value(second), builder.value(first)]
    thing = Thing()
    thing.value = 5
    assert builder.compile(names)({}, (), (1, thing)) == [5, 1]


def test_the_check_returns_the_number_of_the_guard_that_failed() -> None:
    builder = GuardBuilder()
    builder.require(argument(0), "{v} == 1", "was 1")
    builder.require(argument(1, "y"), "{v} is None", "was None")
    check = builder.compile([])
    assert [check({}, (), args) for args in ((1, None), (2, None), (1, 2))] == [[], 0, 1]
    assert (builder.text(0), builder.text(1)) == ("x was 1", "y was None")


def test_a_guard_is_asked_once_and_a_source_is_read_once() -> None:
    reads = []

    class Counting:
        @property
        def value(self) -> int:
            reads.append(1)
            return 1

    builder = GuardBuilder()
    place = argument().attribute("value")
    for _ in range(3):
        builder.require(place, "{v} == 1", "was 1")
    builder.require(place, "{v} > 0", "was positive")
    assert len(builder.texts) == 2
    assert builder.compile([builder.value(place)])({}, (), (Counting(),)) == [1]
    assert reads == [1]


def test_what_is_no_longer_there_is_no_error() -> None:
    builder = GuardBuilder()
    builder.value(argument().attribute("gone"))
    assert builder.compile([])({}, (), (Thing(),)) == -1
    assert "no longer there" in builder.text(-1)


def test_objects_that_were_two_must_be_two() -> None:
    one, two, three = Thing(), Thing(), Thing()
    for count in (2, 3):
        builder = GuardBuilder()
        for index in range(count):
            builder.tell_apart(Thing, argument(index, f"x{index}"))
        check = builder.compile([])
        assert check({}, (), (one, two, three)) == []
        assert check({}, (), (one, one, three)[:count] if count == 2 else (one, two, one)) == 0
        assert "were two objects" in builder.text(0)


def test_objects_of_two_kinds_need_not_be_told_apart() -> None:
    builder = GuardBuilder()
    builder.tell_apart("one kind", argument(0))
    builder.tell_apart("another", argument(1))
    thing = Thing()
    assert builder.compile([])({}, (), (thing, thing)) == []


def test_a_pinned_object_is_not_kept_alive() -> None:
    builder = GuardBuilder()
    thing = Thing()
    builder.require(builder.pinned(thing, "thing"), "{v} is not None", "was freed")
    check = builder.compile([])
    assert check({}, (), ()) == []
    del thing
    gc.collect()
    assert check({}, (), ()) == 0


def test_a_constant_has_one_name() -> None:
    builder = GuardBuilder()
    thing = Thing()
    assert builder.constant(thing) == builder.constant(thing)
    assert builder.constant(thing) != builder.constant(Thing())


def test_the_reader_reads_without_guards() -> None:
    builder = GuardBuilder()
    place = argument()
    builder.require(place, "{v} == 1", "was 1")
    read = builder.reader({"x": place})
    assert (read({}, (), (2,)), read({}, (), ())) == ({"x": 2}, {})


def test_computed_values_follow_the_values_before_them() -> None:
    builder = GuardBuilder()
    double = builder.compute(f"{builder.value(argument())} * 2")
    assert builder.compile([builder.compute(f"{double} + 1")])({}, (), (5,)) == [11]
