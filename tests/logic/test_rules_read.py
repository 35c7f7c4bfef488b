"""Commands are read as the action that fits them most closely."""

from __future__ import annotations

from rpms.logic.actions import ActionSchema, overlapping
from rpms.logic.rules import RuleManual

TAKE = ActionSchema("take", ("take <thing>",))
TAKE_FROM = ActionSchema("take_from", ("take <thing> from <place>",))


def test_the_more_specific_syntax_is_tried_first_in_whatever_order_they_stand() -> None:
    for actions in ((TAKE, TAKE_FROM), (TAKE_FROM, TAKE)):
        rules = RuleManual(actions=actions).active("")
        instance = rules.instance("take lamp from desk")
        assert instance is not None
        assert (instance.schema.name, instance.binding) == (
            "take_from",
            {"thing": "lamp", "place": "desk"},
        )
        plain = rules.instance("take lamp")
        assert plain is not None
        assert plain.schema.name == "take"


def test_overlapping_syntaxes_are_named_with_the_one_that_is_meant() -> None:
    assert overlapping((TAKE, TAKE_FROM)) == [("take <thing> from <place>", "take <thing>")]
    assert overlapping((TAKE, ActionSchema("drop", ("drop <thing>",)))) == []


def test_of_the_ways_to_write_one_action_the_more_specific_is_tried_first_too() -> None:
    both = ActionSchema("take", ("take <thing>", "take <thing> from <place>"))
    assert both.match("take lamp from desk") == {"thing": "lamp", "place": "desk"}
    assert both.match("take lamp") == {"thing": "lamp"}
    assert overlapping((both,)) == [("take <thing> from <place>", "take <thing>")]
