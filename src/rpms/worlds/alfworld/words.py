"""People's words for the things of a household, in the games' own words for their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from rpms.worlds.alfworld.affordances import affordances
from rpms.worlds.alfworld.games.goals import CLEAN, COOL, HEAT, LOOK, TWO

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


_GOAL_WORDS = {
    HEAT: "heat heated heating hot warm warmed microwaved cook cooked cooking bake baked reheat",
    COOL: "cool cooled cooling cold chill chilled chilling refrigerated chilly",
    CLEAN: "clean cleaned cleaning wash washed washing rinse rinsed rinsing wet scrub scrubbed",
    TWO: "two 2 both pair couple",
    LOOK: "light lamp lamplight lit examine look",
}


@cache
def called() -> Mapping[str, Sequence[str]]:
    """People's words for kinds and goals: kind or goal type → words, names written together."""
    names: dict[str, list[str]] = {type_: words.split() for type_, words in _GOAL_WORDS.items()}
    names |= {kind: [] for kind in sorted(affordances().objects | affordances().places)}
    for word, kind in (*_OBJECT_WORDS.items(), *_PLACE_WORDS.items()):
        names.setdefault(kind, []).append(word)
    return names


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
