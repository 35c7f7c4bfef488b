"""Experiments of one episode where needs are guessed: what would tell most, here or soon."""

from collections.abc import Sequence
from typing import NamedTuple

from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.odds import entropy
from rpms.induction.exploring.questions import NO_WORTH, Question, TrialWorth
from rpms.induction.exploring.standing import ImaginedTrial
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Instance
from rpms.logic.facts import Literal, Truth, kind_of
from rpms.planning.achievers import command_of


class _Target(NamedTuple):
    """An experiment that may have to be prepared."""

    worth: float
    question: Question
    names: tuple[str, ...]
    without: Literal | None = None  # The need that it is done without, if it is about one

    @property
    def instance(self) -> Instance:
        """The action to prepare."""
        schema = self.question.schema
        if self.without is not None:
            schema = self.question.without(self.without)
        return Instance(schema, dict(zip(schema.variables, self.names, strict=True)))


class Trying:
    """Experiments with actions that were seen to work, in one episode."""

    def __init__(self, episode: Looking) -> None:
        self._episode = episode
        self._agenda = episode.agenda
        self._diary = episode.diary
        self._dice = episode.dice
        self._target: Instance | None = None
        """The experiment that is being prepared."""

    def experiment(self) -> str:
        """Action possible right now that would tell most, if any would tell enough."""
        trials: list[ImaginedTrial] = []
        for question in self._some_questions():
            names = self._imagine(question)
            if names is not None:
                trials.append(ImaginedTrial(question, names))
        return self._episode.best_trial(trials, self._information, LIMITS.informative)

    def _information(self, trial: ImaginedTrial, least: float) -> TrialWorth:
        """What a trial would tell right now; nothing if that cannot be more than the least."""
        question = trial.question
        kinds = tuple(map(kind_of, trial.names))
        if question.most(kinds) <= least:
            return NO_WORTH
        if not question.places:
            return question.information(0, 0, kinds)
        known = question.book.measure(self._diary.belief, trial.names, question.places)
        return question.information(known.true, known.false, kinds)

    def _some_questions(self) -> list[Question]:
        """Actions drawn to be imagined: the less often one has succeeded, the likelier."""
        questions, interests = self._agenda.by_interest
        if not interests or not interests[-1]:
            return []
        return self._dice.choices(
            questions, cum_weights=interests, k=self._agenda.exploring.imagined
        )

    def _imagine(self, question: Question) -> tuple[str, ...] | None:
        """Names for an action: any, or with a kind that has worked in one slot, or with such
        kinds in all.
        """
        names = self._episode.names_around.draw(question.roles, self._dice)
        chance = self._dice.random()
        if names is None or chance < LIMITS.any_kind:
            return names
        slots: Sequence[int] = range(len(names))
        if chance >= LIMITS.any_kind + LIMITS.fitting:
            slots = (self._dice.randrange(len(names)),)
        chosen = list(names)
        for slot in slots:
            self._make_fit(question, slot, chosen)
        return tuple(chosen)

    def _make_fit(self, question: Question, slot: int, chosen: list[str]) -> None:
        """Replace a name by one of a kind that has worked in its slot, if there is one."""
        kinds = question.fit[slot]
        if kind_of(chosen[slot]) in kinds:
            return
        known = self._episode.names_around.of_kinds(question.schema.variables[slot], kinds)
        fit = [name for name in known if name not in chosen]
        if fit:
            chosen[slot] = self._dice.choice(fit)

    def towards_target(self) -> str:
        """The next step towards an experiment that cannot be done yet."""
        for _ in range(3):
            if self._target is None or self._episode.patience <= 0:
                self._target = self._new_target()
                self._episode.patience = self._agenda.exploring.pursued
                self._episode.ahead = []
            if self._target is None:
                break
            self._episode.patience -= 1
            command = self._reach(self._target)
            if command:
                return command
            self._target = None
        return self._episode.look()

    def _reach(self, target: Instance) -> str:
        """An experiment, if it can be done now; else a step towards it; nothing where no way is
        known.
        """
        if target.feasible(self._episode.situation) is Truth.TRUE:
            self._target = None
            return command_of(target.schema, target.binding)
        command = self._episode.go_on()
        if command:
            return command
        remedy = self._agenda.reasoner().remedy(target, self._episode.situation, explained=False)
        if not remedy.command or self._episode.vain(remedy.command):
            return ""
        self._episode.ahead = list(remedy.after)
        return remedy.command

    def _new_target(self) -> Instance | None:
        """An action with kinds that were never tried together, or without a need that never
        lacked alone, of the actions that succeeded least.
        """
        best = LIMITS.worth_a_plan
        found = None
        for question in self._some_questions():
            names = self._imagine(question)
            if names is None:
                continue
            prospect = self._prospect(question, names, best)
            if prospect.worth > best and not self._episode.too_early(
                fill(question.book.template, names)
            ):
                best = prospect.worth
                found = prospect
        if found is None:
            return None
        if found.without is not None:
            found.question.asked[found.without] += 1
        return found.instance

    def _prospect(self, question: Question, names: tuple[str, ...], least: float) -> _Target:
        """An action with some names, with all that it may need, or without what it needs
        perhaps: what tells more, if that is more than the least.
        """
        kinds = tuple(map(kind_of, names))
        found = _Target(max(least, self._worth_of_kinds(question, kinds)), question, names)
        if not question.fits(kinds):
            return found
        for literal, told in question.doubts():
            worth = told * question.interest
            if worth <= found.worth:
                continue
            if literal.bind(slots_of(names)).truth(self._episode.situation) is Truth.FALSE:
                found = _Target(worth, question, names, literal)
        return found

    def _worth_of_kinds(self, question: Question, kinds: tuple[str, ...]) -> float:
        """The worth of an action with some kinds: those that were never tried tell whether they
        work, others the less the more often they were.
        """
        tried = question.book.worked[kinds] + question.faultless.get(kinds, 0)
        if tried:
            told = LIMITS.once_more / tried
        else:
            told = question.new_kinds * entropy(question.fitness(kinds))
        worth = told * question.interest
        goal = self._diary.goal
        if (
            self._episode.about_goal
            and not tried
            and (goal.object in kinds or goal.destination in kinds)
        ):
            worth *= LIMITS.about_goal
        return worth
