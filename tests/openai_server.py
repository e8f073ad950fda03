"""A small HTTP server that speaks OpenAI's chat completions and embeddings: a real endpoint that can fail on purpose.

`with ChatServer() as server:` listens on a free port of the loopback. Each request takes the next entry of
`server.script` (the last one stays); `server.requests` has the bodies that were sent, `server.most_under_way` how many
requests waited for their answer at one time.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = str | Callable[[dict[str, Any]], str]


@dataclass
class Step:
    """What the server does with one request.

    `reply` is the text, or a function of the request body. `status` other than 200 fails; `fault`: "broken_json" |
    "dying_stream" | "hang" | "empty" | "refusal" | "tool_json". `pieces` cuts the streamed text; `finish` is the
    reason to stop that the server tells. `wait` is called before the answer.
    """

    reply: Reply = "OK"
    status: int = 200
    fault: str | None = None
    pieces: list[str] | None = None
    finish: str = "stop"
    seconds: float = 0.0
    wait: Callable[[], object] | None = None


@dataclass
class ChatServer:
    script: list[Step] = field(default_factory=lambda: [Step()])
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> ChatServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def prompt(self, number: int = -1) -> str:
        """All message texts of one request, joined."""
        return "\n".join(str(message.get("content")) for message in self.requests[number]["messages"])

    def next_step(self) -> Step:
        with self._counting:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def end_step(self) -> None:
        with self._counting:
            self.under_way -= 1


def _handler(owner: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            owner.requests.append(body)
            owner.headers.append(dict(self.headers))
            step = owner.next_step()
            if step.seconds:
                time.sleep(step.seconds)
            if step.wait:
                step.wait()
            owner.end_step()  # before the answer, upon which the next request may come
            try:
                self._answer(step, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _answer(self, step: Step, body: dict[str, Any]) -> None:
            if step.status != 200:
                error = {"error": {"message": f"planned failure {step.status}", "type": "planned", "code": None}}
                self._send(step.status, json.dumps(error))
            elif step.fault == "broken_json":
                self._send(200, '{"id": "x", "choices": [{"mess')
            elif step.fault == "hang":
                time.sleep(5)
                self.close_connection = True
            elif self.path.endswith("/embeddings"):
                self._send(200, json.dumps(_embeddings(body)))
            elif body.get("stream"):
                self._stream(step, body)
            else:
                self._send(200, json.dumps(_completion(step, body)))

        def _send(self, status: int, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, step: Step, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            text = _text(step, body)
            pieces = step.pieces if step.pieces is not None else [text[i : i + 3] for i in range(0, len(text), 3)]
            for number, piece in enumerate(pieces):
                if step.fault == "dying_stream" and number >= max(1, len(pieces) // 2):
                    self.wfile.write(b'data: {"id": "x", "choi')
                    self.wfile.flush()
                    self.connection.close()
                    return
                self._event(_chunk({"role": "assistant", "content": piece}))
            self._event(_chunk({}, finish="content_filter" if step.fault == "refusal" else step.finish))
            if (body.get("stream_options") or {}).get("include_usage"):
                self._event({**_chunk({}), "choices": [], "usage": _usage()})
            self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, value: dict[str, Any]) -> None:
            self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
            self.wfile.flush()

    return Handler


def _text(step: Step, body: dict[str, Any]) -> str:
    if step.fault == "empty":
        return ""
    return step.reply(body) if callable(step.reply) else step.reply


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """For each text a vector of any length that only depends on the text."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [[float(len(text)), *(float(text.count(c)) for c in "aeiourn")] for text in texts]
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    return {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}


def _completion(step: Step, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _text(step, body)}
    if step.fault == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    choice = {"index": 0, "message": message, "finish_reason": step.finish}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [choice],
        "usage": _usage(),
    }
