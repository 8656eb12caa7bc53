"""The bearer token that an assistant must send over HTTP."""

from __future__ import annotations

import json
import secrets

from starlette.types import ASGIApp, Receive, Scope, Send

from qa.errors import Issue
from qa.mcp_server.desk import told


def guarded(app: ASGIApp, token: str) -> ASGIApp:
    """The app behind a bearer token."""
    wanted = f"Bearer {token}".encode()
    body = json.dumps(
        {
            "error": told(
                Issue("no_token", "", "A bearer token is needed.", "Send the header Authorization: Bearer TOKEN.")
            )
        }
    ).encode()

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"") if scope["type"] == "http" else wanted
        if secrets.compare_digest(given, wanted):
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return door
