"""A loopback server that speaks the wire formats of OpenAI, Anthropic, Gemini and Ollama from a script of replies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """What the server answers to one request: text in the format of the path, or a status, or something odd.

    `tool` puts the text into a tool call, `finish` overrides why the text ended, `raw` is sent as it is,
    `empty` leaves the list of choices empty, `wait` is seconds before anything is sent.
    """

    text: str | None = ""
    status: int = 200
    message: str = "the scripted provider says no"
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    tool: bool = False
    refusal: str | None = None
    raw: str | None = None
    empty: bool = False
    wait: float = 0.0
    tokens: tuple[int, int] = (1000, 100)


@dataclass
class Wire:
    """The running server: its address, what it was asked, and what it will say next."""

    port: int
    script: list[Say]
    requests: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def says(self, *script: Say | str) -> Wire:
        """Start over with these answers; the last one is repeated for ever."""
        self.script = [item if isinstance(item, Say) else Say(item) for item in script]
        self.requests.clear()
        return self

    def base(self, provider: str) -> str:
        """The `api_base` that a LiteLLM model of this provider needs."""
        paths = {"openai": "/v1", "hosted_vllm": "/v1", "gemini": "/v1beta"}
        return f"http://127.0.0.1:{self.port}{paths.get(provider, '')}"

    @property
    def bodies(self) -> str:
        """Everything that was received, headers left out, as one text to search."""
        return "\n".join(item["path"] + json.dumps(item["body"], ensure_ascii=False) for item in self.requests)

    def next(self) -> Say:
        return self.script[min(len(self.requests), len(self.script)) - 1]


def _openai(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.tool:
        call = {"id": "call_1", "type": "function", "function": {"name": "plan", "arguments": say.text}}
        message |= {"content": None, "tool_calls": [call]}
    if say.refusal:
        message |= {"content": None, "refusal": say.refusal}
    choice = {"index": 0, "message": message, "finish_reason": say.finish}
    tokens_in, tokens_out = say.tokens
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "m"),
        "service_tier": "default",
        "choices": [] if say.empty else [choice],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }


def _anthropic(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    finish = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[say.finish]
    content: list[dict[str, Any]] = [{"type": "text", "text": say.refusal or say.text or ""}]
    if say.refusal:
        finish = "refusal"
    if say.tool or body.get("tools"):
        try:
            content = [
                {"type": "tool_use", "id": "t1", "name": body["tools"][0]["name"], "input": json.loads(say.text or "")}
            ]
            finish = "tool_use" if finish == "end_turn" else finish
        except (ValueError, KeyError):
            pass
    return {
        "id": "r1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "m"),
        "content": [] if say.empty else content,
        "stop_reason": finish,
        "stop_sequence": None,
        "usage": {"input_tokens": say.tokens[0], "output_tokens": say.tokens[1]},
    }


def _gemini(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[say.finish]
    candidate = {"content": {"role": "model", "parts": [{"text": say.text or ""}]}, "finishReason": finish, "index": 0}
    if say.refusal:
        candidate = {"finishReason": "SAFETY", "index": 0}
    return {
        "candidates": [] if say.empty else [candidate],
        "usageMetadata": {
            "promptTokenCount": say.tokens[0],
            "candidatesTokenCount": say.tokens[1],
            "totalTokenCount": sum(say.tokens),
        },
        "modelVersion": "m",
    }


def _ollama(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "model": body.get("model", "m"),
        "created_at": "2026-01-01T00:00:00Z",
        "done": True,
        "done_reason": say.finish,
        "prompt_eval_count": say.tokens[0],
        "eval_count": say.tokens[1],
    }
    return reply if say.empty else reply | {"message": {"role": "assistant", "content": say.text or say.refusal or ""}}


def _openai_error(say: Say) -> dict[str, Any]:
    return {"error": {"message": say.message, "type": "error", "code": None, "param": None}}


_FORMATS: tuple[tuple[str, Callable[[Say, dict[str, Any]], dict[str, Any]], Callable[[Say], dict[str, Any]]], ...] = (
    ("chat/completions", _openai, _openai_error),
    ("/v1/messages", _anthropic, lambda say: {"type": "error", "error": {"type": "error", "message": say.message}}),
    (
        ":generateContent",
        _gemini,
        lambda say: {"error": {"code": say.status, "message": say.message, "status": "FAILED"}},
    ),
    ("/api/chat", _ollama, lambda say: {"error": say.message}),
)


class _Handler(BaseHTTPRequestHandler):
    wire: Wire

    def log_message(self, *args: Any) -> None:
        """Say nothing on the terminal."""

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "m", "object": "model"}], "models": [{"name": "m"}]}
        self._send(200, json.dumps(models), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path.endswith("/api/show"):
            self._send(200, json.dumps({"template": "", "model_info": {}, "capabilities": []}), {})
            return
        self.wire.requests.append(
            {"path": self.path, "headers": dict(self.headers), "body": body, "at": time.monotonic()}
        )
        say = self.wire.next()
        if say.wait:
            self.wire.released.wait(say.wait)
        if say.raw is not None:
            self._send(say.status, say.raw, {"Content-Type": "text/html"} | say.headers)
            return
        good, bad = next((good, bad) for part, good, bad in _FORMATS if part in self.path)
        self._send(say.status, json.dumps(good(say, body) if say.status == 200 else bad(say)), say.headers)

    def _send(self, status: int, text: str, headers: dict[str, str]) -> None:
        data = text.encode()
        try:
            self.send_response(status)
            for name, value in ({"Content-Type": "application/json"} | headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            # the client gave up waiting, which is what some tests are about
            self.close_connection = True


@contextmanager
def serve(script: Sequence[Say | str] = ("",)) -> Iterator[Wire]:
    """A server on a free loopback port for the length of the block."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    handler.wire = wire = Wire(server.server_address[1], [Say()]).says(*script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.released.set()
        server.shutdown()
        server.server_close()
