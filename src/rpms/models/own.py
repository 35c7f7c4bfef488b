"""A model of the user's own, named as `module:name`: an object, a class or a function.

The name is a person's, typed or in their program: a file never names code to be run.
"""

import inspect
from pathlib import Path
from typing import Any

from rpms.foreign.own_code import error_in_words, load_named, place_of, searched_too
from rpms.foreign.shown import excerpt
from rpms.logic.errors import ANY_ERROR, InputError, ModelUnavailable, RPMSError
from rpms.models.base import Answer, Model, Request, WrappedModel
from rpms.models.policy import FunctionModel

_PROTOCOL = ("name", "answer", "close")


def open_own(text: str) -> Model:
    """Load the model that `module:name` names; the present folder is searched for its module, too.

    A class is called without arguments. A function takes a request and gives the answer's text.
    """
    found = _load(text)
    if inspect.isclass(found):
        found = _call(text, "cannot be opened", found)
    if inspect.isfunction(found):
        found = FunctionModel(found, text, plans=False)
    lacking = [each for each in _PROTOCOL if not hasattr(found, each)]
    if lacking:
        raise ModelUnavailable(
            f"{text} is no model: it has no {lacking[0]}; give an object with"
            f" {', '.join(_PROTOCOL)}, or a function from a request to a text"
        )
    return _OwnModel(found, text)


class _OwnModel(WrappedModel):
    """A model of somebody else's. An error in it becomes one line that names its file and line, and
    its answers are checked.
    """

    def __init__(self, model: Any, text: str) -> None:
        super().__init__(model)
        self._text = text

    @property
    def name(self) -> str:
        return self._text

    def answer(self, request: Request) -> Answer:
        said = _call(self._text, "failed", self._model.answer, request)
        if isinstance(said, str):
            return Answer(said)
        if isinstance(said, Answer) and isinstance(said.text, str):
            return said
        raise InputError(
            f"the model {self._text} answered {excerpt(said, 60)}; a model gives an Answer, or a"
            " text"
        )


def _load(text: str) -> Any:
    try:
        with searched_too(Path.cwd()):
            return load_named(text)
    except ANY_ERROR as error:  # a stranger's module may raise anything
        raise ModelUnavailable(
            f"{text} cannot be loaded{place_of(error)}: {error_in_words(error)}"
        ) from None


def _call(text: str, what: str, function: Any, *given: Any) -> Any:
    try:
        return function(*given)
    except RPMSError:
        raise
    except ANY_ERROR as error:
        raise InputError(
            f"the model {text} {what}{place_of(error)}: {error_in_words(error)}"
        ) from None
