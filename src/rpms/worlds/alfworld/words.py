"""What people call the things of a household, in the games' own words for their kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rpms.worlds.alfworld.affordances import affordances

_LONGEST = 3
"""Words in the longest name: `roll of papertowel` is found by its noun."""

_OBJECT_WORDS = {
    "clock": "alarmclock",
    "bat": "baseballbat",
    "ball": "basketball",
    "cellularphone": "cellphone",
    "mobilephone": "cellphone",
    "smartphone": "cellphone",
    "phone": "cellphone",
    "disc": "cd",
    "disk": "cd",
    "compactdisc": "cd",
    "rag": "cloth",
    "washcloth": "cloth",
    "card": "creditcard",
    "sponge": "dishsponge",
    "lamp": "desklamp",
    "tablelamp": "desklamp",
    "bottle": "glassbottle",
    "key": "keychain",
    "setofkeys": "keychain",
    "computer": "laptop",
    "notebook": "laptop",
    "headoflettuce": "lettuce",
    "loafofbread": "bread",
    "loaf": "bread",
    "coffeemug": "mug",
    "coffeecup": "mug",
    "magazine": "newspaper",
    "paper": "newspaper",
    "fryingpan": "pan",
    "skillet": "pan",
    "papertowel": "papertowelroll",
    "paperroll": "papertowelroll",
    "pepper": "peppershaker",
    "cushion": "pillow",
    "dish": "plate",
    "remote": "remotecontrol",
    "tvremote": "remotecontrol",
    "controller": "remotecontrol",
    "salt": "saltshaker",
    "soap": "soapbar",
    "barofsoap": "soapbar",
    "bottleofsoap": "soapbottle",
    "soapdispenser": "soapbottle",
    "sculpture": "statue",
    "figurine": "statue",
    "teddy": "teddybear",
    "racket": "tennisracket",
    "tissue": "tissuebox",
    "boxoftissue": "tissuebox",
    "kleenex": "tissuebox",
    "toiletroll": "toiletpaper",
    "rolloftoiletpaper": "toiletpaper",
    "wristwatch": "watch",
    "bottleofwine": "winebottle",
    "wine": "winebottle",
    "butterknives": "butterknife",
    "knives": "knife",
}
_PLACE_WORDS = {
    "chair": "armchair",
    "recliner": "armchair",
    "bathtub": "bathtubbasin",
    "tub": "bathtubbasin",
    "cupboard": "cabinet",
    "coffeemaker": "coffeemachine",
    "counter": "countertop",
    "kitchencounter": "countertop",
    "table": "diningtable",
    "kitchentable": "diningtable",
    "dinnertable": "diningtable",
    "chestofdrawer": "dresser",
    "refrigerator": "fridge",
    "icebox": "fridge",
    "trash": "garbagecan",
    "trashcan": "garbagecan",
    "trashbin": "garbagecan",
    "garbage": "garbagecan",
    "garbagebin": "garbagecan",
    "bin": "garbagecan",
    "wastebasket": "garbagecan",
    "hamper": "laundryhamper",
    "footrest": "ottoman",
    "vault": "safe",
    "shelves": "shelf",
    "bookshelves": "shelf",
    "bookshelf": "shelf",
    "nightstand": "sidetable",
    "bedsidetable": "sidetable",
    "endtable": "sidetable",
    "nighttable": "sidetable",
    "sink": "sinkbasin",
    "basin": "sinkbasin",
    "couch": "sofa",
    "stove": "stoveburner",
    "burner": "stoveburner",
    "televisionstand": "tvstand",
    "toiletpaperholder": "toiletpaperhanger",
    "towelrack": "towelholder",
    "towelbar": "towelholder",
    "towelrail": "towelholder",
}


class Mention(NamedTuple):
    """A kind that a sentence names."""

    kind: str
    is_place: bool
    start: int
    """The index of its first word."""
    end: int


@cache
def _kinds() -> dict[str, tuple[str, bool]]:
    known = affordances()
    kinds = {kind: (kind, False) for kind in known.objects if kind not in ("sink", "bathtub", "chair")}
    kinds.update((word, (kind, False)) for word, kind in _OBJECT_WORDS.items())
    kinds.update((word, (kind, True)) for word, kind in _PLACE_WORDS.items())
    kinds.update((kind, (kind, True)) for kind in known.places)
    return kinds


def kind_named(word: str) -> tuple[str, bool] | None:
    """The kind that one word (written together) names, in singular or plural, and whether it is a place."""
    kinds = _kinds()
    forms = [word]
    if word.endswith("s"):
        forms.append(word[:-1])
    if word.endswith("es"):
        forms.append(word[:-2])
    return next((kinds[form] for form in forms if form in kinds), None)


def mentions(words: Sequence[str]) -> Iterator[Mention]:
    """The kinds that a sentence names, from left to right, the longest name at each place."""
    start = 0
    while start < len(words):
        for length in range(min(_LONGEST, len(words) - start), 0, -1):
            found = kind_named("".join(words[start : start + length]))
            if found is not None:
                yield Mention(*found, start, start + length)
                start += length
                break
        else:
            start += 1
