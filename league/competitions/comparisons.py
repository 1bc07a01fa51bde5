"""Comparisons: swap blocks of two versions against the field of a ladder, until the SPRT speaks.

Block by block one deal is played twice, the versions exchange seats and the opponents stay (spec
"Is the new version better?"). What a comparison has come to is a fold over its finished blocks in
the order in which they were planned.
"""

import secrets
from collections.abc import Sequence
from random import Random

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Prefetch
from django.utils import timezone

from engine.deals import SEED_BYTES
from engine.rating import sprt
from engine.rating.blocks import MatchResult, derive_block_seed, pair_results, plan_block
from league import bots, play
from league.models import (
    Bot,
    BotVersion,
    Comparison,
    Ladder,
    Match,
    SwapBlock,
)

AHEAD = 8
"""Blocks that are open at a time."""
State = Comparison.State


def compare(*, bot: Bot, ladder: Ladder, new: int, old: int, promote: bool = False) -> Comparison:
    """Start a comparison of two versions of a hosted bot.

    Args:
        bot: a hosted one.
        ladder: whose game, time control and field are played.
        new: number of the version that may be better.
        old: number of the other.
        promote: have the new one play from then on, instead of the old one, if it is.

    Raises:
        ValidationError: by field: no such versions, they are not ready, or to promote the new one
            although the old one doesn't play; or with a code: a version did not qualify for the
            ladder's game (``not-qualified``), another comparison of the bot is running
            (``comparison-running``), the ladder has too few bots that could play now
            (``too-few-opponents``), or the bot plays elsewhere (``not-hosted``).
    """
    if bot.kind != Bot.Kind.HOSTED:
        raise ValidationError(
            f"{bot} is a {bot.kind} bot; hosted ones are compared here.", code="not-hosted"
        )
    versions = {version.number: version for version in bot.versions.filter(number__in=[new, old])}
    for field, number in (("new", new), ("old", old)):
        if number not in versions:
            raise ValidationError({field: f"{bot} has no version {number}."})
        if versions[number].state != BotVersion.State.READY:
            raise ValidationError({field: f"Version {number} is {versions[number].state}."})
    if new == old:
        raise ValidationError({"old": "A version is not compared with itself."})
    if promote and bot.current_id != versions[old].pk:
        playing = "none does" if bot.current is None else f"version {bot.current.number} does"
        raise ValidationError(
            {
                "promote": f"Version {old} doesn't play now, {playing}, so version {new} can't "
                f"take over from it. Compare it with the one that plays, or don't promote it."
            }
        )
    for number in (new, old):
        bots.check_qualified(bot, ladder.game, versions[number])
    if len(_parties(bot, ladder)) < ladder.seats - 2:
        raise ValidationError(
            f"{ladder} has too few bots of the house and of different owners to sit with.",
            code="too-few-opponents",
        )
    try:
        with transaction.atomic():
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
            f"Another comparison of {bot} is running.", code="comparison-running"
        ) from None


def cancel_comparison(comparison: Comparison) -> None:
    """End a comparison without a verdict; one that is over stays as it is."""
    with transaction.atomic():
        locked = Comparison.objects.select_for_update(of=("self",)).get(pk=comparison.pk)
        if locked.state == State.RUNNING:
            _end(locked, State.CANCELLED)


def comparisons_to_advance() -> list[int]:
    """Return the ids of comparisons that are running."""
    return list(Comparison.objects.filter(state=State.RUNNING).values_list("pk", flat=True))


def advance_comparison(comparison_id: int) -> None:
    """Count the blocks that are played, end the comparison if they decide it, else open more."""
    with transaction.atomic():
        comparison = (
            Comparison.objects.select_for_update(of=("self",), skip_locked=True)
            .select_related("bot", "ladder", "new", "old")
            .filter(pk=comparison_id, state=State.RUNNING)
            .first()
        )
        if comparison is None:
            return
        _count(comparison)
        step = sprt.latest_point(plan_of(comparison), differences(comparison))
        if step is not None and step.decision is not None:
            comparison.verdict = step.decision
            _end(comparison, State.FINISHED)
            return
        _open_more(comparison)


def plan_of(comparison: Comparison) -> sprt.Plan:
    """Return what is tested, and how surely."""
    return sprt.Plan(seats=comparison.ladder.seats)


def steps(comparison: Comparison) -> list[sprt.PathPoint]:
    """Return the test after each block played so far."""
    return list(sprt.llr_path(plan_of(comparison), differences(comparison)))


def differences(comparison: Comparison) -> list[float]:
    """Return d of the blocks played, in the order planned, up to the first not played yet."""
    found: list[float] = []
    for difference, void in comparison.blocks.order_by("number").values_list("difference", "void"):
        if void:
            continue
        if difference is None:
            break
        found.append(difference)
    return found


def _count(comparison: Comparison) -> None:
    """Note d of the blocks whose two matches are finished since."""
    matches_of = Match.objects.defer("packed_record").order_by("number")
    undecided = comparison.blocks.filter(difference=None, void=False).prefetch_related(
        Prefetch("matches", queryset=matches_of), "matches__seating"
    )
    decided = []
    for block in undecided:
        matches = list(block.matches.all())
        if any(match.status == Match.Status.VOID for match in matches):
            block.void = True
        elif all(match.status == Match.Status.FINISHED for match in matches):
            results = [_result(match) for match in matches]
            d = sprt.block_difference(pair_results(results), comparison.new_id, comparison.old_id)
            block.difference = float(d)
        else:
            continue
        decided.append(block)
    SwapBlock.objects.bulk_update(decided, ["difference", "void"])


def _result(match: Match) -> MatchResult:
    seats = [(seat.version_id, seat.place or 0) for seat in match.seating.all()]
    versions, places = zip(*seats, strict=True)
    return MatchResult(versions, places)


def _open_more(comparison: Comparison) -> None:
    blocks = comparison.blocks.count()
    open_now = comparison.blocks.filter(difference=None, void=False).count()
    if open_now == AHEAD:
        return
    parties = _parties(comparison.bot, comparison.ladder)
    if len(parties) < comparison.ladder.seats - 2:
        return  # until there are enough again
    for number in range(blocks, blocks + AHEAD - open_now):
        _open_block(comparison, number, parties)


def _open_block(
    comparison: Comparison, number: int, parties: Sequence[Sequence[BotVersion]]
) -> None:
    """Store a swap block with its two matches, its opponents of as many parties."""
    ladder = comparison.ladder
    seed = derive_block_seed(bytes(comparison.seed), number)
    rng = Random(seed)
    opponents = [rng.choice(party) for party in rng.sample(parties, ladder.seats - 2)]
    versions = {version.pk: version for version in [comparison.new, comparison.old, *opponents]}
    [first, *_] = plan_block(seed, list(versions), duplicate=True).matches
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
            versions=[versions[pk] for pk in seating],
        )


def _parties(bot: Bot, ladder: Ladder) -> list[list[BotVersion]]:
    """Return whom the versions may sit with: what plays here, is on the ladder and isn't theirs.

    Bots of one owner are a party, of which one sits at a table; each house bot is its own.
    """
    bots = (
        Bot.objects.filter(ladder_entries__ladder=ladder, paused=False, current__isnull=False)
        .exclude(kind=Bot.Kind.REMOTE)
        .exclude(pk=bot.pk)
        .exclude(owner=bot.owner_id)
        .select_related("current__bot")
        .order_by("pk")
    )
    parties: dict[tuple[str, int], list[BotVersion]] = {}
    for found in bots:
        if found.current is not None:
            party = ("bot", found.pk) if found.owner_id is None else ("owner", found.owner_id)
            parties.setdefault(party, []).append(found.current)
    return list(parties.values())


def _end(comparison: Comparison, state: State) -> None:
    """End a comparison whose lock is held."""
    comparison.state = state
    comparison.ended_at = timezone.now()
    better = comparison.verdict == sprt.Decision.BETTER
    if comparison.promote and better:
        # One that was uploaded or promoted meanwhile has taken over; that stays.
        comparison.promoted = bots.promote(comparison.new, instead_of=comparison.old)
    comparison.save(update_fields=["state", "ended_at", "verdict", "promoted"])
    left = Match.objects.filter(
        swap_block__comparison=comparison, status__in=["waiting", "playing"]
    )
    for match in left.order_by("pk"):
        play.void_match(match)
