"""The child process of `TextWorldGame`: plays one game in TextWorld and speaks JSON lines on its
standard streams.

Run as a script by path, so that it needs nothing of this package: TextWorld overwrites `sys.argv`,
prints while it loads and is not thread-safe, and here it may.
"""

import json
import os
import sys
from importlib import import_module
from typing import Any, TextIO


def _open(path: str) -> Any:
    core = import_module("textworld.core")
    pddl = import_module("textworld.envs.pddl.pddl")
    # Not through ALFWorld's own environments: importing those needs the visual half of the package.
    misc = import_module("alfworld.agents.utils.misc")
    environment = pddl.PddlEnv(
        core.EnvInfos(admissible_commands=True, won=True, lost=True, feedback=True)
    )
    environment.load(path)
    infos = environment._entity_infos  # noqa: SLF001 - as ALFWorld's AlfredDemangler does
    demangler = misc.Demangler(game_infos=infos, shuffle=False)
    for info in infos.values():
        info.name = demangler.demangle_alfred_name(info.id)
    return environment


def serve(path: str, requests: TextIO, replies: TextIO) -> None:
    """Answer `{"reset": true}` and `{"step": COMMAND}` until the requests end, which they do
    when the parent does.
    """

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    try:
        environment = _open(path)
    except ImportError as error:
        reply({"missing": str(error)})
        return
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the parent reports whatever the engine raised
        reply({"error": f"{type(error).__name__}: {error}"})
        return
    reply({"ready": True})
    for line in requests:
        request = json.loads(line)
        try:
            state = (
                environment.reset() if "reset" in request else environment.step(request["step"])[0]
            )
            admissible = list(state["admissible_commands"])
            reply(
                {
                    "observation": state["feedback"],
                    "admissible": admissible,
                    "won": bool(state["won"]),
                }
            )
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
            reply({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    """Keep the real standard output for replies; whatever the engine prints goes to standard
    error.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, replies)


if __name__ == "__main__":
    main()
