"""Give every way a model call can fail one name, one sentence, and a word on whether to try again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from qa.errors import Issue, ModelUnavailable


@dataclass(frozen=True)
class Fault:
    """Why a call gave no reply. `after` is the wait in seconds that the provider asked for, `said` its own words."""

    code: str
    message: str
    hint: str
    retry: bool = False
    after: float | None = None
    said: str = ""

    def issue(self) -> Issue:
        return Issue(self.code, "", self.message, self.hint)

    def __str__(self) -> str:
        said = f" The provider said: {self.said}" if self.said else ""
        return f"{self.code}: {self.message}. {self.hint}{said}".strip()


class CallFailed(ModelUnavailable):
    """A call that gave no reply, with the fault that says why."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.issue())

    def __reduce__(self) -> tuple[type[CallFailed], tuple[Fault]]:  # type: ignore[override]
        return type(self), (self.fault,)


_FAULTS: dict[str, tuple[str, str, bool]] = {
    "connection": ("the model server cannot be reached", "Check the address and the network.", True),
    "timeout": ("the model did not answer in time", "Try again, or allow more seconds.", True),
    "no_key": ("there is no key for this provider", "Set its key, or paste one for this session.", False),
    "key_refused": ("the provider refused the key", "Check that the key is whole and still valid.", False),
    "forbidden": ("the key may not use this model", "Choose another model or ask for access.", False),
    "no_credit": ("the account has no credit left", "Top it up, or choose another model.", False),
    "no_such_model": ("the provider does not know this model", "Check the model's name.", False),
    "no_such_provider": ("the model's name does not say which provider to call", "Write provider/model.", False),
    "too_long": ("the question and the columns are too long for this model", "Choose fewer tables.", False),
    "bad_parameter": ("the model does not take a parameter that was sent", "It is left out from now on.", False),
    "bad_request": ("the provider refused the request", "Choose another model.", False),
    "rate_limited": ("the provider asks to slow down", "Wait a little.", True),
    "overloaded": ("the provider is overloaded", "Wait a little.", True),
    "provider_error": ("the provider failed", "Try again later or choose another model.", True),
    "not_a_model": ("the address answers, but not as a model server does", "Check the base address.", False),
    "empty_choices": ("the provider sent no reply", "Try again or choose another model.", True),
    "refused": ("the model refused to answer", "Rephrase the question.", False),
    "filtered": ("the provider's filter withheld the reply", "Rephrase the question.", False),
    "stopped": ("stopped by you", "", False),
    "not_installed": ("the model library cannot be loaded", "Install the requirements again.", False),
}

_BY_STATUS: dict[int, str] = {
    400: "bad_request",
    401: "key_refused",
    402: "no_credit",
    403: "forbidden",
    404: "no_such_model",
    408: "timeout",
    409: "overloaded",
    413: "too_long",
    422: "bad_request",
    429: "rate_limited",
    500: "provider_error",
    502: "overloaded",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_Sign = Callable[[frozenset[str], str], bool]
"""From the class names along the chain of causes and the lower-cased message to yes or no."""


def _named(*names: str) -> _Sign:
    return lambda classes, text: bool(classes.intersection(names))


def _says(pattern: str) -> _Sign:
    return lambda classes, text: re.search(pattern, text) is not None


_SIGNS: tuple[tuple[_Sign, str], ...] = (
    (_named("ModuleNotFoundError", "ImportError"), "not_installed"),
    (_named("ConnectError", "ConnectionRefusedError", "gaierror", "RemoteProtocolError", "ReadError"), "connection"),
    (_named("Timeout", "APITimeoutError", "ReadTimeout", "ConnectTimeout"), "timeout"),
    (_says(r"missing credentials|missing \w+ api key|api_key client option must be set"), "no_key"),
    (_says(r"llm provider not provided"), "no_such_provider"),
    (_named("UnsupportedParamsError"), "bad_parameter"),
    (_named("JSONDecodeError"), "not_a_model"),
    (_says(r"empty or invalid response from llm endpoint|error converting to valid response"), "not_a_model"),
    (_named("ContextWindowExceededError"), "too_long"),
    (_says(r"context length|context window|maximum context|prompt is too long|too many tokens"), "too_long"),
    (
        _says(r"insufficient_quota|insufficient credit|exceeded your current quota|credit balance is too low"),
        "no_credit",
    ),
    (
        _says(r"(unsupported|unknown|unrecognized|invalid|extra)[ _](parameter|argument|param|input|value)"),
        "bad_parameter",
    ),
    (
        _says(r"(does not|doesn't|not) support(ed)?\b.*(temperature|response_format|json|schema|tool|max_tokens)"),
        "bad_parameter",
    ),
    (_says(r"(temperature|response_format|json_schema|tool_choice|max_tokens)\b.*\bnot support"), "bad_parameter"),
    (
        _says(r"response_format|json_schema|output_format|output_config|response_json_schema|\bschema\b|\bgrammar\b"),
        "bad_parameter",
    ),
    (_says(r"argument after \*\* must be a mapping"), "empty_choices"),
)


def named(code: str, *, said: str = "", after: float | None = None) -> Fault:
    """The fault of this code."""
    message, hint, retry = _FAULTS[code]
    return Fault(code, message, hint, retry, after, said)


def name(error: BaseException, *, secrets: tuple[str, ...] = ()) -> Fault:
    """The fault behind an exception of the model library, whatever class the provider's adapter chose for it.

    `secrets` never appear in the words kept from the provider.
    """
    chain = list(_chain(error))
    classes = frozenset(base.__name__ for link in chain for base in type(link).__mro__)
    text = str(error)
    status = next((code for link in chain if isinstance(code := getattr(link, "status_code", None), int)), None)
    by_sign = next((code for sign, code in _SIGNS if sign(classes, text.lower()[:4000])), None)
    code = by_sign or _BY_STATUS.get(status or 0, "provider_error")
    return named(code, said=said(text, secrets), after=_retry_after(chain))


def said(text: str, secrets: tuple[str, ...] = ()) -> str:
    """At most 200 characters of the provider's own words, keys and tracebacks cut out."""
    first = text.split("\nTraceback")[0]
    for secret in secrets:
        if len(secret) > 3:
            first = first.replace(secret, "[key]")
    first = re.sub(r"\b(sk|pk|gsk|key|AIza)[-_A-Za-z0-9*.]{12,}", "[key]", first)
    inner = re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"', first)
    plain = inner.group(1) if inner else re.sub(r"^(litellm\.)?(\w+(Error|Exception)\b[ :\-]*)+", "", first)
    return " ".join(plain.split())[:200]


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < 12:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _retry_after(chain: list[BaseException]) -> float | None:
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None) or {}
        value = headers.get("retry-after")
        if value is not None and re.fullmatch(r"\d+(\.\d+)?", str(value)):
            return float(value)
    return None
