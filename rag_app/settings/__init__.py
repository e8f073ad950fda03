"""One tree of settings: each stage's field is the stage's own component, so the settings are the components' fields.

Values come from the defaults, then a preset or a YAML file, then the environment (`RAG_APP_RETRIEVE__TOP_K=5`), then
`stage.key=value` arguments; the later wins. Unknown keys are refused with their path.

A stage is imported when something is said of it or its value is asked for: a command pays for the stages it uses.
"""

from rag_app.settings.layers import overlay, parse_assignment, presets, presets_path, read_config
from rag_app.settings.tree import Settings

__all__ = ["Settings", "overlay", "parse_assignment", "presets", "presets_path", "read_config"]
