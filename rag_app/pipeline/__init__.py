"""Settings and stages put together: nothing but composition.

```python
settings = Settings()
index, report = build_index(settings, ["docs"], "docs.index")
answer = build_chain(settings, index).invoke("How long is the warranty?")
```
"""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.pipeline.build import (
        Stages,
        add_files,
        bind,
        build_index,
        build_splitter,
        build_stages,
        chat_model_of,
        open_index,
        open_or_create,
        reembed,
    )
    from rag_app.pipeline.chain import build_chain, chain_of, evidence_chain, to_answer
    from rag_app.pipeline.stream import AnswerEvent, Done, Retrieved, Verdicts, astream_answer, stream_answer

__all__ = [
    "AnswerEvent",
    "Done",
    "Retrieved",
    "Stages",
    "Verdicts",
    "add_files",
    "astream_answer",
    "bind",
    "build_chain",
    "build_index",
    "build_splitter",
    "build_stages",
    "chain_of",
    "chat_model_of",
    "evidence_chain",
    "open_index",
    "open_or_create",
    "reembed",
    "stream_answer",
    "to_answer",
]

__getattr__ = lazy_names(
    __name__,
    {
        "build": (
            *("Stages", "add_files", "bind", "build_index", "build_splitter", "build_stages", "chat_model_of"),
            *("open_index", "open_or_create", "reembed"),
        ),
        "chain": ("build_chain", "chain_of", "evidence_chain", "to_answer"),
        "stream": ("AnswerEvent", "Done", "Retrieved", "Verdicts", "astream_answer", "stream_answer"),
    },
)
