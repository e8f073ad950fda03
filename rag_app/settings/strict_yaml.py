"""YAML as settings are written in it."""

from __future__ import annotations

from typing import Any

import yaml


def parse(text: str) -> Any:
    """The value that the text is; ValueError when it is no YAML, or a key stands twice in one mapping."""
    try:
        return yaml.load(text, _Once)  # a safe loader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


class _Once(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping: the first value would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
