"""A count -> the words of messages for people. Imports no TensorFlow."""

from __future__ import annotations

from collections.abc import Collection

from autoimport.staging.registry import Site


def counted(count: int, noun: str) -> str:
    """`1 trace`, `2 traces`, `2 launches`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def counted_sites(sites: Collection[Site]) -> str:
    """`1 function`, `2 regions`, `3 functions and regions`."""
    kinds = {"region" if site.kind == "region" else "function" for site in sites}
    return counted(len(sites), kinds.pop()) if len(kinds) == 1 else f"{len(sites)} functions and regions"
