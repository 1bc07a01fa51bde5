"""Comparisons: play swap blocks of two versions of a bot until the SPRT reaches a verdict.

A swap block plays one deal twice; the versions exchange seats, and opponents from the ladder keep
theirs (docs/ratings-statistics.md). The state of a comparison is a fold over its finished
blocks, in the order of their numbers.
"""

import secrets
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Prefetch
from django.utils import timezone

from engine.blocks import derive_block_seed, plan_block
from engine.deals import SEED_BYTES
from engine.rating import sprt
from league import bots, play
from league.accounts.quarantines import require_free
from league.models import Bot, BotVersion, Comparison, Ladder, Match, SwapBlock
from league.models.setting_aside import NOT_SET_ASIDE
from league.ratings.match_results import match_result

OPEN_BLOCKS = 8
"""Swap blocks of a comparison that are open at a time."""
MAX_VOID_BLOCKS = 3 * OPEN_BLOCKS
"""If so many blocks become void one after the other, the comparison ends without a verdict."""
State = Comparison.State


def compare(*, bot: Bot, ladder: Ladder, new: int, old: int, promote: bool = False) -> Comparison:
    """Start a comparison of two versions of a hosted bot.

    Args:
        bot: a hosted one.
        ladder: gives game, time control and opponents.
        new: number of the version that may be better.
        old: number of the other version.
        promote: whether the new version becomes current, in the place of the old, if it is better.

    Raises:
        ValidationError: by field: a version does not exist or is not ready, or ``promote`` is set
            and the old version is not current. Or with a code: a version did not qualify for the
            ladder's game, or with ``promote`` for another game that the bot has entered
            (``not-qualified``), another comparison of the bot is running
            (``comparison-running``), the ladder has too few bots that can play now
            (``too-few-opponents``), the bot is in quarantine (``quarantined``), was deleted
            (``bot-retired``), or is not hosted (``not-hosted``).
    """
    try:
        with transaction.atomic():
            # The ladder first, as who enters the bot does: to refer to the ladder takes a lock too.
            Ladder.objects.select_for_update(no_key=True).get(pk=ladder.pk)
            bots.lock_active(bot.pk)  # so that it is not deleted meanwhile
            versions = _checked_versions(bot, ladder, new, old, promote=promote)
            return Comparison.objects.create(
                bot=bot,
                ladder=ladder,
                new=versions[new],
                old=versions[old],
                promote=promote,
                seed=secrets.token_bytes(SEED_BYTES),
            )
    except IntegrityError:
        raise ValidationError(
            f"Another comparison of {bot} is running; wait until it ends, or cancel it.",
            code="comparison-running",
        ) from None


def _checked_versions(
    bot: Bot, ladder: Ladder, new: int, old: int, *, promote: bool
) -> dict[int, BotVersion]:
    """Return the two versions of a comparison by number, or raise as `compare`."""
    if bot.kind != Bot.Kind.HOSTED:
        raise ValidationError(
            f"{bot} is a {bot.kind} bot; only versions of hosted bots can be compared.",
            code="not-hosted",
        )
    require_free(bot)
    versions = {version.number: version for version in bot.versions.filter(number__in=[new, old])}
    for field, number in (("new", new), ("old", old)):
        if number not in versions:
            raise ValidationError({field: f"{bot} has no version {number}."})
        if versions[number].state != BotVersion.State.READY:
            raise ValidationError({field: bots.why_not_ready(versions[number])})
    if new == old:
        raise ValidationError({"old": "Choose two different versions."})
    if promote and bot.current_id != versions[old].pk:
        if bot.current is None:
            why = f"{bot} has no current version that version {new} could replace."
        else:
            why = (
                f"To promote version {new}, compare it with the current version, which is "
                f"{bot.current.number}, not {old}."
            )
        raise ValidationError(
            {"promote": f"{why} Without promotion you may compare any two ready versions."}
        )
    for number in (new, old):
        bots.require_qualified(bot, ladder.game, versions[number])
    if promote:
        bots.require_games_entered(bot, versions[new])
    if len(_opponents_by_owner(bot, ladder)) < ladder.seats - 2:
        raise ValidationError(
            f"A comparison on {ladder} needs {ladder.seats - 2} opponents of different owners that "
            "can play now; house bots count too. Try again later, or choose another ladder.",
            code="too-few-opponents",
        )
    return versions


def cancel_comparison(comparison: Comparison) -> None:
    """End a running comparison without a verdict; nothing changes if it is over."""
    with transaction.atomic():
        locked = Comparison.objects.select_for_update(of=("self",)).get(pk=comparison.pk)
        if locked.state == State.RUNNING:
            _end(locked, State.CANCELLED)


def comparisons_to_advance() -> list[int]:
    """Return the ids of running comparisons, without those that are set aside."""
    running = Comparison.objects.running().filter(NOT_SET_ASIDE)
    return list(running.values_list("pk", flat=True))


def advance_comparison(comparison_id: int) -> None:
    """Store the results of finished swap blocks; end the comparison if decided, else open more."""
    with transaction.atomic():
        comparison = (
            Comparison.objects.running()
            .select_for_update(of=("self",), skip_locked=True)
            .select_related("bot", "ladder", "new", "old")
            .filter(pk=comparison_id)
            .first()
        )
        if comparison is None:
            return
        if _store_results(comparison):
            step = sprt.latest_point(plan_of(comparison), results(comparison))
            if step is not None and step.decision is not None:
                comparison.verdict = step.decision
                _end(comparison, State.FINISHED)
                return
        if comparison.bot.retired_at is not None or only_becomes_void(comparison):
            _end(comparison, State.CANCELLED)
            return
        _open_more(comparison)


def plan_of(comparison: Comparison) -> sprt.Plan:
    """Return the hypotheses and error rates of the test."""
    return sprt.Plan(seats=comparison.ladder.seats)


class Progress(NamedTuple):
    """How far a comparison is, as its page and the API show it.

    Attributes:
        plan: the hypotheses and error rates of the test.
        steps: the state of the test after each finished swap block.
        estimate: the gain of the new version; None with fewer than 2 blocks.
        differing: the number of blocks in which the versions' results differed.
    """

    plan: sprt.Plan
    steps: list[sprt.PathPoint]
    estimate: sprt.Estimate | None
    differing: int


def progress(comparison: Comparison) -> Progress:
    """Return the course of a comparison so far, up to its verdict."""
    plan, found = plan_of(comparison), results(comparison)
    steps = list(sprt.llr_path(plan, found))
    return Progress(
        plan=plan,
        steps=steps,
        estimate=sprt.estimate(plan, found[: len(steps)]),
        differing=steps[-1].differing if steps else 0,
    )


def results(comparison: Comparison) -> list[sprt.SwapResult]:
    """Return the results of the finished blocks by number, up to the first block still in play."""
    found: list[sprt.SwapResult] = []
    stored = comparison.blocks.filter(void=False).order_by("number")
    for difference, same_moves in stored.values_list("difference", "same_moves"):
        if difference is None or same_moves is None:
            break
        found.append(sprt.SwapResult(difference, same_moves))
    return found


def _store_results(comparison: Comparison) -> bool:
    """Store the results of blocks whose two matches are over; return whether there were any."""
    undecided = comparison.blocks.undecided().prefetch_related(
        Prefetch("matches", queryset=Match.objects.order_by("number")), "matches__seating"
    )
    decided = []
    for block in undecided:
        matches = list(block.matches.all())
        if any(match.status == Match.Status.VOID for match in matches):
            block.void = True
        elif all(match.status == Match.Status.FINISHED for match in matches):
            played = [(match_result(match, of_versions=True), match.record) for match in matches]
            found = sprt.swap_result(played, comparison.new_id, comparison.old_id)
            block.difference, block.same_moves = found
        else:
            continue
        decided.append(block)
    SwapBlock.objects.bulk_update(decided, ["difference", "same_moves", "void"])
    return bool(decided)


def only_becomes_void(comparison: Comparison) -> bool:
    """Return whether the last `MAX_VOID_BLOCKS` blocks that are over became void."""
    over = comparison.blocks.exclude(void=False, difference=None).order_by("-number")
    last = list(over.values_list("void", flat=True)[:MAX_VOID_BLOCKS])
    return len(last) == MAX_VOID_BLOCKS and all(last)


def _open_more(comparison: Comparison) -> None:
    blocks = comparison.blocks.count()
    open_now = comparison.blocks.undecided().count()
    if open_now == OPEN_BLOCKS:
        return
    opponents = _opponents_by_owner(comparison.bot, comparison.ladder)
    if len(opponents) < comparison.ladder.seats - 2:
        return  # a later tick tries again
    for number in range(blocks, blocks + OPEN_BLOCKS - open_now):
        _open_block(comparison, number, opponents)


def _open_block(
    comparison: Comparison, number: int, by_owner: Sequence[Sequence[BotVersion]]
) -> None:
    """Store a swap block with its two matches; its opponents belong to different owners."""
    ladder = comparison.ladder
    seed = derive_block_seed(bytes(comparison.seed), number)
    rng = Random(seed)
    opponents = [rng.choice(versions) for versions in rng.sample(by_owner, ladder.seats - 2)]
    seated = {version.pk: version for version in [comparison.new, comparison.old, *opponents]}
    [first, *_] = plan_block(seed, list(seated), duplicate=True).matches
    swapped = {comparison.new_id: comparison.old_id, comparison.old_id: comparison.new_id}
    block = SwapBlock.objects.create(comparison=comparison, number=number)
    for turn, seating in enumerate(
        (first.seating, tuple(swapped.get(pk, pk) for pk in first.seating))
    ):
        play.open_swap_match(
            ladder=ladder,
            swap_block=block,
            number=turn,
            deal_seed=first.deal_seed,
            versions=[seated[pk] for pk in seating],
        )


def _opponents_by_owner(bot: Bot, ladder: Ladder) -> list[list[BotVersion]]:
    """Return the current versions that the bot's versions may sit with, in a list for each owner.

    They are playable bots on the ladder, not remote and not of the bot's owner. At most one bot of
    an owner sits at a table; each house bot has a list for itself.
    """
    bots = (
        Bot.objects.playable()
        .run_by_workers()
        .filter(ladder_entries__ladder=ladder)
        .exclude(pk=bot.pk)
        .exclude(owner=bot.owner_id)
        .select_related("current__bot")
        .order_by("pk")
    )
    by_owner: dict[tuple[str, int], list[BotVersion]] = {}
    for found in bots:
        if found.current is not None:
            key = ("bot", found.pk) if found.owner_id is None else ("owner", found.owner_id)
            by_owner.setdefault(key, []).append(found.current)
    return list(by_owner.values())


def _end(comparison: Comparison, state: State) -> None:
    """End a comparison whose lock is held."""
    comparison.state = state
    comparison.ended_at = timezone.now()
    better = comparison.verdict == sprt.Decision.BETTER
    if comparison.promote and better:
        # If another version became current in the meantime, it stays current.
        comparison.promoted = bots.promote(comparison.new, instead_of=comparison.old)
    comparison.save(update_fields=["state", "ended_at", "verdict", "promoted"])
    left = Match.objects.unfinished().filter(swap_block__comparison=comparison)
    for match in left.order_by("pk"):
        play.void_match(match, "The comparison ended before this match was played.")
