"""Every number by which rules are learned, in one place, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Numbers that decide what counts as evidence. Shares are of what was seen."""

    # Chance and exceptions.

    by_chance: float = 0.01  # Likelihood below which a coincidence is ruled out
    # Share of misread steps that effects and processes survive; what the guard refuses by survives
    # none, and what plans see to as many
    exceptions: float = 0.02
    # Share of successes in which effects show and conditions hold: below it, mostly luck is left
    mostly: float = 0.9
    # Times that something has to be seen before it is concluded: two may be a coincidence
    several: int = 3
    witnesses: int = 5  # Steps that are kept with a claim, of each sort: a reader looks at no more

    # Names and commands.

    longest_name: int = 8  # Words of a name: longer matches are sentences
    # Names without a number up to which all are fixed; of more, only the most widespread
    fixed_names: int = 16
    # Share of the episodes in which such a name has to be known to be widespread
    widespread: float = 0.4
    most_widespread: int = 32  # Widespread names at most: each adds facts to every action
    settled_names: int = 8  # Episodes before which nothing is said of how widespread a name is
    # Names of a role up to which each gets facts of its own: ways to cut, directions
    few_names: int = 8
    # Fixed names in an action's facts from which on some fact about one always happens to hold
    many_names: int = 8

    # Records of each attempt.

    # Kinds asked about at a step, to see if anything is known of such: more only cost time
    probes: int = 2
    # Attempts of an action whose beliefs are kept, so that facts found later can be looked up
    remembered: int = 200
    # Successes of an action that are asked what they showed of things it does not name
    glimpsed: int = 30
    # Beliefs whose answers are kept: those before and after a step, and a few between
    beliefs_asked: int = 4
    states_kept: int = 24  # Beliefs of all episodes that are asked which facts go together
    names_asked: int = 300  # Names that are put into slots at most, to ask one of them
    imagined_at_step: int = 2  # Actions that are looked at after a step without being tried
    most_imagined: int = 1_000  # Of one action: enough to tell which facts go together
    # Attempts looked at together with the agent's place: enough to learn a map
    linked_attempts: int = 300
    # Places that an action did not lead to, looked at for each one that it did
    other_places: int = 8

    # Preconditions.

    # Refusals with one fact alone false that make it necessary: two, as causes may be hidden
    decisive: int = 2
    # Independent witnesses before which two facts agreed and never disagreed, after which they
    # count as one: by chance they agree before seven in a row less than once in a hundred times
    alike: int = 7
    premises: int = 2  # Other needs from which one may follow: of more, some always happen to hold
    # And for a fact that says what is near: a thing is within reach that lies in a place, where the
    # agent is, and that is open
    premises_of_near: int = 3
    alternatives: int = 3  # Facts of which one must have been needed, up to which that is written
    # Share of the successes in which a fact has to be known: a few say nothing of the rest
    seldom_known: float = 0.25
    # Refusals that a precondition of two facts, of which one must hold, has to explain: as many as
    # `decisive` of them by itself, the others beside another such precondition
    either: int = 4
    # Its share of the unexplained refusals in which both facts are known
    either_of_known: float = 0.5
    # Its share of all unexplained refusals: with a hidden cause, some pair fits a few
    either_of_all: float = 0.1
    # Successes below which plans for experiments see to all that may be needed
    few_successes: int = 25
    fewest_successes: int = 2  # Successes that make a command an action
    # Refusals with nothing else missing after which kinds are taken not to work
    refused_kinds: int = 3
    # Likelihood below which a kind was not just tried with the wrong others, or refused for a
    # reason that nobody knows
    unlucky_kind: float = 0.05
    # Share of other situations in which a rare success's circumstance may hold
    seldom_in_hand: float = 0.3
    # Circumstances that are kept: there are many such facts, and some always hold
    most_surroundings: int = 2

    # Effects.

    # Share of the successes in which things that were not named have to show: known ones cannot.
    # And of those in which a fact may be unknown that the guard refuses by
    sometimes: float = 0.1
    telling: int = 8  # Successes with and without a condition that it has to be seen in

    # Conditions (FOIL).

    often: float = 0.6  # Share of the attempts meeting a condition that have to come out well
    fewest_good: int = 2  # Attempts that came out well below which no condition is sought
    gain: float = 0.02  # Rise in that share that a fact has to bring
    # Weight of a fact about a fixed name or a kind against one about the action's things
    about_others: float = 0.8
    # Weight of a fact that has the action's own verb in it: a recipe's line says what to do
    own_word: float = 1.2
    pair: float = 0.7  # Weight of two facts that tell only together: there are many pairs
    about_names: float = 0.4  # Weight of a fact about fixed names alone
    # Good attempts that a fact about fixed names alone needs: below, it may just happen to hold
    good_by_name: int = 5
    most_kinds: int = 40  # Kinds that conditions are made of: the most frequent

    # Goals.

    # Things of one field that are looked at in a state: those that were handled last
    goal_things: int = 3
    goal_states: int = 40  # Different last states of wins that are compared: the most frequent
    # Share of wins a goal may leave unexplained: some come unseen, or by another way
    goal_exceptions: float = 0.4
    largest_guess: int = 3  # Facts of a guess at what a goal wants, as long as none was won
    stem: int = 4  # Letters that a word has at least of which another is a form: `heat`, `heated`
    enough_wins: int = 12  # Wins of a goal type after which its episodes serve other questions

    # Scores.

    # Rises of the score before the end that make it a score of parts, and rises that a deed needs
    score_rises: int = 3
    # Share of the rises that facts have to account for; below it, kinds are asked
    score_told: float = 0.5
    # Things are tried blindly only if no more than this share of vain trials with things that had
    # scored ended the task
    score_harmless: float = 0.1
    scores_again: float = 1 / 3
    """Share of repetitions that may have scored for something to count once."""
    ruin: float = 20.0  # Steps that it is worth not to end the task for good
    # Cost of looking for more things to score with, before any are tried blindly
    looking_for_more: float = 3.0
    score_shares: tuple[tuple[str, float], ...] = (
        ("mostly", 0.8),
        ("often", 0.45),
        ("sometimes", 0.15),
    )
    """By table, the share of the things that have to have scored in a place to stand in it."""
    # Things by which a row of a score table is moved towards the average: one alone proves little
    smoothing: float = 1.0

    # Exploration.

    given_up: int = 3  # Episodes after which a world that failed in all of them is given up
    aside: int = 10  # One episode in so many is kept aside for verification
    # Recorded episodes below which none is: each may be the only one of its kind
    enough_episodes: int = 20
    stuck_after: int = 4  # Failures of one command in a row that end a game played with the manual
    # Games won in a row without surprises, and `several` of each type, that end such play
    quiet_games: int = 12
    deadly: float = 1 / 3
    """Share of an action's successes that ended the task for good, from which on it is put off."""
    deadly_often: int = 5  # And the number of them
    fewest_losses: int = 2  # Enough of them where they are more than half of its successes
    # Steps before the end from which on what a goal's sentence says is done, even if it may end the
    # task: enough to walk there
    late: int = 24
    # Where places are unlisted: steps, on average, before an episode tries what may end it
    careful: float = 12.0
    about_hardly_won: float = 0.9  # Share of such episodes that are about the goal
    last_steps: int = 8  # Steps at the end of an episode in which such actions are tried
    # Episodes of a type that say as much of its goal as one win, for the choice of the next task
    episodes_for_a_win: int = 8
    guesses: int = 60  # Guesses at a goal that are weighed against each other
    again: int = 5  # Simpler guesses that go first for each time that a guess was pursued already
    familiar: int = 6  # Successes from which on an action is no novelty
    # Bits that an action tells which is done again with kinds that it was done with once
    once_more: float = 0.5
    # Worth below which no plan towards an experiment is made: plans cost most of the time
    worth_a_plan: float = 0.05
    # Weight of what was never tried with the goal's things, while the goal is sought
    about_goal: float = 2.0
    # How likely a fact that held in every success is needed, before any refusal is seen: a fact
    # about the action's things, a negation, a fact about a fixed name
    needs_fact: float = 0.5
    needs_negation: float = 0.15
    needs_name: float = 0.1
    first_guesses: int = 24  # Guesses at the needs of an action that has never worked
    # How much likelier a fact is needed that an action with the same parameters needs
    by_analogy: float = 3.0
    # And a fact that actions make and none is known to need
    made_for: float = 2.0
    beside_guess: float = 0.5  # Weight of facts that a guess does not have, in choosing names
    usual_needs: float = 4.0  # Facts that an action needs which has never worked, for a start
    first_success: float = 8.0  # Bits that the first success of an action tells
    surest: float = 0.9  # And at most, as long as it is not shown twice
    unlikely: float = 0.05  # Likelihood of success below which a trial is not looked at
    near_misses: int = 24  # Trials of one action that are compared at a step
    nodes: int = 400  # Names that are put into slots at most, to find them
    patience: int = 10  # Refusals after which an action that never worked is tried half as often
    greed: float = 1.5  # Rate at which the best of some names is chosen before the next ones
    probable: float = 0.5  # Likelihood of success from which on a trial is worth a step by itself
    names_twice: float = 0.5  # Share of first trials in which a name may stand in two slots
    # Share of steps at which others are tried where one did in every success
    untwisting: float = 0.3
    walks: int = 6  # Steps without an experiment after which an episode ends
    idle_episodes: int = 2  # Episodes without anything to try after which exploration ends
    few_facts: float = 0.7  # Rate by which fewer facts are brought about for a first trial
    ground_actions: int = 2_000  # Ways to fill the slots of one action that a search knows at most
    # Literals of a search up to which it is asked which pairs may hold together
    pairs_known: int = 1_000
    search_nodes: int = 60  # States that a search for a way looks at, at least
    most_nodes: int = 500  # And at most
    search_work: int = 30_000  # Ground actions that it looks at between, over all these states
    greedy_search: float = 2.0  # Weight of the steps that are left against those that were done
    aims: int = 3  # Trials elsewhere that are planned for at a step
    first_choices: int = 12  # Choices of names that are compared for an action that never worked
    # Names that are put into slots at most, to find some of which all holds that a guess has
    first_nodes: int = 80
    informative: float = 0.2  # Bits that a trial has to tell at least
    any_kind: float = 0.4  # Share of imagined actions with any kinds
    fitting: float = 0.3  # Share of imagined actions with kinds that have worked in every slot
    # Chance to experiment here rather than to go elsewhere where nothing is known that may score
    staying: float = 0.5
    # Chance to set out for a new place between experiments, where tasks score on the way
    wandering: float = 0.2
    # Successes with which an action comes up half as often as one that never succeeded
    half_interest: int = 40

    # Ventures: actions that may score.

    recent: int = 150  # Attempts of an action that are looked at
    deep: int = 3  # Facts that are put together to find what speaks against it
    hopeless: float = 0.08  # Likelihood of scoring below which it is not tried
    # Likelihood for a thing that came into being with a score, by itself: tried first
    new_thing: float = 1.0
    # Likelihood at least where nobody knows what comes of a fact that holds now
    new_fact: float = 0.13
    known_past: int = 4  # Times after which an action's past speaks for itself
    not_yet: float = 0.8  # Discount for what cannot be done yet
    names_tried: int = 12  # Names that are looked at for a slot
    choices: int = 3  # Prospects that are prepared at a step

    # Verification.

    # Times that wrong lines are taken out, or surprises in play mended, and conclusions drawn anew
    rounds: int = 5


LIMITS = Thresholds()
