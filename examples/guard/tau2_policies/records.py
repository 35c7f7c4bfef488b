"""Facts of both policies: the meaning of a yes."""

import re

from rpms.guard.call_facts import Look

_YES = (
    r"yes|yep|yeah|yup|sure thing|sure|ok|okay|absolutely|certainly|definitely|of course|correct|"
    r"that is (?:correct|right)|(?:that )?(?:works|sounds good|looks good)|agreed|i"
    r" agree|confirmed|i do confirm|i do|"
    r"i confirm(?: (?:it|this|that))?"
)
_THANKS = (
    r"please|pls|thanks(?: a lot)?|thank you(?: (?:so|very) much)?|great|perfect|good|fine|all"
    r" right|alright|"
    r"that (?:is|would be) (?:great|fine|good|perfect)"
)
_GO = r"go ahead|go for it|proceed|please do|do (?:it|that|this|so|both)"
_DOING = (
    r"cancel|book|change|exchange|return|refund|modify|update|process|make|send|add|upgrade|complete|submit|place|switch|"
    r"charge|use|issue|remove"
)
_WHAT = r"(?:it|this|that|them|these|those|the|my|me|both|all|everything|to|please|now)"
_MY_WISH = r"(?:(?:you (?:can|may)|i (?:want|would like|wish)(?: you)? to|let us) )?"
_PIECES = re.compile(r"\s*(?:[,.!;:]+(?=\s|$)|\s[-–]\s|—|\band\b)\s*")
_FIRST = re.compile(rf"(?:(?:{_YES})(?: (?:{_THANKS}))*|{_MY_WISH}(?:please )?(?:{_GO}))(?: |$)")
_PLAIN = re.compile(
    rf"(?:(?:{_YES}|{_THANKS})(?: |$))*"
    rf"(?:(?:to )?{_MY_WISH}(?:(?:please|{_GO}) )*(?:{_GO}|(?:(?:{_GO}) with|{_DOING})(?:"
    rf" {_WHAT}\b.*)?))?"
)
"""All that a piece of a plain yes may be: agreement and thanks, then perhaps what is to be done."""
_NO = re.compile(r"\b(?:not?|nope|never|nothing|none|neither|nor|cannot)\b|n't\b")
_RESERVED = re.compile(
    r"\?|\b(?:wait|hold|stop|but|however|although|though|unless|until|if|instead|except|first|before|after|later|yet|maybe|"
    r"perhaps|actually|rather|unsure|think|mind|more|other|another|different|explain|tell|what|how|why|which|who|when|where|"
    r"once|only|soon|provided|assuming|depending|else|something|list|options|day|myself)\b"
)
"""Words after which a yes is not plain."""
_LONGEST_YES = 300


def says_yes(text: str) -> bool | None:
    """True for a plain yes, False for a no, None where only a person or a host can tell, who
    says `confirmed`.
    """
    said = " ".join(text.casefold().replace("’", "'").split())
    for short, long in (("let's ", "let us "), ("'s ", " is "), ("'d ", " would ")):
        said = said.replace(short, long)
    if len(said) > _LONGEST_YES:
        return None
    if _NO.search(said):
        return False
    pieces = [piece for each in _PIECES.split(said) if (piece := each.strip(" \"'*->"))]
    while len(pieces) > 1 and re.fullmatch(_THANKS, pieces[0]):
        del pieces[0]
    plain = bool(pieces and _FIRST.match(pieces[0])) and all(map(_PLAIN.fullmatch, pieces))
    return True if plain and not _RESERVED.search(said) else None


class PolicyFacts:
    """Facts that a policy's rules ask about one call, by name; what was not looked up is asked
    for.
    """

    def __init__(self, look: Look) -> None:
        self.record, self.records, self.truth, self.now = (
            look.record,
            look.records,
            look.truth,
            look.now,
        )
        self.asked = look.call.arguments

    says_yes = staticmethod(says_yes)

    def agreed(self) -> bool | None:
        """True if the customer said yes to this; unknown, not false, until then: what else is
        missing comes first.
        """
        return self.truth("confirmed") or None
