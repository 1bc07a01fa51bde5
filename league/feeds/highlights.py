"""Highlights: the most remarkable matches and bots of a day, found by a task and stored.

Pages only read the stored rows. Each search reads the matches of one day, never all of them.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import Min, QuerySet

from engine.analysis import Analysis
from engine.analysis.results import BLUNDER, MISTAKE
from engine.games.titles import GAME_TITLES
from league.feeds.moments import comeback, deciding_step, last_step, step_of_move
from league.models import Block, Bot, Highlight, Match, MatchAnalysis, Standing
from league.models.standings import SHOWN
from league.visibility import counting_results, may_see_record, public_results

_REPLAYED = 100
"""Matches that one search replays for comebacks; the next search goes on with later matches."""
_MIN_STREAK = 3
_LOOKED_THROUGH = 20
"""So many matches of the best new bot are looked through for a win."""
_KINDS = {kind: number for number, kind in enumerate(Highlight.Kind.values)}

_DAYS_SEATS = """
SELECT seat.match_id, seat.bot_id, seat.place, seat.score, seat.forfeited, block.round_id,
    match.finished_at
FROM league_matchseat AS seat
JOIN league_match AS match ON match.id = seat.match_id
JOIN league_block AS block ON block.id = match.block_id
WHERE match.game = %(game)s AND match.status = 'finished'
    AND match.finished_at >= %(start)s AND match.finished_at < %(end)s
    AND block.state = 'finished' AND block.rated
"""
_UPSET = f"""
WITH seats AS ({_DAYS_SEATS})
SELECT winner.match_id, winner.bot_id, loser.bot_id,
    (beaten.rating_before - winning.rating_before) / 1000
FROM seats AS winner
JOIN seats AS loser ON loser.match_id = winner.match_id AND loser.place > 1
JOIN league_roundentry AS winning ON winning.round_id = winner.round_id
    AND winning.bot_id = winner.bot_id
JOIN league_roundentry AS beaten ON beaten.round_id = loser.round_id
    AND beaten.bot_id = loser.bot_id AND beaten.revision = winning.revision
WHERE winner.place = 1 AND NOT loser.forfeited
    AND winning.revision = (
        SELECT max(revision) FROM league_roundentry AS entry
        WHERE entry.round_id = winning.round_id AND entry.bot_id = winning.bot_id
    )
    AND beaten.rating_before - winning.rating_before >= 1000
ORDER BY 4 DESC, 1 LIMIT 1
"""
_CLOSEST = f"""
WITH tables AS (
    SELECT match_id, array_agg(score ORDER BY score DESC) AS scores,
        array_agg(bot_id ORDER BY place, seat.bot_id) AS bots
    FROM ({_DAYS_SEATS}) AS seat
    GROUP BY match_id HAVING NOT bool_or(forfeited)
)
SELECT match_id, bots[1], bots[2], scores[1] - scores[2]
FROM tables ORDER BY 4, scores[1] DESC, 1 LIMIT 1
"""
_STREAK = f"""
WITH seats AS (
    SELECT *, row_number() OVER (PARTITION BY bot_id ORDER BY finished_at, match_id)
        - row_number() OVER (PARTITION BY bot_id, place = 1 ORDER BY finished_at, match_id)
        AS streak
    FROM ({_DAYS_SEATS}) AS seat
)
SELECT max(match_id), bot_id, NULL, count(*) FROM seats WHERE place = 1
GROUP BY bot_id, streak HAVING count(*) >= {_MIN_STREAK}
ORDER BY 4 DESC, 2 LIMIT 1
"""
_BY_QUERY = {
    Highlight.Kind.UPSET: _UPSET,
    Highlight.Kind.CLOSEST: _CLOSEST,
    Highlight.Kind.STREAK: _STREAK,
}


def find_highlights(day: date) -> None:
    """Find and store the highlights of a day so far. Safe to call any number of times."""
    start = datetime.combine(day, time(), UTC)
    end = start + timedelta(days=1)
    for game in GAME_TITLES:
        _find_by_queries(day, game, start, end)
        _find_newcomer(day, game, start, end)
        _find_comebacks(day, game, start, end)
    _find_mistakes(day)


def _find_by_queries(day: date, game: str, start: datetime, end: datetime) -> None:
    for kind, query in _BY_QUERY.items():
        with connection.cursor() as cursor:
            cursor.execute(query, {"game": game, "start": start, "end": end})
            row = cursor.fetchone()
        if row is None:  # a correction may have made its match void
            Highlight.objects.filter(day=day, kind=kind, game=game).delete()
            continue
        match, bot, opponent, number = row
        _store(
            day,
            kind,
            game,
            match_id=match,
            bot_id=bot,
            opponent_id=opponent,
            number=number,
            step=_step(day, kind, match, bot),
        )


def last_highlights() -> list[Highlight]:
    """Return the highlights of the last day that has any, each match once, the games in turn.

    Within a game they have the order of `Highlight.Kind`. Each has its bots, and its match with
    seats. A match whose result is hidden is left out.
    """
    newest = Highlight.objects.order_by("-day").values("day")[:1]
    return _in_turn(_with_matches(Highlight.objects.filter(day=newest)))


def highlights_on(days: Iterable[date]) -> list[Highlight]:
    """Return all highlights of some days, with their bots and matches, without hidden results."""
    return _with_matches(Highlight.objects.filter(day__in=days))


def kinds_of(matches: Iterable[int]) -> dict[int, str]:
    """Return which matches are an upset or a comeback, by their ids. Costs one query."""
    kinds = [Highlight.Kind.UPSET, Highlight.Kind.COMEBACK]
    rows = Highlight.objects.filter(match__in=list(matches), kind__in=kinds).order_by("-kind")
    return dict(rows.values_list("match", "kind"))


def is_close(match: Match) -> bool:
    """Return whether the best two scores are close, and nobody forfeited.

    They differ by at most 2 % of the best score: 1 of 50 points. Gifts are few, so one of them
    decides many matches, and only a tie is close.
    """
    seats = match.seating.all()
    scores = sorted((seat.score or 0 for seat in seats), reverse=True)
    is_near = (scores[0] - scores[1]) * 50 <= max(0, scores[0])
    return is_near and not any(seat.forfeited for seat in seats)


def is_shutout(match: Match) -> bool:
    """Return whether only the winner of a match has points or gifts, and nobody forfeited."""
    seats = match.seating.all()
    scores = sorted((seat.score or 0 for seat in seats), reverse=True)
    return scores[0] > 1 and scores[1] <= 0 and not any(seat.forfeited for seat in seats)


def _in_turn(found: Iterable[Highlight]) -> list[Highlight]:
    """Return highlights in the order of their kinds, the games in turn; each match once."""
    by_game: dict[str, list[Highlight]] = {}
    seen: set[int] = set()
    for each in sorted(found, key=lambda each: (_KINDS[each.kind], each.game)):
        if each.match_id and each.match_id in seen:
            continue
        seen.add(each.match_id or 0)
        by_game.setdefault(each.game, []).append(each)
    rows = zip_longest(*(by_game[game] for game in sorted(by_game, reverse=True)))
    return [each for row in rows for each in row if each is not None]


def recent_highlights(count: int) -> list[Highlight]:
    """Return the last highlights with a match, the newest day first; each match once."""
    last = Highlight.objects.exclude(match=None).order_by("-day", "kind", "pk")
    # a day more than needed, because the sort needs all highlights of a day
    last = last[: 2 * count + len(_KINDS) * len(GAME_TITLES)]
    by_match: dict[int | None, Highlight] = {}
    for each in sorted(
        _with_matches(last), key=lambda each: (-each.day.toordinal(), _KINDS[each.kind])
    ):
        by_match.setdefault(each.match_id, each)
    return list(by_match.values())[:count]


def highlights_of(bot: Bot, count: int) -> list[Highlight]:
    """Return the last highlights of a bot, the newest first, as `last_highlights` does."""
    return _with_matches(bot.highlights.order_by("-day", "kind", "pk")[:count])


def _with_matches(found: QuerySet[Highlight]) -> list[Highlight]:
    """Return highlights with their bots and matches.

    Those of matches that are hidden, or that a decision has made void, are left out.
    """
    rows = list(found.select_related("bot", "opponent", "ladder"))
    matches = Match.objects.with_deals().prefetch_related("seating__bot")
    by_id = matches.in_bulk([each.match_id for each in rows if each.match_id])
    shown = []
    for each in rows:
        if each.match_id:
            each.match = by_id[each.match_id]
            block = each.match.block
            is_void = block is not None and block.state == Block.State.VOID
            if is_void or not may_see_record(each.match):
                continue
        shown.append(each)
    return shown


def _store(day: date, kind: str, game: str, **fields: Any) -> None:
    same = Highlight.objects.filter(day=day, kind=kind, game=game, match=fields.get("match_id"))
    if not same.update(**fields):  # another match starts without the mistake of the old one
        defaults = fields | {"mistake": None}
        Highlight.objects.update_or_create(day=day, kind=kind, game=game, defaults=defaults)


def _step(day: date, kind: str, match_id: int, bot_id: int) -> int | None:
    """Return the step that shows what a highlight states; a search finds it once for a match.

    The sentence of the closest match states the final points. Otherwise the step is the one in
    which the winner took the lead.
    """
    known = Highlight.objects.filter(day=day, kind=kind, match=match_id, bot=bot_id).first()
    if known is not None:
        return known.step
    match = Match.objects.prefetch_related("seating").get(pk=match_id)
    if match.status != Match.Status.FINISHED:
        return None
    if kind == Highlight.Kind.CLOSEST:
        return last_step(match.record)
    [winner] = [seat.seat for seat in match.seating.all() if seat.bot_id == bot_id]
    return deciding_step(match.record, winner)


def _find_mistakes(day: date) -> None:
    """Store the largest mistake of each match whose analysis has come since the last search."""
    rows = Highlight.objects.filter(day=day, mistake__isnull=True).exclude(match=None)
    analysed = MatchAnalysis.objects.exclude(finished_at=None).select_related("match")
    by_match = {each.match_id: each for each in analysed.filter(match__in=rows.values("match"))}
    for row in rows:
        if (analysis := by_match.get(row.match_id or 0)) is None or analysis.result is None:
            continue
        if analysis.match.status != Match.Status.FINISHED:
            continue
        decisions = Analysis.from_json(analysis.result).decisions
        wrong = [each for each in decisions if each.mark in (MISTAKE, BLUNDER)]
        if wrong:
            worst = max(wrong, key=lambda each: each.loss)
            mistake = {
                "seat": worst.seat,
                "step": step_of_move(analysis.match.record, worst.ply),
                "move": worst.move,
                "best": worst.best,
                "loss": worst.loss,
            }
            # Another match may have taken the highlight meanwhile.
            Highlight.objects.filter(pk=row.pk, match=row.match_id).update(mistake=mistake)


def _find_newcomer(day: date, game: str, start: datetime, end: datetime) -> None:
    """Store the best of the bots that were created on a day and are rated."""
    rows = Standing.objects.filter(
        ladder__game=game,
        bot__created_at__gte=start,
        bot__created_at__lt=end,
        bot__retired_at=None,
        hidden=SHOWN,
    ).exclude(bot__kind=Bot.Kind.HOUSE)
    kind = Highlight.Kind.NEWCOMER
    best = rows.order_by("-rating", "bot_id").first()
    if best is None:  # its owner may have deleted the bot
        Highlight.objects.filter(day=day, kind=kind, game=game).delete()
        return
    win = _last_win(best.bot_id, game, start, end)
    _store(
        day,
        kind,
        game,
        bot_id=best.bot_id,
        ladder_id=best.ladder_id,
        number=round(best.rating / 1000),
        match_id=win,
        step=None if win is None else _step(day, kind, win, best.bot_id),
    )


def _last_win(bot: int, game: str, start: datetime, end: datetime) -> int | None:
    """Return the last match that a bot won alone on a day; None if its last matches have none."""
    matches = Match.objects.filter(
        counting_results(),
        game=game,
        block__rated=True,
        finished_at__gte=start,
        finished_at__lt=end,
    )
    last = matches.with_bots(bot).order_by("-finished_at").prefetch_related("seating")
    for match in last.defer("packed_record")[:_LOOKED_THROUGH]:
        winners = [seat.bot_id for seat in match.seating.all() if seat.place == 1]
        if winners == [bot]:
            return match.pk
    return None


def _find_comebacks(day: date, game: str, start: datetime, end: datetime) -> None:
    """Replay the matches that no search has replayed, and store the largest comeback.

    A match becomes public only when its block ends. So the search goes on from the first finished
    match that is still secret, and keeps the ids of the later matches that it has replayed.

    If a correction has made the match of the comeback void, the search begins anew.
    """
    key = f"comebacks-of-{day}-{game}"
    rated = Match.objects.finished().filter(
        game=game, block__rated=True, finished_at__gte=start, finished_at__lt=end
    )
    matches = rated.filter(counting_results())
    since: datetime
    replayed: dict[int, datetime]  # when each match that was replayed finished
    since, replayed = cache.get(key) or (start, {})
    known = Highlight.objects.filter(day=day, game=game, kind=Highlight.Kind.COMEBACK).first()
    if known is not None and not matches.filter(pk=known.match_id or 0).exists():
        known.delete()
        known, since, replayed = None, start, {}
    behind = 0 if known is None else known.number
    secret = rated.exclude(public_results()).aggregate(first=Min("finished_at"))["first"]
    new = matches.filter(finished_at__gte=since).exclude(pk__in=replayed).order_by("finished_at")
    last = since
    for match in new.select_related("block__round").prefetch_related("seating")[:_REPLAYED]:
        last = replayed[match.pk] = match.finished_at or last
        winners = [seat for seat in match.seating.all() if seat.place == 1]
        if len(winners) != 1 or any(seat.forfeited for seat in match.seating.all()):
            continue
        [winner] = winners
        record = match.record
        deficit = comeback(record, winner.seat)
        if deficit > behind:
            behind = deficit
            _store(
                day,
                Highlight.Kind.COMEBACK,
                game,
                match_id=match.pk,
                bot_id=winner.bot_id,
                step=deciding_step(record, winner.seat),
                number=deficit,
            )
    since = last if secret is None else min(last, secret)
    replayed = {pk: finished for pk, finished in replayed.items() if finished >= since}
    cache.set(key, (since, replayed), timeout=2 * 86_400)
