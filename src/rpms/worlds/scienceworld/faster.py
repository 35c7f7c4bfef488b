"""Three of the simulator's classes, edited when a JVM starts so that a step takes a third of its time.

The jar stays as it is: the edited classes go to the JVM's own folder, which is searched before the jar. A jar whose
classes are not those edited here (another release) is run unedited, only slower. What a game says is not touched, but
for the order of things in lists and menus, which is by chance in the original:

- Objects are told apart by number but hashed by identity. With `-XX:hashCode=2`, which makes runs repeat themselves,
  every set of objects is searched one by one. Hashed by their number, which is counted anew for each game, sets are
  fast and ordered the same every time.
- What an object contains was copied into a new set whenever it was asked for, several times for each object at each
  step; the copy is kept until the contents change.
- Collecting the contents of a room copied the set collected so far for each object in it.
- To match a command, every name of every object is split into words by a regular expression, at every step. A name's
  words never change: they are kept until the next game is loaded.
- After each step every name is collected once more, to be printed for debugging.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
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


_OBJECT: Final = "scienceworld/struct/EnvObject"
_PARSER: Final = "scienceworld/input/InputParser"
_PARSERS: Final = "scienceworld/input/InputParser$"
"""Object that all parsers share: Scala's companion object, in its own field `MODULE$`."""
_ANY, _WORDS = "Ljava/lang/Object;", "Ljava/lang/String;"
_MAP, _FUNCTION = "java/util/concurrent/ConcurrentHashMap", "java/util/function/Function"  # games run in threads
_SCALA: Final = "scala/collection"
_SET, _COPY = f"{_SCALA}/mutable/Set", f"{_SCALA}/immutable/Set"
_HOLDINGS: Final = (
    ("containedObjects", "getContainedObjects", (_OBJECT, "addObject", "removeObjectFromContainer")),
    ("portals", "getPortals", ("scienceworld/objects/portal/Portal", "addPortal", "removePortal")),
)
"""The sets of an object: the field, the method that copies it, and what it holds with the methods that change it."""
_KEPT: Final = ("words", f"L{_MAP};")
"""The new field: from a name to its words."""


def write_faster_classes(jar: Path, folder: Path) -> bool:
    """Write the edited classes into a folder; nothing, and False, where the jar's are not the ones known."""
    with zipfile.ZipFile(jar) as archive:
        held = {name: archive.read(entry) for name in _EDITS if (entry := f"{name}.class") in archive.namelist()}
    if any(hashlib.sha256(held.get(name, b"")).hexdigest() != known for name, (known, _) in _EDITS.items()):
        return False
    for name, (_, edit) in _EDITS.items():
        edited = ClassFile(held[name])
        edit(edited)
        target = folder / f"{name}.class"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(edited.to_bytes())
    return True


def _edit_object(it: ClassFile) -> None:
    # int hashCode() { return 31 * (int) this.uuid; }
    number = ALOAD_0 + GETFIELD + it.field(_OBJECT, "uuid", "J") + L2I
    it.add_method("hashCode", "()I", number + BIPUSH + b"\x1f" + IMUL + IRETURN, stack=2, variables=1)
    for field, reader, writers in _HOLDINGS:
        _keep_copy(it, field, reader, writers)
    # `found = found ++ more` becomes `found ++= more`, in a function and in the loop inside it
    union = it.interface_method(_SET, "$plus$plus", f"(L{_SCALA}/GenTraversableOnce;)L{_SET};")
    add = it.interface_method(_SET, "$plus$plus$eq", f"(L{_SCALA}/TraversableOnce;)L{_SCALA}/generic/Growable;")
    collect, reference = "getContainedObjectsAndPortalsRecursive", "Lscala/runtime/ObjectRef;"
    for name, of_type in (
        (collect, f"(ZZ)L{_COPY};"),
        (f"$anonfun${collect}$3", f"(Z{reference}ZL{_OBJECT};)V"),
    ):
        it.exchange(name, of_type, INVOKEINTERFACE + union, INVOKEINTERFACE + add)


def _keep_copy(it: ClassFile, field: str, reader: str, writers: tuple[str, str, str]) -> None:
    """Let `reader` return the same copy of the set `field` until one of the writers has asked for the set."""
    kept, own = it.field(_OBJECT, f"{field}Copy", f"L{_COPY};"), it.method(_OBJECT, field, f"()L{_SET};")
    it.add_field(f"{field}Copy", f"L{_COPY};")
    # Set copied() { if (this.copy == null) this.copy = this.own().toSet(); return this.copy; }
    copy = INVOKESPECIAL + own + INVOKEINTERFACE + it.interface_method(_SET, "toSet", f"()L{_COPY};") + b"\1\0"
    fill = ALOAD_0 + ALOAD_0 + copy + PUTFIELD + kept
    check = ALOAD_0 + GETFIELD + kept + IFNONNULL + bytes([0, 3 + len(fill)])
    code = check + fill + ALOAD_0 + GETFIELD + kept + ARETURN
    it.add_method(f"{field}Copied", f"()L{_COPY};", code, stack=2, variables=1, target=len(check + fill))
    copied = INVOKESPECIAL + it.method(_OBJECT, f"{field}Copied", f"()L{_COPY};")
    it.exchange(reader, f"(Z)L{_COPY};", copy, copied.ljust(len(copy), NOP))
    # Set changing() { this.copy = null; return this.own(); }
    code = ALOAD_0 + ACONST_NULL + PUTFIELD + kept + ALOAD_0 + INVOKESPECIAL + own + ARETURN
    it.add_method(f"{field}Changing", f"()L{_SET};", code, stack=2, variables=1)
    changing = INVOKESPECIAL + it.method(_OBJECT, f"{field}Changing", f"()L{_SET};")
    thing, *names = writers
    for name, result in zip(names, "VZ", strict=True):
        it.exchange(name, f"(L{thing};){result}", INVOKESPECIAL + own, changing)


def _edit_parsers(it: ClassFile) -> None:
    # Object apply(Object name) { return tokenize((String) name).mkString(" "); }
    array, predef = "scala/collection/mutable/ArrayOps$ofRef", "scala/Predef$"
    split = (
        (NEW + it.type(array) + DUP)
        + (GETSTATIC + it.field(predef, "MODULE$", f"L{predef};"))
        + (ALOAD_0 + ALOAD_1 + CHECKCAST + it.type("java/lang/String"))
        + (INVOKEVIRTUAL + it.method(_PARSERS, "tokenize", f"({_WORDS})[{_WORDS}"))
        + (INVOKEVIRTUAL + it.method(predef, "refArrayOps", f"([{_ANY})[{_ANY}"))
        + (INVOKESPECIAL + it.method(array, "<init>", f"([{_ANY})V"))
        + (LDC_W + it.string(" "))
        + (INVOKEVIRTUAL + it.method(array, "mkString", f"({_WORDS}){_WORDS}") + ARETURN)
    )
    it.implement(_FUNCTION)
    it.add_field(*_KEPT)
    it.add_method("apply", f"({_ANY}){_ANY}", split, stack=5, variables=2)
    # static void (ArrayBuffer names, String name) { names += MODULE$.words.computeIfAbsent(name, MODULE$); }
    names = "scala/collection/mutable/ArrayBuffer"
    shared = GETSTATIC + it.field(_PARSERS, "MODULE$", f"L{_PARSERS};")
    look_up = (
        (ALOAD_0 + shared + GETFIELD + it.field(_PARSERS, *_KEPT) + ALOAD_1 + shared)
        + (INVOKEVIRTUAL + it.method(_MAP, "computeIfAbsent", f"({_ANY}L{_FUNCTION};){_ANY}"))
        + (INVOKEVIRTUAL + it.method(names, "$plus$eq", f"({_ANY})L{names};") + POP + RETURN)
    )
    it.replace_method("$anonfun$getObjectReferents$2", f"(L{names};{_WORDS})V", look_up, stack=4)
    # String[] getPossibleReferents(...) { return new String[0]; }
    nothing = ICONST_0 + ANEWARRAY + it.type("java/lang/String") + ARETURN
    it.replace_method("getPossibleReferents", f"(L{_OBJECT};L{_OBJECT};)[{_WORDS}", nothing, stack=1)


def _edit_parser(it: ClassFile) -> None:
    # InputParser(...) { ...; InputParser$.MODULE$.words = new ConcurrentHashMap(); }, and each game has a new parser
    forget = (
        (GETSTATIC + it.field(_PARSERS, "MODULE$", f"L{_PARSERS};") + NEW + it.type(_MAP) + DUP)
        + (INVOKESPECIAL + it.method(_MAP, "<init>", "()V"))
        + (PUTFIELD + it.field(_PARSERS, *_KEPT))
    )
    it.append_to_method("<init>", "([Llanguage/model/ActionRequestDef;)V", forget, stack=3)


_EDITS: Final[dict[str, tuple[str, Callable[[ClassFile], None]]]] = {
    _OBJECT: ("f31d1ab7eed50934bc622bf5287d4a67ae07a27e06a0eefdba9ebf070d59e721", _edit_object),
    _PARSERS: ("8705dbd8d0f062111f10cbe661b8cf655c38be52d055e6342705a5dbb53e4c1f", _edit_parsers),
    _PARSER: ("0f4d5a84efa4ee2b7c980b7300b45f9c01c916202dd247a5569879f423b065d3", _edit_parser),
}
"""The classes edited, by name: the digest of the one known (scienceworld 1.2.3), and the edit."""
