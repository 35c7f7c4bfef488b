"""The one reader of files. It opens regular files only, reads no more bytes than expected, and says
in one line why it cannot.
"""

import lzma
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rpms.foreign.limits import (
    MOST_TRANSCRIPT,
    MOST_TRANSCRIPT_LINE,
    MOST_TRANSCRIPT_LINES,
    XZ_MEMORY,
)
from rpms.logic.errors import FileError, RPMSError

_BLOCK = 1 << 16
_CHUNK = 1 << 20


def read_bytes(file: str | Path, largest: int) -> bytes:
    """The bytes of a regular file; anything else, or too much, is a FileError.

    A FIFO is not waited for.
    """
    handle = open_regular(file)
    data = b""
    try:
        while len(data) <= largest:
            # a buffer for the largest would take longer than most files take to read
            as_much_again = max(_BLOCK, len(data))
            more = os.read(handle, min(as_much_again, largest + 1 - len(data)))
            if not more:
                break
            data += more
    except OSError as error:
        raise unreadable(file, error) from None
    finally:
        os.close(handle)
    if len(data) > largest:
        raise FileError(file, None, f"is larger than {largest:,} bytes, which no such file is")
    return data


def read_text(file: str | Path, largest: int, *, encoding: str = "utf-8-sig") -> str:
    """The text of a regular file, with line breaks of one kind."""
    try:
        text = read_bytes(file, largest).decode(encoding)
    except UnicodeDecodeError:
        raise FileError(file, None, "is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def open_regular(file: str | Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file, or refuse what is in its place, without waiting for anybody."""
    try:
        handle = os.open(
            file, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0), mode
        )
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    kind = os.fstat(handle).st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        what = "a folder" if stat.S_ISDIR(kind) else "a device, pipe or socket"
        raise FileError(file, None, f"is {what}, not a file that can be read")
    return handle


def is_there(file: Path) -> bool:
    """True if anything has this name, readable or not; a name that cannot be asked about is a
    FileError.
    """
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    return True


def beside(file: Path, name: str) -> Path:
    """A file of another name in the same folder. A FileError if the first has no name that the
    other could be made from, such as `.` or `/`.
    """
    try:
        return file.with_name(name)
    except ValueError:
        raise FileError(file, None, "is a folder, not a file that can be read") from None


@contextmanager
def parsing(file: str | Path, problem: Callable[[Exception], str]) -> Iterator[None]:
    """Run a library's parser on a stranger's bytes; whatever it raises becomes one line about the
    file.

    Parsers raise more than they document, such as an OverflowError for a character beyond Unicode,
    so that no list of exceptions would be complete.
    """
    try:
        yield
    except RPMSError:
        raise
    except Exception as error:  # noqa: BLE001  the class of all that a parser may do
        raise FileError(file, _line_of(error), problem(error)) from None


def _line_of(error: Exception) -> int | None:
    """The line at which a parser gave up, where its error knows one."""
    mark = getattr(error, "problem_mark", None)
    line = getattr(mark, "line", None)
    return line + 1 if isinstance(line, int) else None


def unreadable(file: str | Path, error: Exception) -> FileError:
    """Reason why a file cannot be read, in one line."""
    if isinstance(error, OSError):
        return FileError(file, None, f"cannot be read: {error.strerror or error}")
    return FileError(file, None, "cannot be read: no file has such a name")


def text_lines(file: str | Path, *, bounded: bool = True) -> Iterator[str]:
    """The lines of a transcript, `.xz` or not, read as they are asked for; `bounded` as a
    whole, when unpacked.
    """
    total = count = 0
    rest = b""
    for chunk in _chunks(file):
        total += len(chunk)
        if bounded and total > MOST_TRANSCRIPT:
            raise FileError(
                file, None, f"holds more than {MOST_TRANSCRIPT:,} bytes, which no transcript does"
            )
        count += chunk.count(b"\n")
        if bounded and count > MOST_TRANSCRIPT_LINES:
            raise FileError(
                file,
                None,
                f"has more than {MOST_TRANSCRIPT_LINES:,} lines, which no transcript has",
            )
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _decode(file, line)
        if len(rest) > MOST_TRANSCRIPT_LINE:
            raise FileError(file, None, f"has a line of more than {MOST_TRANSCRIPT_LINE:,} bytes")
    if rest:
        yield _decode(file, rest)


def _decode(file: str | Path, data: bytes) -> str:
    if len(data) > MOST_TRANSCRIPT_LINE:
        raise FileError(file, None, f"has a line of more than {MOST_TRANSCRIPT_LINE:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FileError(file, None, "is not UTF-8 text") from None


def _chunks(file: str | Path) -> Iterator[bytes]:
    with os.fdopen(open_regular(file), "rb") as stream:
        try:
            raw = iter(lambda: stream.read(_CHUNK), b"")
            yield from _unpacked(raw) if str(file).endswith(".xz") else raw
        except (lzma.LZMAError, EOFError):
            raise FileError(file, None, "is cut off or is not an xz file") from None
        except OSError as error:
            raise unreadable(file, error) from None


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpacked xz data, a bounded piece at a time; EOFError if it is cut off.

    A file may hold several streams, some of them empty, with zeros between them.
    """
    decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
    for chunk in chunks:
        packed = chunk
        while True:
            if decoder.eof:
                packed = (decoder.unused_data or packed).lstrip(b"\0")
                if not packed:
                    break
                decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            piece = decoder.decompress(packed, max_length=_CHUNK)
            packed = b""  # the decoder has all of it
            if piece:
                yield piece
            if decoder.needs_input and not decoder.eof:
                break
    if not decoder.eof:
        raise EOFError
