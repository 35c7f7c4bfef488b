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
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rpms.worlds.scienceworld import classfile as op
from rpms.worlds.scienceworld.classfile import ClassFile

_OBJECT: Final = "scienceworld/struct/EnvObject"
_PARSER: Final = "scienceworld/input/InputParser"
_PARSERS: Final = "scienceworld/input/InputParser$"
"""Object that all parsers share: Scala's companion object, in its own field `MODULE$`."""
_ANY, _TEXT = "Ljava/lang/Object;", "Ljava/lang/String;"
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
    number = op.ALOAD_0 + op.GETFIELD + it.field(_OBJECT, "uuid", "J") + op.L2I
    it.add_method("hashCode", "()I", number + op.BIPUSH + b"\x1f" + op.IMUL + op.IRETURN, stack=2, variables=1)
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
        it.exchange(name, of_type, op.INVOKEINTERFACE + union, op.INVOKEINTERFACE + add)


def _keep_copy(it: ClassFile, field: str, reader: str, writers: tuple[str, str, str]) -> None:
    """Let `reader` return the same copy of the set `field` until one of the writers has asked for the set."""
    kept, own = it.field(_OBJECT, f"{field}Copy", f"L{_COPY};"), it.method(_OBJECT, field, f"()L{_SET};")
    it.add_field(f"{field}Copy", f"L{_COPY};")
    # Set copied() { if (this.copy == null) this.copy = this.own().toSet(); return this.copy; }
    copy = op.INVOKESPECIAL + own + op.INVOKEINTERFACE + it.interface_method(_SET, "toSet", f"()L{_COPY};") + b"\1\0"
    fill = op.ALOAD_0 + op.ALOAD_0 + copy + op.PUTFIELD + kept
    check = op.ALOAD_0 + op.GETFIELD + kept + op.IFNONNULL + bytes([0, 3 + len(fill)])
    code = check + fill + op.ALOAD_0 + op.GETFIELD + kept + op.ARETURN
    it.add_method(f"{field}Copied", f"()L{_COPY};", code, stack=2, variables=1, target=len(check + fill))
    copied = op.INVOKESPECIAL + it.method(_OBJECT, f"{field}Copied", f"()L{_COPY};")
    it.exchange(reader, f"(Z)L{_COPY};", copy, copied.ljust(len(copy), op.NOP))
    # Set changing() { this.copy = null; return this.own(); }
    code = op.ALOAD_0 + op.ACONST_NULL + op.PUTFIELD + kept + op.ALOAD_0 + op.INVOKESPECIAL + own + op.ARETURN
    it.add_method(f"{field}Changing", f"()L{_SET};", code, stack=2, variables=1)
    changing = op.INVOKESPECIAL + it.method(_OBJECT, f"{field}Changing", f"()L{_SET};")
    thing, *names = writers
    for name, result in zip(names, "VZ", strict=True):
        it.exchange(name, f"(L{thing};){result}", op.INVOKESPECIAL + own, changing)


def _edit_parsers(it: ClassFile) -> None:
    # Object apply(Object name) { return tokenize((String) name).mkString(" "); }
    array, predef = "scala/collection/mutable/ArrayOps$ofRef", "scala/Predef$"
    split = (
        (op.NEW + it.type(array) + op.DUP)
        + (op.GETSTATIC + it.field(predef, "MODULE$", f"L{predef};"))
        + (op.ALOAD_0 + op.ALOAD_1 + op.CHECKCAST + it.type("java/lang/String"))
        + (op.INVOKEVIRTUAL + it.method(_PARSERS, "tokenize", f"({_TEXT})[{_TEXT}"))
        + (op.INVOKEVIRTUAL + it.method(predef, "refArrayOps", f"([{_ANY})[{_ANY}"))
        + (op.INVOKESPECIAL + it.method(array, "<init>", f"([{_ANY})V"))
        + (op.LDC_W + it.string(" "))
        + (op.INVOKEVIRTUAL + it.method(array, "mkString", f"({_TEXT}){_TEXT}") + op.ARETURN)
    )
    it.implement(_FUNCTION)
    it.add_field(*_KEPT)
    it.add_method("apply", f"({_ANY}){_ANY}", split, stack=5, variables=2)
    # static void (ArrayBuffer names, String name) { names += MODULE$.words.computeIfAbsent(name, MODULE$); }
    names = "scala/collection/mutable/ArrayBuffer"
    shared = op.GETSTATIC + it.field(_PARSERS, "MODULE$", f"L{_PARSERS};")
    look_up = (
        (op.ALOAD_0 + shared + op.GETFIELD + it.field(_PARSERS, *_KEPT) + op.ALOAD_1 + shared)
        + (op.INVOKEVIRTUAL + it.method(_MAP, "computeIfAbsent", f"({_ANY}L{_FUNCTION};){_ANY}"))
        + (op.INVOKEVIRTUAL + it.method(names, "$plus$eq", f"({_ANY})L{names};") + op.POP + op.RETURN)
    )
    it.replace_method("$anonfun$getObjectReferents$2", f"(L{names};{_TEXT})V", look_up, stack=4)
    # String[] getPossibleReferents(...) { return new String[0]; }
    nothing = op.ICONST_0 + op.ANEWARRAY + it.type("java/lang/String") + op.ARETURN
    it.replace_method("getPossibleReferents", f"(L{_OBJECT};L{_OBJECT};)[{_TEXT}", nothing, stack=1)


def _edit_parser(it: ClassFile) -> None:
    # InputParser(...) { ...; InputParser$.MODULE$.words = new ConcurrentHashMap(); }, and each game has a new parser
    forget = (
        (op.GETSTATIC + it.field(_PARSERS, "MODULE$", f"L{_PARSERS};") + op.NEW + it.type(_MAP) + op.DUP)
        + (op.INVOKESPECIAL + it.method(_MAP, "<init>", "()V"))
        + (op.PUTFIELD + it.field(_PARSERS, *_KEPT))
    )
    it.append_to_method("<init>", "([Llanguage/model/ActionRequestDef;)V", forget, stack=3)


_EDITS: Final[dict[str, tuple[str, Callable[[ClassFile], None]]]] = {
    _OBJECT: ("f31d1ab7eed50934bc622bf5287d4a67ae07a27e06a0eefdba9ebf070d59e721", _edit_object),
    _PARSERS: ("8705dbd8d0f062111f10cbe661b8cf655c38be52d055e6342705a5dbb53e4c1f", _edit_parsers),
    _PARSER: ("0f4d5a84efa4ee2b7c980b7300b45f9c01c916202dd247a5569879f423b065d3", _edit_parser),
}
"""The classes edited, by name: the digest of the one known (scienceworld 1.2.3), and the edit."""
