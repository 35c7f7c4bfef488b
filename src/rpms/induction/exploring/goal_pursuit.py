"""Steps of one episode towards what its goal may want, or what scores."""

from collections import Counter

from rpms.induction.evidence.wants import State
from rpms.induction.exploring.goal_sentence import GoalSentence
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.standing import first_of
from rpms.induction.exploring.ventures import Prospect
from rpms.induction.exploring.ways_on import WaysOn
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Truth


class GoalPursuit:
    """The pursuit of a goal: by its sentence, by what scores, or by guesses at what it wants."""

    def __init__(self, episode: Looking, sentence: GoalSentence, ways_on: WaysOn) -> None:
        self._episode = episode
        self._sentence = sentence
        self._ways_on = ways_on
        self._agenda = episode.agenda
        self._diary = episode.diary
        self._wanted: State | None = None
        """The guess that is pursued."""
        self._tried: set[State] = set()
        """Guesses that were taken up in this episode."""
        self._begun: Counter[str] = Counter()
        """Commands with which plans towards the guess have begun."""

    def towards_goal(self) -> str:
        """The next step towards a guess at what the goal wants; nothing where there is none
        left.
        """
        command = (
            self._sentence.do_as_told()
            if self._episode.is_hardly_won and not self._episode.gropes
            else ""
        )
        if command:
            return command
        if self._episode.scoring:
            ways = (
                self._episode.go_on,
                self._towards_score,
                self._ways_on.to_new_place,
                self._venture,
                self._ways_on.elsewhere,
            )
            return first_of(ways)
        return self._ways_on.to_new_place() or self._towards_guess()

    def _towards_guess(self) -> str:
        """The next step towards the guess that is pursued, or else towards the next one."""
        for _ in range(4):
            if self._wanted is None or self._episode.patience <= 0:
                self._take_up(self._new_guess())
            if self._wanted is None:
                return ""
            self._episode.patience -= 1
            command = self._episode.go_on() or self._begin_guess(self._wanted)
            if command:
                return command
            self._wanted = None
        return ""

    def _take_up(self, guess: State | None) -> None:
        """Pursue a guess at what the goal wants from now on."""
        self._wanted = guess
        self._episode.patience = 2 * self._agenda.exploring.pursued
        self._episode.ahead = []
        self._begun.clear()

    def _begin_guess(self, wanted: State) -> str:
        """The first step of a plan towards a guess; nothing where plans lead round and round."""
        command = self._episode.begin(wanted)
        if not command:
            return ""
        if not self._begun:
            self._agenda.pursued[self._diary.goal.type, wanted] += 1
        self._begun[command] += 1
        return command if self._begun[command] < LIMITS.several else ""

    def _new_guess(self) -> State | None:
        """The best guess that was not taken up in this episode, but for those that steps were
        spent on before.
        """
        best: State | None = None
        least = 0
        for place, state in enumerate(self._agenda.guesses(self._diary.goal)):
            rank = place + LIMITS.again * self._agenda.pursued[self._diary.goal.type, state]
            if state not in self._tried and (best is None or rank < least):
                best = state
                least = rank
        if best is not None:
            self._tried.add(best)
        return best

    def _towards_score(self) -> str:
        """The next step towards what scores; nothing where nothing is known to score now, or
        where it has scored nothing several times in this episode.
        """
        in_vain = Counter(done.command for done in self._diary.past if not done.gained)
        reasoner = self._agenda.reasoner(self._diary.goal.type)
        for option in reasoner.plan(self._episode.situation, seek=False).options:
            if option.chain and in_vain[option.chain[-1].command] >= LIMITS.several:
                continue
            if not any(self._episode.vain(link.command) for link in option.chain):
                self._episode.ventures.pursued = None
                return self._episode.follow(option)
        return ""

    def _venture(self) -> str:
        """The next step towards something that may score, for all that is known."""
        ventures = self._episode.ventures
        if ventures.pursued is not None and self._episode.patience <= 0:
            ventures.give_up(ventures.pursued)
        if ventures.pursued is not None:
            return self._pursue(ventures.pursued)
        for prospect in ventures.prospects(self._episode.situation):
            self._episode.patience = 2 * self._agenda.exploring.pursued
            self._episode.ahead = []
            ventures.pursued = prospect
            command = self._pursue(prospect)
            if command:
                return command
        return ""

    def _pursue(self, prospect: Prospect) -> str:
        """The next step towards a prospect, which is given up once it is tried or there is none."""
        self._episode.patience -= 1
        command = "" if self._episode.vain(prospect.command) else self._towards_prospect(prospect)
        if command in ("", prospect.command):
            self._episode.ventures.give_up(prospect)
        return command

    def _towards_prospect(self, prospect: Prospect) -> str:
        """The prospect's command where its needs hold, or else a step towards them; an unknown
        one is found out by trying.
        """
        truths = [clause.truth(self._episode.situation) for clause in prospect.needs]
        if all(truth is Truth.TRUE for truth in truths):
            return prospect.command
        step = self._episode.begin(prospect.needs)
        if step or Truth.FALSE in truths:
            return step
        return prospect.command
