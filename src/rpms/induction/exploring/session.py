"""An episode of an exploration: its next command."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from rpms.induction.conclusions.ledger import mention_of
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import SLOT, fill, pattern_of, verb_of
from rpms.induction.evidence.wants import State
from rpms.induction.exploring.as_told import as_told
from rpms.induction.exploring.experimenter import Experimenter
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.odds import entropy
from rpms.induction.exploring.questions import Question
from rpms.induction.exploring.ventures import Prospect
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Instance
from rpms.logic.facts import Literal, Truth, kind_of
from rpms.logic.goal import UNKNOWN_GOAL
from rpms.planning.achievers import command_of
from rpms.worlds.base import by_verb


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


class Session(Looking):
    """One episode of an exploration: what to do next in it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.experimenter = Experimenter(self.agenda, self)

    def choose(self) -> str:
        """Next command."""
        if self.agenda.ledger.names.signatures and not (self._has_goal and self._rolls_to_stray()):
            command = self.experimenter.choose()
            if command or not self._has_goal:
                return command
        command, self.then = self.then, ""
        if command:
            return command
        ways = (
            self.try_seen,
            self.look_at_new_place,
            self._grope,
            self._novelty,
            self._look_around,
            self._carry_elsewhere,
            self._follow_agenda,
            self._listed,
            self._anything,
        )
        return _first_of(ways)

    @property
    def _has_goal(self) -> bool:
        """True if there is something to be won; else all that can be learned is by experiment."""
        return self.diary.goal.type != UNKNOWN_GOAL

    def _look_around(self) -> str:
        """Now and then, a command that finds out what is unknown, in worlds where nothing has to
        be walked to.
        """
        if self.all_at_hand and self.dice.random() < self.agenda.exploring.looking:
            return self.find_out()
        return ""

    def _follow_agenda(self) -> str:
        """A step towards the goal, or an experiment."""
        if not self.agenda.questions:
            return ""
        return _first_of((self._pursue_goal, self._wander, self._try_something))

    def _grope(self) -> str:
        """What the goal's sentence says, what may end the task, or a step to a new place: what is
        new is too much to be tried first.
        """
        if not self.about_goal or not self.gropes or self._rolls_to_stray():
            return ""
        return _first_of((self._do_as_told, self._dare, self.to_new_place))

    def _pursue_goal(self) -> str:
        """A step towards the goal, if the episode is about it."""
        if not self.about_goal or self._rolls_to_stray():
            return ""
        return self._towards_goal()

    def _wander(self) -> str:
        """Now and then, a step to a new place."""
        return self.to_new_place() if self._is_time_to_wander() else ""

    def _try_something(self) -> str:
        """An experiment, or a step towards one."""
        if self._rolls_to_stray():
            return ""
        command = self._experiment() or self._towards_target()
        return self.having_looked(command) if command else ""

    def _listed(self) -> str:
        """A command that the game lists, of any verb."""
        if self._rolls_to_stray():
            return ""
        listed = []
        for each in self.game.admissible():
            if not self.too_early(each):
                listed.append(each)
        if not listed:
            return ""
        verb = self.dice.choice(by_verb(listed))
        return self.having_looked(self.dice.choice(verb))

    def _rolls_to_stray(self) -> bool:
        """Roll the dice: now and then, a way to choose is passed over, so that what no plan
        foresees can come about. Each of the ways that follow a plan rolls for itself.
        """
        return self.dice.random() < self.agenda.exploring.astray

    def _novelty(self) -> str:
        """A command that the game lists of an action that has hardly ever been seen: in a new
        context it is always asked for its list.
        """
        if not self._asks_for_list():
            return ""
        self.agenda.listings += 1
        found = self._new_commands()
        if not found:
            return ""
        self.agenda.novelties += 1
        if not self.agenda.ledger.hardly_won:
            return self.dice.choice(found)
        command = self.dice.choice(self._least_done(found))
        self.agenda.new_verbs[verb_of(command)] += 1
        return command

    def _asks_for_list(self) -> bool:
        """True in a new context, and now and then."""
        agenda = self.agenda
        if agenda.ledger.contexts.just_entered and self._is_eager:
            return True
        often = agenda.exploring.listing
        if agenda.ledger.hardly_won:  # it may list thousands: ask less where nothing new is found
            often *= (agenda.novelties + 1) / (agenda.listings + 1)
        return self.dice.random() < often

    @property
    def _is_eager(self) -> bool:
        """True if every new context is asked for its list: not where it may list thousands."""
        ledger = self.agenda.ledger
        return self.diary.learns and not (ledger.hardly_won and ledger.unlisted)

    def _new_commands(self) -> list[str]:
        """Listed commands of actions that are hardly known, one of each verb."""
        familiar: set[str] = set()
        for template, book in self.agenda.ledger.books.items():
            if book.succeeded >= LIMITS.familiar:
                familiar.add(template)
        some = [self.dice.choice(commands) for commands in by_verb(self.game.admissible())]
        found = []
        for command in some:
            is_known = self._is_familiar(command, familiar) or self.vain(command)
            if not is_known and not self.too_early(command):
                found.append(command)
        return found

    def _least_done(self, commands: Collection[str]) -> list[str]:
        """The commands whose first word has worked least, or was least tried as new: among
        hundreds of names that nobody knows, chance would find an action late.
        """
        done = self.agenda.ledger.done + self.agenda.new_verbs
        counts = {command: done[verb_of(command)] for command in commands}
        least = min(counts.values())
        return [command for command, count in counts.items() if count == least]

    def _carry_elsewhere(self) -> str:
        """A way to a place of a kind where nobody has been with such a thing in hand, as long as an
        action that was never seen may well be listed there.
        """
        ledger = self.agenda.ledger
        belief = self.diary.belief
        if not belief.holding or not self._is_eager or not self._expects_news():
            return ""
        ways = []
        for command in self.game.admissible():
            if ledger.contexts.is_new(ledger.names.read(command), belief):
                ways.append(command)
        return self.dice.choice(ways) if ways else ""

    def _expects_news(self) -> bool:
        """True if an action that was never seen may well be listed somewhere."""
        ledger = self.agenda.ledger
        worked = [book for book in ledger.books.values() if book.succeeded]
        worth = LIMITS.first_success * ledger.contexts.chance_of_news(len(worked))
        return worth > LIMITS.informative

    def _is_familiar(self, command: str, familiar: Collection[str]) -> bool:
        """True if a command is of an action that is known well, be it with a name that nobody
        knows for one: `go to door to kitchen` goes to something, as `go to kitchen` does.
        """
        template = self.agenda.ledger.names.read(command).template
        if template in familiar:
            return True
        slots = template.count(SLOT)
        for each in familiar:
            if each.count(SLOT) >= max(1, slots) and pattern_of(each).fullmatch(command):
                return True
        return False

    # Experiments.

    def _experiment(self) -> str:
        """Action possible right now that would tell most, if any would tell enough."""

        def information(
            question: Question, names: tuple[str, ...], least: float
        ) -> tuple[float, object]:
            kinds = tuple(map(kind_of, names))
            if question.most(kinds) <= least:
                return 0.0, None
            known = (
                question.book.measure(self.diary.belief, names, question.places)
                if question.places
                else (0, 0)
            )
            return question.information(*known, kinds)

        return self.best_trial(
            ((each, self._imagine(each)) for each in self._some_questions()),
            information,
            LIMITS.informative,
        )

    def _some_questions(self) -> list[Question]:
        """Actions drawn to be imagined: the less often one has succeeded, the likelier."""
        questions, interests = self.agenda.by_interest
        if not interests or not interests[-1]:
            return []
        return self.dice.choices(questions, cum_weights=interests, k=self.agenda.exploring.imagined)

    def _imagine(self, question: Question) -> tuple[str, ...] | None:
        """Names for an action: any, or with a kind that has worked in one slot, or with such
        kinds in all.
        """
        names = self.names_around.draw(question.roles, self.dice)
        chance = self.dice.random()
        if names is None or chance < LIMITS.any_kind:
            return names
        slots: Sequence[int] = range(len(names))
        if chance >= LIMITS.any_kind + LIMITS.fitting:
            slots = (self.dice.randrange(len(names)),)
        chosen = list(names)
        for slot in slots:
            self._make_fit(question, slot, chosen)
        return tuple(chosen)

    def _make_fit(self, question: Question, slot: int, chosen: list[str]) -> None:
        """Replace a name by one of a kind that has worked in its slot, if there is one."""
        kinds = question.fit[slot]
        if kind_of(chosen[slot]) in kinds:
            return
        known = self.names_around.of_kinds(question.schema.variables[slot], kinds)
        fit = [name for name in known if name not in chosen]
        if fit:
            chosen[slot] = self.dice.choice(fit)

    def _towards_target(self) -> str:
        """The next step towards an experiment that cannot be done yet."""
        for _ in range(3):
            if self.target is None or self.patience <= 0:
                self.target = self._new_target()
                self.patience = self.agenda.exploring.pursued
                self.ahead = []
            if self.target is None:
                break
            self.patience -= 1
            command = self._reach(self.target)
            if command:
                return command
            self.target = None
        return self.look()

    def _reach(self, target: Instance) -> str:
        """An experiment, if it can be done now; else a step towards it; nothing where no way is
        known.
        """
        if target.feasible(self.situation) is Truth.TRUE:
            self.target = None
            return command_of(target.schema, target.binding)
        command = self.go_on()
        if command:
            return command
        remedy = self.agenda.reasoner().remedy(target, self.situation, explained=False)
        if not remedy.command or self.vain(remedy.command):
            return ""
        self.ahead = list(remedy.after)
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
            if prospect.worth > best and not self.too_early(fill(question.book.template, names)):
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
            if literal.bind(slots_of(names)).truth(self.situation) is Truth.FALSE:
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
        goal = self.diary.goal
        if self.about_goal and not tried and (goal.object in kinds or goal.destination in kinds):
            worth *= LIMITS.about_goal
        return worth

    # The goal.

    def _towards_goal(self) -> str:
        """The next step towards a guess at what the goal wants; nothing where there is none
        left.
        """
        command = self._do_as_told() if self.is_hardly_won and not self.gropes else ""
        if command:
            return command
        if self.scoring:
            ways = (
                self.go_on,
                self.towards_score,
                self.to_new_place,
                self.venture,
                self.elsewhere,
            )
            return _first_of(ways)
        return self.to_new_place() or self._towards_guess()

    def _towards_guess(self) -> str:
        """The next step towards the guess that is pursued, or else towards the next one."""
        for _ in range(4):
            if self.wanted is None or self.patience <= 0:
                self._take_up(self._new_guess())
            if self.wanted is None:
                return ""
            self.patience -= 1
            command = self.go_on() or self._begin_guess(self.wanted)
            if command:
                return command
            self.wanted = None
        return ""

    def _do_as_told(self) -> str:
        """A command that the goal's own sentence says, or a step towards one."""
        goal = self.diary.goal
        ledger = self.agenda.ledger
        names = ledger.names.known if ledger.unlisted else self.diary.belief.names
        found = as_told(self.agenda.questions, goal, names, self.told_done, self.it)
        for command, instance in found:
            if self.vain(command) or self.too_early(command, daring=True):
                continue
            if self._was_said_in_vain(command):
                continue
            step = self._do_or_prepare(command, instance)
            if step:
                return step
        return ""

    def _was_said_in_vain(self, command: str) -> bool:
        """True if an action often ended tasks of this topic with things that the goal names in the
        same way, and hardly ever scored.
        """
        ledger = self.agenda.ledger
        goal = self.diary.goal
        parts = ledger.names.read(command)
        book = ledger.books.get(parts.template)
        if book is None:
            return False
        mention = mention_of(goal, [kind_of(name) for name in parts.names])
        topic = ledger.topic_of(goal)
        alike = []
        for attempt in book.attempts:
            own = (attempt.goal_objects, attempt.goal_destinations, attempt.said)
            if (attempt.goal, attempt.topic) == (goal.type, topic) and own == mention:
                alike.append(attempt)
        lost = sum(each.lost for each in alike)
        scored = sum(each.scored for each in alike)
        return lost >= LIMITS.several and scored < LIMITS.hopeless * len(alike)

    def _dare(self) -> str:
        """What may end the task, with things here of which it may as well score; nothing as long as
        the episode has to be careful.
        """
        if not self.dares or (self.it and self.left > 2 * LIMITS.careful):
            return ""
        best = LIMITS.hopeless
        chosen = ""
        for book, names in self._risky_trials():
            worth = self._worth_of_daring(book, names, best)
            if worth > best:
                best = worth
                chosen = fill(book.template, names)
        # what was never tried is tried at once; of what is less likely, more may be elsewhere
        return chosen if self.dice.random() * LIMITS.new_fact < best else ""

    def _risky_trials(self) -> Iterator[tuple[Book, tuple[str, ...]]]:
        """Actions that often ended tasks, each with some names that are known here."""
        for template in self.agenda.deadly:
            book = self.agenda.ledger.books.get(template)
            if book is None:  # its names are known by now, and another template has its attempts
                continue
            roles = [tuple(sorted(role or self.diary.belief.names)) for role in book.roles]
            for _ in range(self.agenda.exploring.imagined):
                names = self.names_around.draw(roles, self.dice)
                if names is not None:
                    yield book, names

    def _worth_of_daring(self, book: Book, names: tuple[str, ...], least: float) -> float:
        """How likely an action works and scores with things of some kinds, where goals have this
        topic; 0 where that is not worth more than the least.
        """
        goal = self.diary.goal
        topic = self.agenda.ledger.topic_of(goal)
        chance = self.agenda.chance_of_scoring(book, goal.type, topic, names)
        if chance <= least or self.vain(fill(book.template, names)):
            return 0.0
        known = book.measure(self.diary.belief, names)
        for question in self.agenda.questions:
            if question.book is book:
                chance *= question.success(known.true, known.false)
        return chance

    def _do_or_prepare(self, command: str, instance: Instance) -> str:
        """A command that may be done now; else a step towards what it needs, for so long."""
        if instance.feasible(self.situation) is not Truth.FALSE:
            self.told_done.add(command)
            return command
        self.prepared[command] += 1
        if self.prepared[command] > self.agenda.exploring.pursued:
            return ""
        return self.begin(instance.preconditions)

    def _is_time_to_wander(self) -> bool:
        """True now and then between experiments, since other things to try are elsewhere."""
        if self.about_goal or not self.agenda.ledger.hardly_won:
            return False
        return bool(self.wandering.heading) or self.dice.random() < LIMITS.wandering

    def to_new_place(self) -> str:
        """The next step to the nearest place where the agent has not been in this episode, while
        tasks score on the way and are hardly ever won; nothing where no way is known.
        """
        ledger = self.agenda.ledger
        given_up = self.wandering.tries > self.agenda.exploring.pursued and not ledger.unlisted
        if not ledger.hardly_won or given_up:
            return ""
        return self._as_planned() or self._some_move() or self._unlock()

    def _as_planned(self) -> str:
        """The next step of a plan to a new place; nothing after some that did not get there."""
        wandering = self.wandering
        if wandering.tries > self.agenda.exploring.pursued:
            return ""
        command = self.go_on() if wandering.heading else ""
        if command:
            return command
        wanted = wandering.new_places(self.situation, self.agenda.reasoner())
        wandering.tries += 1
        command = self.begin(wanted) if wanted else ""
        wandering.heading = wanted if command else ()
        return command

    def _some_move(self) -> str:
        """A listed command to a new place, for as long as no plan knows the way: one that begins as
        commands do that have moved the agent. Where the belief lists no places, else one that often
        came before such, else one that leads back.
        """
        moves = self._promising(self.agenda.ledger.moving)
        some = [command for command in moves if not self._leads_back(command)]
        if not some and self.agenda.ledger.unlisted:
            some = self._likeliest_keys() or moves
        if not some:
            return ""
        found = self.dice.choice(some)
        self.opened.add(found)
        return found

    def _promising(self, verbs: Container[str]) -> list[str]:
        """Listed commands that begin with some verbs, and were not in vain."""
        found = []
        for command in self.game.admissible():
            if verb_of(command) in verbs and not self.vain(command):
                found.append(command)
        return found

    def _leads_back(self, command: str) -> bool:
        """True if a command names a place where the agent has been."""
        return any(place in command for place in self.wandering.been)

    def _likeliest_keys(self) -> list[str]:
        """Listed commands that may open a way, and were not given: those that begin as commands do
        that most surely come before a move.
        """
        ledger = self.agenda.ledger
        shares = {}
        for command in self._promising(ledger.opening):
            is_move = verb_of(command) in ledger.moving
            if not is_move and command not in self.opened and not self._leads_back(command):
                shares[command] = self._share_before_moves(command)
        most = max(shares.values(), default=0.0)
        return [command for command, share in shares.items() if share == most]

    def _share_before_moves(self, command: str) -> float:
        ledger = self.agenda.ledger
        verb = verb_of(command)
        return ledger.opening[verb] / (ledger.done[verb] + 1)

    def _unlock(self) -> str:
        """A command that changes something about what a refused way names, the shortest of a verb
        that was not tried for it; right after it, the way is tried again.
        """
        refused_ways = list(filter(self._may_be_a_way, self.failures))
        changing = self._changing_verbs()
        if not refused_ways or not changing:
            return ""
        listed = []
        for command in self.game.admissible():
            if verb_of(command) in changing:
                listed.append(command)
        for way in refused_ways:
            command = self._key_to(way, listed)
            if command:
                self.unlocking.add((way, verb_of(command)))
                self.then = way
                return command
        return ""

    def _changing_verbs(self) -> set[str]:
        """The first words of commands that change something else than where the agent is."""
        found = set()
        for schema in self.agenda.schemas:
            if schema.effects:
                found.add(verb_of(schema.syntax[0]))
        return found - self.agenda.ledger.moving.keys()

    def _may_be_a_way(self, command: str) -> bool:
        """True if a command begins as those do that have moved the agent; as long as none has,
        if it begins as none that ever worked.
        """
        ledger = self.agenda.ledger
        verb = verb_of(command)
        if ledger.moving:
            return verb in ledger.moving
        return not ledger.done[verb]

    def _key_to(self, way: str, listed: Iterable[str]) -> str:
        """The shortest command about what a way names, of a verb not tried for it; nothing where
        there is none.
        """
        names = self.agenda.ledger.names.read(way).names
        found = []
        for command in listed:
            is_about = any(name in command for name in names)
            is_new = (way, verb_of(command)) not in self.unlocking
            if is_about and is_new and not self.vain(command) and not self.too_early(command):
                found.append(command)
        return min(found, key=len, default="")

    def _take_up(self, guess: State | None) -> None:
        """Pursue a guess at what the goal wants from now on."""
        self.wanted = guess
        self.patience = 2 * self.agenda.exploring.pursued
        self.ahead = []
        self.begun.clear()

    def _begin_guess(self, wanted: State) -> str:
        """The first step of a plan towards a guess; nothing where plans lead round and round."""
        command = self.begin(wanted)
        if not command:
            return ""
        if not self.begun:
            self.agenda.pursued[self.diary.goal.type, wanted] += 1
        self.begun[command] += 1
        return command if self.begun[command] < LIMITS.several else ""

    def towards_score(self) -> str:
        """The next step towards what scores; nothing where nothing is known to score now, or
        where it has scored nothing several times in this episode.
        """
        in_vain = Counter(done.command for done in self.diary.past if not done.gained)
        reasoner = self.agenda.reasoner(self.diary.goal.type)
        for option in reasoner.plan(self.situation, seek=False).options:
            if option.chain and in_vain[option.chain[-1].command] >= LIMITS.several:
                continue
            if not any(self.vain(link.command) for link in option.chain):
                self.ventures.pursued = None
                return self.follow(option)
        return ""

    def venture(self) -> str:
        """The next step towards something that may score, for all that is known."""
        ventures = self.ventures
        if ventures.pursued is not None and self.patience <= 0:
            ventures.give_up(ventures.pursued)
        if ventures.pursued is not None:
            return self._pursue(ventures.pursued)
        for prospect in ventures.prospects(self.situation):
            self.patience = 2 * self.agenda.exploring.pursued
            self.ahead = []
            ventures.pursued = prospect
            command = self._pursue(prospect)
            if command:
                return command
        return ""

    def _pursue(self, prospect: Prospect) -> str:
        """The next step towards a prospect, which is given up once it is tried or there is none."""
        self.patience -= 1
        command = "" if self.vain(prospect.command) else self._towards_prospect(prospect)
        if command in ("", prospect.command):
            self.ventures.give_up(prospect)
        return command

    def _towards_prospect(self, prospect: Prospect) -> str:
        """The prospect's command where its needs hold, or else a step towards them; an unknown
        one is found out by trying.
        """
        truths = [clause.truth(self.situation) for clause in prospect.needs]
        if all(truth is Truth.TRUE for truth in truths):
            return prospect.command
        step = self.begin(prospect.needs)
        if step or Truth.FALSE in truths:
            return step
        return prospect.command

    def elsewhere(self) -> str:
        """Some way to another place, now and then: what can be done next may be seen there."""
        ledger = self.agenda.ledger
        if self.dice.random() < LIMITS.staying:
            return ""
        moves = {template for template, linked in ledger.linked.items() if linked.moves}
        listed = []
        for command in self.game.admissible():
            if ledger.names.read(command).template in moves and not self.vain(command):
                listed.append(command)
        return self.dice.choice(listed) if listed else ""

    def _new_guess(self) -> State | None:
        """The best guess that was not taken up in this episode, but for those that steps were
        spent on before.
        """
        best: State | None = None
        least = 0
        for place, state in enumerate(self.agenda.guesses(self.diary.goal)):
            rank = place + LIMITS.again * self.agenda.pursued[self.diary.goal.type, state]
            if state not in self.tried and (best is None or rank < least):
                best = state
                least = rank
        if best is not None:
            self.tried.add(best)
        return best

    def _anything(self) -> str:
        """A command of some action with any names that were ever seen, known to be here or not."""
        books = [book for book in self.agenda.ledger.books.values() if book.succeeded > 1]
        for book in self.dice.sample(books, len(books)):
            names = [self.dice.choice(self._ever_in(roles)) for roles in book.roles]
            command = fill(book.template, names)
            if not self.too_early(command):
                return command
        return next(iter(self.game.admissible()), "look")

    def _ever_in(self, roles: set[str] | None) -> list[str]:
        """The names that ever had all of some roles; all names where none had."""
        names = self.agenda.ledger.names.roles
        found = []
        for name in names:
            if not roles or roles <= names[name]:
                found.append(name)
        return found or list(names)


def _first_of(ways: Iterable[Callable[[], str]]) -> str:
    """The first command that any of some ways to choose one finds."""
    for choose in ways:
        command = choose()
        if command:
            return command
    return ""
