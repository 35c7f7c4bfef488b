"""Small edits to a compiled Java class, as the Java virtual machine specification (chapter 4) lays it out.

A class is its constants, a head (flags, names, interfaces), fields, methods and a tail; all but the constants and the
methods that are edited stay as they are, byte for byte. New code may branch forward once and no more: so its table of
stack frames is a line, and two dozen instructions suffice.
"""

from __future__ import annotations

import struct
from typing import Final

NOP: Final = b"\x00"
ACONST_NULL: Final = b"\x01"
ALOAD_0: Final = b"\x2a"
ALOAD_1: Final = b"\x2b"
DUP: Final = b"\x59"
POP: Final = b"\x57"
ICONST_0: Final = b"\x03"
BIPUSH: Final = b"\x10"
IMUL: Final = b"\x68"
L2I: Final = b"\x88"
LDC_W: Final = b"\x13"
GETSTATIC: Final = b"\xb2"
GETFIELD: Final = b"\xb4"
PUTFIELD: Final = b"\xb5"
INVOKEVIRTUAL: Final = b"\xb6"
INVOKESPECIAL: Final = b"\xb7"
INVOKEINTERFACE: Final = b"\xb9"
NEW: Final = b"\xbb"
ANEWARRAY: Final = b"\xbd"
CHECKCAST: Final = b"\xc0"
IFNONNULL: Final = b"\xc7"
IRETURN: Final = b"\xac"
ARETURN: Final = b"\xb0"
RETURN: Final = b"\xb1"

_MAGIC: Final = 0xCAFEBABE
_PUBLIC: Final = 1
_TEXT, _CLASS, _STRING, _FIELD, _METHOD, _INTERFACE_METHOD, _NAME_AND_TYPE = 1, 7, 8, 9, 10, 11, 12
_WIDE: Final = (5, 6)
"""Long and double constants take two numbers."""
_SIZES: Final = {
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys(_WIDE, 8),
    15: 3,
}
"""Bytes after each kind of constant but texts."""
_CODE_AT: Final = 22
"""Offset of a method's instructions, if its first attribute is its code."""


class ClassFile:
    """A class to be edited. Names have slashes (`java/lang/String`), types are descriptors (`()Ljava/lang/String;`)."""

    def __init__(self, data: bytes) -> None:
        magic, self._version, count = struct.unpack_from(">IIH", data)
        if magic != _MAGIC:
            raise ValueError("not a Java class")
        self._constants = [b""]
        at = 10
        while len(self._constants) < count:
            kind = data[at]
            size = 2 + _number(data, at + 1) if kind == _TEXT else _SIZES[kind]
            self._constants += [data[at : at + 1 + size], *([b""] if kind in _WIDE else [])]
            at += 1 + size
        end = at + 8 + 2 * _number(data, at + 6)
        self._head = data[at:end]
        self._fields, end = _members(data, end)
        self._methods, end = _members(data, end)
        self._tail = data[end:]

    def to_bytes(self) -> bytes:
        start = struct.pack(">IIH", _MAGIC, self._version, len(self._constants))
        fields = struct.pack(">H", len(self._fields)) + b"".join(self._fields)
        methods = struct.pack(">H", len(self._methods)) + b"".join(self._methods)
        return start + b"".join(self._constants) + self._head + fields + methods + self._tail

    # Constants, as the two bytes by which instructions name them; each is added where it is not there yet.

    def text(self, text: str) -> bytes:
        return self._constant(_TEXT, struct.pack(">H", len(text)) + text.encode("ascii"))

    def string(self, text: str) -> bytes:
        return self._constant(_STRING, self.text(text))

    def type(self, name: str) -> bytes:
        return self._constant(_CLASS, self.text(name))

    def field(self, owner: str, name: str, of_type: str) -> bytes:
        return self._member(_FIELD, owner, name, of_type)

    def method(self, owner: str, name: str, of_type: str) -> bytes:
        return self._member(_METHOD, owner, name, of_type)

    def interface_method(self, owner: str, name: str, of_type: str) -> bytes:
        return self._member(_INTERFACE_METHOD, owner, name, of_type)

    # Edits.

    def implement(self, interface: str) -> None:
        """Say that the class implements an interface."""
        count = struct.pack(">H", _number(self._head, 6) + 1)
        self._head = self._head[:6] + count + self._head[8:] + self.type(interface)

    def add_field(self, name: str, of_type: str) -> None:
        """Add a public field that is null until it is set."""
        self._fields.append(struct.pack(">H", _PUBLIC) + self.text(name) + self.text(of_type) + bytes(2))

    def add_method(
        self, name: str, of_type: str, code: bytes, *, stack: int, variables: int, target: int | None = None
    ) -> None:
        """Add a public method. `target` is where its branch goes, if it has one: there the stack must be empty."""
        method = self._assembled(struct.pack(">H", _PUBLIC), name, of_type, code, stack, variables, target)
        self._methods.append(method)

    def replace_method(self, name: str, of_type: str, code: bytes, *, stack: int) -> None:
        """Give a method other instructions."""
        at = self._find(name, of_type)
        old = self._methods[at]
        self._methods[at] = self._assembled(old[:2], name, of_type, code, stack, _number(old, 16))

    def append_to_method(self, name: str, of_type: str, code: bytes, *, stack: int) -> None:
        """Add instructions before the last one of a method that does not branch and returns nothing."""
        old = self._methods[self._find(name, of_type)]
        instructions = old[_CODE_AT : _CODE_AT + struct.unpack_from(">I", old, 18)[0]]
        self.replace_method(name, of_type, instructions[:-1] + code + RETURN, stack=max(stack, _number(old, 14)))

    def exchange(self, name: str, of_type: str, old: bytes, new: bytes) -> None:
        """Replace instructions of a method by others of the same length, wherever it has them."""
        at = self._find(name, of_type)
        if old not in self._methods[at] or len(old) != len(new):
            raise ValueError(f"{name} does not have the instructions")
        self._methods[at] = self._methods[at].replace(old, new)

    def _constant(self, kind: int, value: bytes) -> bytes:
        constant = bytes([kind]) + value
        if constant not in self._constants:
            self._constants.append(constant)
        return struct.pack(">H", self._constants.index(constant))

    def _member(self, kind: int, owner: str, name: str, of_type: str) -> bytes:
        name_and_type = self._constant(_NAME_AND_TYPE, self.text(name) + self.text(of_type))
        return self._constant(kind, self.type(owner) + name_and_type)

    def _find(self, name: str, of_type: str) -> int:
        wanted = self.text(name) + self.text(of_type)
        for at, method in enumerate(self._methods):
            if method[2:6] == wanted and method[8:10] == self.text("Code"):
                return at
        raise ValueError(f"no method {name}{of_type}")

    def _assembled(
        self, flags: bytes, name: str, of_type: str, code: bytes, stack: int, variables: int, target: int | None = None
    ) -> bytes:
        # One frame, 64 bytes from the start at most, with the variables as they were: its number is its place.
        frames = b"" if target is None else self.text("StackMapTable") + struct.pack(">IHB", 3, 1, target)
        tables = struct.pack(">HH", 0, 1 if frames else 0) + frames
        body = struct.pack(">HHI", stack, variables, len(code)) + code + tables
        head = flags + self.text(name) + self.text(of_type)
        return head + struct.pack(">H", 1) + self.text("Code") + struct.pack(">I", len(body)) + body


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def _members(data: bytes, at: int) -> tuple[list[bytes], int]:
    """Cut fields or methods apart, and say where they end."""
    members = []
    count, at = _number(data, at), at + 2
    for _ in range(count):
        end = at + 8
        for _ in range(_number(data, at + 6)):
            end += 6 + struct.unpack_from(">I", data, end + 2)[0]
        members.append(data[at:end])
        at = end
    return members, at
