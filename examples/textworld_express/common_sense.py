"""Hide what homes.yaml says of some sorts of things, to see what a model's common sense is worth.

    python examples/textworld_express/common_sense.py --hide 0.5 --seed 1 --out half.yaml
    python examples/textworld_express/common_sense.py --hide 1 --out none.yaml

The manual that it writes knows everything else. Where nothing tells which place is right for a
thing, a plan may end at any, and the menu offers them all: whoever chooses has to know better.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

FOLDER = Path(__file__).parent / "textworld_express_world"
HOMES = ("belongs", "fits")
"""The facts of homes.yaml: by place, the sorts of things that are kept there."""
Places = Mapping[str, Iterable[str]]


def main() -> None:
    """Write the manual that the command line asks for."""
    options = _read_options()
    yaml = YAML()
    manual = yaml.load(FOLDER / "manual.yaml")
    homes = yaml.load(FOLDER / "homes.yaml")["facts"]
    sorts = find_sorts(homes)
    hidden = choose_hidden(sorts, options.hide, options.seed)
    hide(manual, homes, hidden)
    try:
        with options.out.open("w", encoding="utf-8") as file:
            yaml.dump(manual, file)
    except OSError as error:
        print(f"--out {options.out} cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    print(f"{options.out}: {len(hidden)} of {len(sorts)} sorts of things are hidden")


def find_sorts(homes: Mapping[str, Places]) -> list[str]:
    """Every sort of thing that is kept somewhere, in the order of the alphabet."""
    found: set[str] = set()
    for fact in HOMES:
        for sorts in homes[fact].values():
            found.update(sorts)
    return sorted(found)


def choose_hidden(sorts: list[str], share: float, seed: int) -> set[str]:
    """A random share of the sorts, the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311  a repeatable choice, no secret
    return set(dice.sample(sorts, int(len(sorts) * share)))


def hide(manual: CommentedMap, homes: Mapping[str, Places], hidden: set[str]) -> None:
    """Write the homes into the manual, without the hidden sorts."""
    for fact in HOMES:
        kept: dict[str, list[str]] = {}
        for place, sorts in homes[fact].items():
            kept[place] = [sort for sort in sorts if sort not in hidden]
        manual["facts"][fact] = kept


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hide", type=_share, required=True, help="the share of sorts that is hidden, 0 to 1"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the choice of sorts; 1 by default")
    parser.add_argument("--out", type=Path, required=True, help="the manual to write")
    return parser.parse_args()


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share: it goes from 0 to 1")
    return share


if __name__ == "__main__":
    main()
