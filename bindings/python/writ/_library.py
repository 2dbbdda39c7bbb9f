"""libwrit.so, its structs, and who owns what it allocates.

1. A pointer of the library is in one Handle, which counts its owners: an object, and the objects that
   borrow from it. It is freed when the last one is closed or collected.
2. Nothing is raised through the library: a callback keeps its error in the Call, which raises it at
   its end.
3. The interpreter's lock is held during a call (PyDLL), so that one thread at a time is in the
   library; callbacks can let other threads run, and objects that are in a call refuse those.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import c_char, c_char_p, c_int, c_size_t, c_void_p
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, TypeVar

T = TypeVar("T")
CODES = (
    "unset", "ok", "invalid", "parse", "limit", "mismatch", "absent", "busy", "no_memory", "io", "crypto",
)
OK = 1

lib = ctypes.PyDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libwrit.so"))


class Finding(NamedTuple):
    """One error in a shape or agents file, or one doubt."""

    code: str
    path: str


class WritError(Exception):
    """The library refused a call.

    code: its kind ("invalid", "parse", "limit", "mismatch", ...). reason: of a crew, the word of
    writ/crew.h ("name_mismatch"), else "none". offset: into the input, where one applies."""

    def __init__(self, code: str, reason: str, text: str, offset: int = 0, findings: Sequence[Finding] = ()):
        super().__init__(text or f"{code}: {reason}")
        self.code, self.reason, self.offset, self.findings = code, reason, offset, list(findings)


# ---- structs


class View(ctypes.Structure):
    _fields_ = [("ptr", c_void_p), ("len", c_size_t)]

    def text(self) -> Optional[str]:
        if not self.ptr:
            return None
        return ctypes.string_at(self.ptr, self.len).decode("utf-8")


class Result(ctypes.Structure):
    _fields_ = [("code", c_int)]


class Err(ctypes.Structure):
    _fields_ = [("text", c_char * 512), ("offset", c_size_t), ("line", c_size_t)]


class CrewErr(ctypes.Structure):
    _fields_ = [("error", c_int), ("err", Err)]


class Text(ctypes.Structure):
    _fields_ = [("ptr", c_void_p), ("len", c_size_t)]


def declare(name: str, result: Any, *args: Any) -> Any:
    function = getattr(lib, name)
    function.restype, function.argtypes = result, args
    return function


# ---- calls


class Call:
    """What one call passes: bytes that live until its end, and the first error of a callback."""

    def __init__(self) -> None:
        self._kept: List[Any] = []
        self.thrown: Optional[BaseException] = None

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.thrown is not None:
            raise self.thrown

    def view(self, text: Optional[str], what: str = "a text") -> View:
        if text is None:
            return View(None, 0)
        if not isinstance(text, str):
            raise TypeError(f"{what} is not a str")
        try:
            raw = text.encode("utf-8")
        except UnicodeEncodeError:
            raise WritError("parse", "malformed", f"{what} has a surrogate without its other half") from None
        self._kept.append(raw)
        return View(ctypes.cast(c_char_p(raw), c_void_p), len(raw))

    def views(self, texts: Sequence[Optional[str]], what: str = "a text") -> Any:
        if isinstance(texts, str):
            raise TypeError(f"{what}: a str in place of a list")
        array = (View * len(texts))(*[self.view(text, what) for text in texts])
        self._kept.append(array)
        return array

    def keep(self, value: T) -> T:
        self._kept.append(value)
        return value

    def back(self, otherwise: T, work: Callable[[], T]) -> T:
        """Runs a callback. Keeps (2)."""
        if self.thrown is not None:
            return otherwise
        try:
            return work()
        except BaseException as error:  # pylint: disable=broad-except
            self.thrown = error
            return otherwise


# ---- ownership


class Handle:
    def __init__(self, pointer: Any, free: Callable[[Any], Any], borrowed: Sequence["Handle"] = ()):
        self.pointer, self._free, self._borrowed, self._owners = pointer, free, tuple(borrowed), 1
        for handle in self._borrowed:
            handle.retain()

    def retain(self) -> None:
        self._owners += 1

    def release(self) -> None:
        self._owners -= 1
        if self._owners == 0:
            self._free(self.pointer)
            for handle in self._borrowed:
                handle.release()


class Owned:
    """An object with a pointer of the library. A context manager; `close` frees it before it is
    collected, and what borrows from it stays usable."""

    _handle: Optional[Handle] = None
    _finalizer: Any = None

    def _own(self, pointer: Any, free: Callable[[Any], Any], borrowed: Sequence[Handle] = ()) -> None:
        self._handle = Handle(pointer, free, borrowed)
        self._finalizer = weakref.finalize(self, self._handle.release)

    def close(self) -> None:
        self._handle = None
        if self._finalizer is not None:
            self._finalizer()

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


def handle_of(value: Any, kind: type) -> Handle:
    if not isinstance(value, kind):
        raise TypeError(f"not a {kind.__name__}")
    handle = value._handle  # type: ignore[attr-defined]
    if handle is None:
        raise WritError("invalid", "closed", f"the {kind.__name__} is closed")
    return handle


def pointer_of(value: Any, kind: type) -> Any:
    return handle_of(value, kind).pointer


def natural(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is not an int")
    if not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{what} is not below 2^32")
    return value


def finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} is not a number")
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{what} is not finite")
    return number


def choice(value: Any, names: Sequence[str], what: str) -> int:
    if value not in names:
        raise ValueError(f"{what} is none of {', '.join(names)}")
    return list(names).index(value)
