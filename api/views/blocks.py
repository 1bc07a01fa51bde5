"""Blocks: shown to all; organisers make them void, have them played again, and take that back."""

from typing import ClassVar

from django.db.models import Prefetch
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import Organiser
from api.base import ApiView, ListView, checked, created, find_ladder, signed_in
from api.operations import operation
from api.problems import ProblemError
from api.serializers.blocks import BlockSerializer
from api.serializers.moderation import (
    DecisionSerializer,
    PreviewSerializer,
    ReplayQuery,
    ReplaySerializer,
    RestoreQuery,
)
from league import moderation
from league.models import Block, Match
from league.models.rounds import BlockQuerySet
from league.moderation import LaterStages
from league.ratings.void_marks import is_void


class BlocksView(ListView):
    """The blocks of a round."""

    ordering: ClassVar = ("number",)

    @operation("blocks_list", answers=BlockSerializer(many=True))
    def get(self, request: Request, slug: str, round_number: int) -> Response:
        """List the blocks of a round by number."""
        round_ = find_ladder(slug).rounds.filter(number=round_number).first()
        if round_ is None:
            raise ProblemError("not-found", f"The ladder {slug} has no round {round_number}.")
        return self.answer(BlockSerializer, self.page(_blocks().filter(round=round_)))


class BlockView(ApiView):
    """A block."""

    @operation("blocks_show", answers=BlockSerializer)
    def get(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Get a block with its state, and the reason if it is void."""
        return Response(BlockSerializer(_find(slug, round_number, block_number)).data)


class VoidBlockView(ApiView):
    """Making a block void, and taking that back."""

    needs: ClassVar = {"GET": Organiser, "POST": Organiser, "DELETE": Organiser}
    problems: ClassVar = {
        "GET": ("block-not-void", "block-unfinished"),
        "POST": ("block-void", "changed-meanwhile"),
        "DELETE": ("block-not-void", "block-unfinished", "changed-meanwhile"),
    }

    @operation("blocks_preview_void", answers=PreviewSerializer)
    def get(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Preview what changes if the block becomes void.

        If it is void already, preview what changes if it counts again.
        """
        block = _find(slug, round_number, block_number)
        preview = moderation.preview_restore if is_void(block) else moderation.preview_void
        return Response(PreviewSerializer(preview(block)).data)

    @operation("blocks_void", body=DecisionSerializer, answers=BlockSerializer)
    def post(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Make a block void: it changes no rating and gives no result. The reason is public.

        If the block has changed ratings already, the league computes them again without the block
        within seconds, as a new revision of the ledger. In a knockout, later stages stay.
        """
        block = _find(slug, round_number, block_number)
        sent = checked(DecisionSerializer, request)
        moderation.void_block(block=block, made_by=signed_in(request), **sent)
        return Response(BlockSerializer(_find(slug, round_number, block_number)).data)

    @operation("blocks_restore", query=RestoreQuery, answers=BlockSerializer)
    def delete(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Let a void block count again, with the same rating changes as before.

        If a new block was played in its place, the new block becomes void, and so do later stages
        that were drawn because of it.
        """
        block = _find(slug, round_number, block_number)
        moderation.restore_block(
            block=block,
            reason=self.query.get("reason", ""),
            made_by=signed_in(request),
            seen=self.query.get("seen", ""),
        )
        return Response(BlockSerializer(_find(slug, round_number, block_number)).data)


class ReplayBlockView(ApiView):
    """Playing a block again."""

    needs: ClassVar = {"GET": Organiser, "POST": Organiser}
    problems: ClassVar = {
        "GET": ("block-not-replayable",),
        "POST": ("block-not-replayable", "changed-meanwhile"),
    }

    @operation("blocks_preview_replay", query=ReplayQuery, answers=PreviewSerializer)
    def get(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Preview what changes at once if the block is played again.

        The new result is not known yet.
        """
        block = _find(slug, round_number, block_number)
        later_stages = LaterStages(self.query.get("later_stages", "keep"))
        return Response(PreviewSerializer(moderation.preview_replay(block, later_stages)).data)

    @operation("blocks_replay", body=ReplaySerializer, answers={201: BlockSerializer})
    def post(self, request: Request, slug: str, round_number: int, block_number: int) -> Response:
        """Make a block void and have the same bots play it again, with other cards.

        A new round holds the new block. In a knockout `later_stages` decides whether the
        tournament continues from this stage or keeps what was played.
        """
        block = _find(slug, round_number, block_number)
        sent = checked(ReplaySerializer, request)
        made = moderation.play_again(
            block=block,
            reason=sent["reason"],
            made_by=signed_in(request),
            later_stages=LaterStages(sent.get("later_stages", "keep")),
            seen=sent.get("seen", ""),
        )
        data = BlockSerializer(_blocks().get(pk=made.pk)).data
        path = ("ladders", slug, "rounds", made.round.number, "blocks", made.number)
        return created(data, *path)


def _blocks() -> BlockQuerySet:
    matches = Match.objects.only("block", "number").order_by("number")
    return Block.objects.select_related(
        "round__ladder", "round__tournament__ladder", "replaces__round"
    ).prefetch_related("bots__bot", Prefetch("matches", matches))


def _find(slug: str, round_number: int, block_number: int) -> Block:
    found = _blocks().filter(
        round__ladder=find_ladder(slug), round__number=round_number, number=block_number
    )
    if (block := found.first()) is None:
        raise ProblemError(
            "not-found", f"The ladder {slug} has no block {block_number} in round {round_number}."
        )
    return block
