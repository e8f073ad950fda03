"""What computes a model: torch, or OpenVINO (extra `fast`) for the encoders it can build; and with which numbers.

`auto` takes OpenVINO when it is installed and can: it loads without torch and is two to four times as fast. Vectors of
both agree within a cosine of .999, so an index built with one is searched with the other, and one cache serves both.
"""

from rag_app.backend.choice import Backend, openvino_wanted
from rag_app.backend.processor import has_amx, has_bf16, has_gpu, thread_count
from rag_app.backend.weights import UnsupportedModelError

__all__ = [
    "Backend",
    "UnsupportedModelError",
    "has_amx",
    "has_bf16",
    "has_gpu",
    "openvino_wanted",
    "thread_count",
]
