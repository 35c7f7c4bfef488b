"""People's words for the things of a household, in the games' own words for their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from rpms.worlds.alfworld.affordances import affordances
from rpms.worlds.alfworld.games.goals import CLEAN, COOL, HEAT, LOOK, TWO

_OBJECT_WORDS = {
    "alarmclock": "clock",
    "baseballbat": "bat",
    "basketball": "ball",
    "cellphone": "cellularphone mobilephone smartphone phone",
    "cd": "disc disk compactdisc",
    "cloth": "rag washcloth",
    "creditcard": "card",
    "dishsponge": "sponge",
    "desklamp": "lamp tablelamp",
    "glassbottle": "bottle",
    "keychain": "key setofkeys",
    "laptop": "computer notebook",
    "lettuce": "headoflettuce",
    "bread": "loafofbread loaf",
    "mug": "coffeemug coffeecup",
    "newspaper": "magazine paper",
    "pan": "fryingpan skillet",
    "papertowelroll": "papertowel paperroll",
    "peppershaker": "pepper",
    "pillow": "cushion",
    "plate": "dish",
    "remotecontrol": "remote tvremote controller",
    "saltshaker": "salt",
    "soapbar": "soap barofsoap",
    "soapbottle": "bottleofsoap soapdispenser",
    "statue": "sculpture figurine",
    "teddybear": "teddy",
    "tennisracket": "racket",
    "tissuebox": "tissue boxoftissue kleenex",
    "toiletpaper": "toiletroll rolloftoiletpaper",
    "watch": "wristwatch",
    "winebottle": "bottleofwine wine",
    "butterknife": "butterknives",
    "knife": "knives",
}
_PLACE_WORDS = {
    "armchair": "chair recliner",
    "bathtubbasin": "bathtub tub",
    "cabinet": "cupboard",
    "coffeemachine": "coffeemaker",
    "countertop": "counter kitchencounter",
    "diningtable": "table kitchentable dinnertable",
    "dresser": "chestofdrawer",
    "fridge": "refrigerator icebox",
    "garbagecan": "trash trashcan trashbin garbage garbagebin bin wastebasket",
    "laundryhamper": "hamper",
    "ottoman": "footrest",
    "safe": "vault",
    "shelf": "shelves bookshelves bookshelf",
    "sidetable": "nightstand bedsidetable endtable nighttable",
    "sinkbasin": "sink basin",
    "sofa": "couch",
    "stoveburner": "stove burner",
    "tvstand": "televisionstand",
    "toiletpaperhanger": "toiletpaperholder",
    "towelholder": "towelrack towelbar towelrail",
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
    kinds = dict.fromkeys(sorted(affordances().objects | affordances().places), "")
    return {kind: words.split() for kind, words in (_GOAL_WORDS | kinds | _OBJECT_WORDS | _PLACE_WORDS).items()}


@cache
def _kinds() -> dict[str, tuple[str, bool]]:
    known = affordances()
    kinds = {kind: (kind, False) for kind in known.objects if kind not in ("sink", "bathtub", "chair")}
    for table, is_place in ((_OBJECT_WORDS, False), (_PLACE_WORDS, True)):
        kinds |= {word: (kind, is_place) for kind, words in table.items() for word in words.split()}
    return kinds | {kind: (kind, True) for kind in known.places}


def kind_named(word: str) -> tuple[str, bool] | None:
    """The kind that one word (written together) names, in singular or plural, and whether it is a place."""
    kinds, forms = _kinds(), (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((kinds[form] for form in forms if form in kinds), None)
