"""Previews of decisions: ratings, ranks, places and who goes on, before anything is stored.

The functions that compute the real results compute a preview too: `elo.apply_round` for ratings,
and the standings of a tournament from its history under an assumption.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.utils.text import capfirst

from engine.pairing import advancing_bots, seeding, stages
from league.competitions.history import Assumed, History, history_of
from league.competitions.tournament_entries import stays_withdrawn
from league.competitions.tournament_standings import standings_of
from league.models import Block, Bot, Match, Round, Tournament, TournamentEntry
from league.moderation.blocks import (
    LaterStages,
    check_replay,
    check_restore,
    counting_replacements,
    later_rounds,
    marked_with,
    stages_to_exchange,
)
from league.moderation.log import Action
from league.moderation.seen import SeenState, state_of_block, state_of_entry, state_of_tournament
from league.ratings import assuming
from league.ratings.void_marks import can_be_restored, is_void


class RatingChange(NamedTuple):
    """A bot's rating and rank on the ladder, now and after the decision; None if it has none."""

    bot: Bot
    rating_now: int | None
    rating_then: int | None
    rank_now: int | None
    rank_then: int | None


class PlaceChange(NamedTuple):
    """A bot's rank and score in the tournament, now and after the decision."""

    bot: Bot
    rank_now: int | None
    rank_then: int | None
    score_now: Fraction
    score_then: Fraction


class Advance(NamedTuple):
    """The bots that reach the next stage of a knockout, or win its final, now and afterwards."""

    stage: int
    now: list[Bot]
    then: list[Bot]
    is_final: bool = False

    @property
    def differs(self) -> bool:
        """Whether other bots would go on."""
        return {bot.pk for bot in self.now} != {bot.pk for bot in self.then}


@dataclass(frozen=True)
class Preview:
    """What a decision changes.

    Attributes:
        action: as the moderation log names it.
        subject: the block, bot or tournament of the decision.
        ratings: of the ladder that change.
        places: in the tournament that change.
        advancing: for a knockout, who goes on from the stage of the decision, for a
            disqualification from the last one drawn; None else.
        superseded: the stages that are played again.
        notes: sentences on what else happens.
        seen: the state of the subject; a decision with it is refused once the state has changed.
    """

    action: str
    subject: str
    ratings: list[RatingChange] = field(default_factory=list)
    places: list[PlaceChange] = field(default_factory=list)
    advancing: Advance | None = None
    superseded: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: str = ""


def preview_void(block: Block) -> Preview:
    """Return the effect of `void_block`.

    Raises:
        ValidationError: it is void already (code ``block-void``).
    """
    seen = state_of_block(block)
    if is_void(block):
        raise ValidationError(f"{capfirst(str(block))} is void already.", code="block-void")
    notes = [*_rating_notes(block), *_after_void(block)]
    if not can_be_restored(block):
        notes.append(
            "The block is not finished. Once it is void it can't count again; you can only have "
            "it played again."
        )
    return _of_block(Action.VOID_BLOCK, block, Assumed(void=frozenset([block.pk])), notes, seen)


def preview_replay(block: Block, later_stages: LaterStages = LaterStages.KEEP) -> Preview:
    """Return the effect of `play_again` before the new block is played.

    Raises:
        ValidationError: as `play_again`.
    """
    seen = state_of_block(block)
    check_replay(block, later_stages)
    again = later_rounds(block) if later_stages == LaterStages.AGAIN else []
    later = Block.objects.filter(round__in=again)
    void = frozenset([block.pk, *later.values_list("pk", flat=True)])
    assumed = Assumed(void=void, superseded=frozenset(round_.pk for round_ in again))
    seats = block.matches.count()
    notes = [
        *_rating_notes(block),
        f"The same bots play {seats} new matches. Their result then counts in place of the old "
        "one.",
    ]
    if again:
        them = "them" if _stage_numbers(again)[1:] else "it"
        notes.append(
            f"{_stages_void(again)} The league draws {them} again when the new block is rated."
        )
    elif later_rounds(block):
        notes.append("Later stages stay as they were drawn and played.")
    tournament = block.round.tournament
    if tournament is not None and tournament.state == Tournament.State.FINISHED:
        notes.append("The tournament runs again until the new matches are rated.")
    return _of_block(Action.REPLAY_BLOCK, block, assumed, notes, seen, superseded=again)


def preview_restore(block: Block) -> Preview:
    """Return the effect of `restore_block`.

    Raises:
        ValidationError: as `restore_block`.
    """
    seen = state_of_block(block)
    mark = check_restore(block)
    drawn_since, back = stages_to_exchange(block, mark)
    blocks = marked_with(mark, back)
    replaced = counting_replacements(block)
    void = [each.pk for each in replaced]
    void += Block.objects.filter(round__in=drawn_since).values_list("pk", flat=True)
    assumed = Assumed(
        void=frozenset(void),
        finished=frozenset(each.pk for each in blocks),
        superseded=frozenset(round_.pk for round_ in drawn_since),
        counting=frozenset(round_.pk for round_ in back),
    )
    notes = [f"{capfirst(str(each))} becomes void." for each in replaced]
    later = [round_ for round_ in drawn_since if round_.stage != block.round.stage]
    if len(later) < len(drawn_since):
        notes.append("The extra blocks that were drawn since become void.")
    if later:
        notes.append(f"{_stages_void(later)} The stages that were played before count again.")
    elif mark.decision_superseded() and not back:
        notes.append("Later stages stay as they were drawn and played.")
    return _of_block(Action.RESTORE_BLOCK, block, assumed, notes, seen, superseded=later)


def preview_disqualification(tournament: Tournament, bot: Bot) -> Preview:
    """Return the effect of `disqualify`; for a disqualified bot, of `reinstate`.

    Raises:
        ValidationError: the bot is not entered (code ``not-found``).
    """
    seen = state_of_entry(tournament, bot)
    entry = _entry(tournament, bot)
    bots = frozenset([bot.pk])
    if entry.state == TournamentEntry.State.DISQUALIFIED:
        action, assumed = Action.REINSTATE, Assumed(reinstated=bots)
        notes = ["It gets its rank back, and it can play in later stages again."]
        if stays_withdrawn(entry):
            why = "has withdrawn" if bot.retired_at is None else "is deleted"
            notes = [f"It gets its rank back. It plays in no later stage: it {why}."]
    else:
        action, assumed = Action.DISQUALIFY, Assumed(disqualified=bots)
        notes = [
            "It loses its rank, and it gets no seat in later stages. Its blocks still count for "
            "its opponents and for ratings."
        ]
    now, then = history_of(tournament), history_of(tournament, assumed)
    subject = f"{bot} in {tournament}"
    return Preview(
        action,
        subject,
        places=_places(now, then),
        advancing=_advancing(now.rounds[-1].number, now, then) if now.rounds else None,
        notes=notes,
        seen=str(seen),
    )


def preview_withdrawal(tournament: Tournament, bot: Bot) -> Preview:
    """Return the effect of `withdraw`; for a bot that has withdrawn, of `enter`.

    Raises:
        ValidationError: the bot is not entered (code ``not-found``).
    """
    seen = state_of_entry(tournament, bot)
    entry = _entry(tournament, bot)
    action = Action.WITHDRAW_BOT
    if entry.state != TournamentEntry.State.ENTERED:
        action = Action.ENTER_BOT
        notes = ["It can play in later stages again. It gets no points for stages that it missed."]
    elif tournament.state in Tournament.NOT_STARTED:
        notes = ["Its entry is deleted. Until the end of entries its owner may enter it again."]
    else:
        notes = [
            "It gets no seat in later stages. Blocks that are drawn already are still played, and "
            "they count. The bot keeps its rank."
        ]
    return Preview(action, f"{bot} in {tournament}", notes=notes, seen=str(seen))


def preview_cancellation(tournament: Tournament) -> Preview:
    """Return the effect of `cancel`; for a cancelled tournament, of `restore`."""
    seen = state_of_tournament(tournament)
    unfinished = Match.objects.unfinished().filter(block__round__tournament=tournament).count()
    begun = tournament.rounds.exists()
    action = Action.CANCEL_TOURNAMENT
    if tournament.state == Tournament.State.CANCELLED:
        action = Action.RESTORE_TOURNAMENT
        notes = [
            "It continues: the next stage opens soon."
            if begun
            else "Its entries count again. If its planned start has passed, choose a new start."
        ]
    elif begun:
        notes = [
            f"Unfinished matches of open stages: {unfinished}. They are still played and rated, "
            "but no further stage opens."
        ]
    else:
        notes = ["The tournament does not start."]
    return Preview(action, str(tournament), notes=notes, seen=str(seen))


def _entry(tournament: Tournament, bot: Bot) -> TournamentEntry:
    entry = tournament.entries.filter(bot=bot).first()
    if entry is None:
        raise ValidationError(f"{bot} is not entered in {tournament}.", code="not-found")
    return entry


def _of_block(
    action: str,
    block: Block,
    assumed: Assumed,
    notes: list[str],
    seen: SeenState,
    *,
    superseded: Sequence[Round] = (),
) -> Preview:
    tournament = block.round.tournament
    places, advancing = [], None
    if tournament is not None:
        now, then = history_of(tournament), history_of(tournament, assumed)
        places = _places(now, then)
        advancing = _advancing(block.round.stage or 0, now, then)
    return Preview(
        action=action,
        subject=str(block),
        ratings=_ratings(block, assumed),
        places=places,
        advancing=advancing,
        superseded=_stage_numbers(superseded),
        notes=notes,
        seen=str(seen),
    )


def _ratings(block: Block, assumed: Assumed) -> list[RatingChange]:
    ladder = block.round.ladder
    found = assuming.changes(ladder, void=assumed.void, restored=assumed.finished)
    bots = Bot.objects.select_related("owner").in_bulk([each.bot for each in found])
    return [
        RatingChange(
            bots[each.bot],
            each.now.rating if each.now else None,
            each.then.rating if each.then else None,
            each.now.rank if each.now else None,
            each.then.rank if each.then else None,
        )
        for each in found
    ]


def _places(now: History, then: History) -> list[PlaceChange]:
    before = {row.bot.pk: row.row for row in standings_of(now)}
    found = []
    for row in standings_of(then):
        old = before.get(row.bot.pk)
        if old is None:
            continue  # it has entered since
        if (old.rank, old.score) != (row.row.rank, row.row.score):
            found.append(PlaceChange(row.bot, old.rank, row.row.rank, old.score, row.row.score))
    return found


def _advancing(stage: int, now: History, then: History) -> Advance | None:
    if now.tournament.format != Tournament.Format.KNOCKOUT:
        return None
    (before, was_final), (after, is_final) = _going_on(stage, now), _going_on(stage, then)
    return Advance(stage, before, after, was_final or is_final)


def _going_on(stage: int, history: History) -> tuple[list[Bot], bool]:
    """Return the bots that go on from a stage or win the final, and whether it is the final.

    The seeding decides ties.
    """
    seeds = seeding(history.event_settings, history.entrants)
    drawn = next((one for one in stages(history.rounds, seeds) if one.number == stage), None)
    if drawn is None:
        return [], False
    disqualified = [each for each in history.entrants if each.disqualified]
    if drawn.final:
        out = {each.bot for each in disqualified}
        ranked = [[bot for bot in table.entrants if bot not in out] for table in drawn.tables]
        return [history.bots[bots[0]] for bots in ranked if bots], True
    # A bot of an assumed disqualification has no round yet after which it left.
    out = {each.bot for each in disqualified if each.left_after is None}
    still_in = [entrant for entrant in history.entrants if entrant.bot not in out]
    return [history.bots[bot] for bot in advancing_bots(drawn, still_in, seeds)], False


def _stage_numbers(rounds: Sequence[Round]) -> list[int]:
    return sorted({round_.stage for round_ in rounds if round_.stage})


def _stages_void(rounds: Sequence[Round]) -> str:
    """Return the sentence that the stages of these rounds become void."""
    *others, last = map(str, _stage_numbers(rounds))
    if not others:
        return f"Stage {last} becomes void."
    return f"Stages {', '.join(others)} and {last} become void."


def _rating_notes(block: Block) -> list[str]:
    if block.round.applied_at is None:
        return ["Its round is not rated yet, so no rating changes."]
    if not block.rated:
        return ["The block is not rated, so no rating changes."]
    return []


def _after_void(block: Block) -> list[str]:
    tournament = block.round.tournament
    if tournament is None:
        return []
    if tournament.format != Tournament.Format.KNOCKOUT:
        return ["In the tournament each bot of the block gets half a point for it."]
    if later_rounds(block):
        return ["Later stages stay as they were drawn and played."]
    tie = "If the table's other blocks leave a tie for a place in the next stage,"
    if tournament.state == Tournament.State.RUNNING:
        return [f"{tie} the table plays an extra block."]
    return [f"{tie} the bot with the better seeding goes on."]
