"""Three of the simulator's classes, edited when a JVM starts so that a step takes a third of its
time.

The jar stays as it is: the edited classes go to the JVM's own folder, which is searched before the
jar. A jar whose classes are not those edited here (another release) is run unedited, only slower.
What a game says is not touched, but for the order of things in lists and menus, which is by chance
in the original:

- Objects are hashed by their number, which is counted anew for each game, not by identity: with
  `-XX:hashCode=2`, which makes runs repeat themselves, every set was searched one by one. Now sets
  are fast and ordered the same every time.
- What an object contains is copied into a new set when it changes, not several times for each
  object at each step.
- Collecting the contents of a room no longer copies the set collected so far for each object in it.
- The words of each name, by which commands are matched, are kept until the next game is loaded, not
  split every step.
- After each step, names are no longer collected once more, to be printed for debugging.

The edits are listed in `faster.toml`, with the digests of the classes that are known.
"""

import hashlib
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rpms.worlds.base import read_table

_TABLE = read_table(__package__, "faster.toml")
EDITED = tuple(_TABLE["classes"])
"""The classes edited, by name."""
_MAGIC = 0xCAFEBABE
_PUBLIC = 1
_TEXT = 1
_CLASS = 7
_STRING = 8
_NAME_AND_TYPE = 12
_MEMBERS: Mapping[str, int] = _TABLE["members"]
_SIZES = {int(kind): size for kind, size in _TABLE["sizes"].items()}
_WIDE = 8
"""Bytes of long and double constants, which take two numbers."""
_INTERFACES_AT = 6
"""Offset of the number of interfaces, after the flags of the class and the class above it."""
_HEAD = 6
"""Bytes of a method before its attributes: flags, name and type, two each."""
# Offsets in a method whose first attribute is its code
_STACK_AT = 14
_VARIABLES_AT = 16
_LENGTH_AT = 18
_CODE_AT = 22


class MethodSize(NamedTuple):
    """The most values that a method has on its stack, and in its variables."""

    stack: int
    variables: int


class ClassFile:
    """A class to be edited.

    Names have slashes (`java/lang/String`), types are descriptors (`()Ljava/lang/String;`).
    """

    def __init__(self, data: bytes) -> None:
        magic, self._version, count = struct.unpack_from(">IIH", data)
        if magic != _MAGIC:
            raise ValueError("not a Java class")
        self._constants = [b""]
        at = 10
        while len(self._constants) < count:
            kind = data[at]
            size = 2 + _number(data, at + 1) if kind == _TEXT else _SIZES[kind]
            self._constants.append(data[at : at + 1 + size])
            if kind != _TEXT and size == _WIDE:
                self._constants.append(b"")
            at += 1 + size
        end = at + 8 + 2 * _number(data, at + 6)
        self._head = data[at:end]
        self._fields, end = _members(data, end)
        self._methods, end = _members(data, end)
        self._tail = data[end:]

    def to_bytes(self) -> bytes:
        start = struct.pack(">IIH", _MAGIC, self._version, len(self._constants))
        constants = b"".join(self._constants)
        members = _joined(self._fields) + _joined(self._methods)
        return start + constants + self._head + members + self._tail

    def edit(self, row: Mapping[str, Any], names: Mapping[str, str]) -> None:
        """Make one edit of the table, with names in place of those in braces: a method's name
        and its arguments.
        """
        filled: dict[str, Any] = {}
        for key, value in row.items():
            filled[key] = value.format_map(names) if isinstance(value, str) else value
        name = filled["name"]
        of_type = filled.get("of_type", "")
        match row["edit"]:
            case "implement":
                self.implement(name)
            case "add_field":
                self.add_field(name, of_type)
            case "add_method":
                size = MethodSize(row["stack"], row["variables"])
                code = self._code(filled["code"])
                self.add_method(name, of_type, code, size, target=row.get("target"))
            case "replace_method":
                code = self._code(filled["code"])
                self.replace_method(name, of_type, code, stack=row["stack"])
            case "lengthen_method":
                code = self._code(filled["code"])
                self.lengthen_method(name, of_type, code, stack=row["stack"])
            case "exchange":
                self.exchange(name, of_type, self._code(filled["old"]), self._code(filled["new"]))
            case other:
                raise ValueError(f"no such edit: {other}")

    def _code(self, listing: str) -> bytes:
        """The instructions of a listing, one a line."""
        code = b""
        for line in listing.strip().splitlines():
            name, _, rest = line.partition(" ")
            code += self._instruction(name, rest)
        return code

    def _instruction(self, name: str, rest: str) -> bytes:
        """An instruction of a listing; constants are added where they are not there yet."""
        code = bytes([_TABLE["opcodes"][name]])
        if name in _MEMBERS:
            owner, member, of_type, *more = rest.split()
            name_and_type = self._constant(_NAME_AND_TYPE, self._text(member) + self._text(of_type))
            of_class = self._constant(_CLASS, self._text(owner))
            named = self._constant(_MEMBERS[name], of_class + name_and_type)
            return code + named + bytes(map(int, more))
        if name in ("new", "checkcast", "anewarray"):
            return code + self._constant(_CLASS, self._text(rest))
        if name == "ldc_w":
            return code + self._constant(_STRING, self._text(rest.strip('"')))
        return code + bytes(map(int, rest.split()))

    def implement(self, name: str) -> None:
        """Say that the class implements an interface."""
        before = self._head[:_INTERFACES_AT]
        count = struct.pack(">H", _number(self._head, _INTERFACES_AT) + 1)
        others = self._head[_INTERFACES_AT + 2 :]
        interface = self._constant(_CLASS, self._text(name))
        self._head = before + count + others + interface

    def add_field(self, name: str, of_type: str) -> None:
        """Add a public field that is null until it is set."""
        flags = struct.pack(">H", _PUBLIC)
        no_attributes = bytes(2)
        self._fields.append(flags + self._text(name) + self._text(of_type) + no_attributes)

    def add_method(
        self,
        name: str,
        of_type: str,
        code: bytes,
        size: MethodSize,
        *,
        target: int | None = None,
    ) -> None:
        """Add a public method.

        `target` is where its branch goes, if it has one: there the stack must be empty.
        """
        head = struct.pack(">H", _PUBLIC) + self._text(name) + self._text(of_type)
        self._methods.append(self._assembled(head, code, size, target))

    def replace_method(self, name: str, of_type: str, code: bytes, *, stack: int) -> None:
        """Give a method other instructions."""
        at = self._find(name, of_type)
        old = self._methods[at]
        size = MethodSize(stack, _number(old, _VARIABLES_AT))
        self._methods[at] = self._assembled(old[:_HEAD], code, size)

    def lengthen_method(self, name: str, of_type: str, code: bytes, *, stack: int) -> None:
        """Give a method more instructions before its last one, which is to return nothing. The
        method must not branch.
        """
        old = self._methods[self._find(name, of_type)]
        (length,) = struct.unpack_from(">I", old, _LENGTH_AT)
        own = old[_CODE_AT : _CODE_AT + length]
        deepest = max(stack, _number(old, _STACK_AT))
        self.replace_method(name, of_type, own[:-1] + code + own[-1:], stack=deepest)

    def exchange(self, name: str, of_type: str, old: bytes, new: bytes) -> None:
        """Replace instructions of a method by others of the same length, wherever it has them."""
        at = self._find(name, of_type)
        if old not in self._methods[at] or len(old) != len(new):
            raise ValueError(f"{name} does not have the instructions")
        self._methods[at] = self._methods[at].replace(old, new)

    def _text(self, text: str) -> bytes:
        return self._constant(_TEXT, struct.pack(">H", len(text)) + text.encode("ascii"))

    def _constant(self, kind: int, value: bytes) -> bytes:
        """The two bytes by which instructions name a constant."""
        constant = bytes([kind]) + value
        if constant not in self._constants:
            self._constants.append(constant)
        return struct.pack(">H", self._constants.index(constant))

    def _find(self, name: str, of_type: str) -> int:
        wanted = self._text(name) + self._text(of_type)
        for at, method in enumerate(self._methods):
            if method[2:6] == wanted and method[8:10] == self._text("Code"):
                return at
        raise ValueError(f"no method {name}{of_type}")

    def _assembled(
        self, head: bytes, code: bytes, size: MethodSize, target: int | None = None
    ) -> bytes:
        """A method whose one attribute is its code. `head`: its flags, name and type."""
        frames = b""
        if target is not None:
            # One frame, 64 bytes from the start at most, with the variables as they were: its
            # number is its place.
            frames = self._text("StackMapTable") + struct.pack(">IHB", 3, 1, target)
        handlers = struct.pack(">H", 0)
        attributes = struct.pack(">H", 1 if frames else 0) + frames
        body = struct.pack(">HHI", *size, len(code)) + code + handlers + attributes
        attribute = self._text("Code") + struct.pack(">I", len(body)) + body
        return head + struct.pack(">H", 1) + attribute


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def _joined(members: Sequence[bytes]) -> bytes:
    """Fields or methods, with their number before them."""
    return struct.pack(">H", len(members)) + b"".join(members)


class _Members(NamedTuple):
    """Fields or methods of a class, and where they end."""

    members: list[bytes]
    end: int


def _members(data: bytes, at: int) -> _Members:
    """Cut fields or methods apart."""
    members = []
    count = _number(data, at)
    start = at + 2
    for _ in range(count):
        attributes = _number(data, start + _HEAD)
        end = start + _HEAD + 2
        for _ in range(attributes):
            (length,) = struct.unpack_from(">I", data, end + 2)
            end += 6 + length
        members.append(data[start:end])
        start = end
    return _Members(members, start)


def write_faster_classes(jar: Path, folder: Path) -> tuple[str, ...]:
    """Write the edited classes into a folder and return its address; nothing where the jar's
    are not those known.
    """
    classes: Mapping[str, Any] = _TABLE["classes"]
    held: dict[str, bytes] = {}
    with zipfile.ZipFile(jar) as archive:
        entries = set(archive.namelist())
        for name, known in classes.items():
            entry = f"{name}.class"
            held[name] = archive.read(entry) if entry in entries else b""
            if hashlib.sha256(held[name]).hexdigest() != known["sha256"]:
                return ()
    for name, known in classes.items():
        target = folder / f"{name}.class"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_edited(held[name], known["edits"]))
    return (f"{folder.as_uri()}/",)


def _edited(data: bytes, edits: Sequence[Mapping[str, Any]]) -> bytes:
    """A class after some edits; one that is for `each` holding is made once for each of them."""
    edited = ClassFile(data)
    names: Mapping[str, str] = _TABLE["names"]
    for edit in edits:
        if edit.get("each"):
            for holding in _TABLE["holdings"]:
                edited.edit(edit, {**names, **holding})
        else:
            edited.edit(edit, names)
    return edited.to_bytes()
