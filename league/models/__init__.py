"""The database models, one file a subject."""

from league.models.accounts import AccountName, DailyUse, FirstAnswer, Token
from league.models.analyses import MatchAnalysis
from league.models.archives import RoundArchive
from league.models.bots import Bot, BotVersion, FormerName
from league.models.challenges import Challenge, ChallengeBot
from league.models.comparisons import Comparison, SwapBlock
from league.models.feeds import FeedItem, Follow, Highlight
from league.models.ladders import Ladder, LadderEntry, Withdrawal
from league.models.ledger import BlockEntry, Revision, RoundEntry, VoidMark
from league.models.luck import LuckCount, TwinErrors
from league.models.matches import Match, MatchSeat
from league.models.moderation import ModerationEntry, Quarantine
from league.models.performance import Fit, PackedResults, Performance
from league.models.players import PlayerTable, SeatedPlayer
from league.models.rounds import Block, BlockBot, Bye, Round, TableCount
from league.models.standings import FrozenStanding, HeadToHead, Standing
from league.models.tournaments import EventSettings, Schedule, Tournament, TournamentEntry
from league.models.turns import Clock, Door, LiveMove, Turn
from league.models.uploads import BotSource, QualifyingMatch, SeatLog

__all__ = [
    "AccountName",
    "Block",
    "BlockBot",
    "BlockEntry",
    "Bot",
    "BotSource",
    "BotVersion",
    "Bye",
    "Challenge",
    "ChallengeBot",
    "Clock",
    "Comparison",
    "DailyUse",
    "Door",
    "EventSettings",
    "FeedItem",
    "FirstAnswer",
    "Fit",
    "Follow",
    "FormerName",
    "FrozenStanding",
    "HeadToHead",
    "Highlight",
    "Ladder",
    "LadderEntry",
    "LiveMove",
    "LuckCount",
    "Match",
    "MatchAnalysis",
    "MatchSeat",
    "ModerationEntry",
    "PackedResults",
    "Performance",
    "PlayerTable",
    "QualifyingMatch",
    "Quarantine",
    "Revision",
    "Round",
    "RoundArchive",
    "RoundEntry",
    "Schedule",
    "SeatLog",
    "SeatedPlayer",
    "Standing",
    "SwapBlock",
    "TableCount",
    "Token",
    "Tournament",
    "TournamentEntry",
    "Turn",
    "TwinErrors",
    "VoidMark",
    "Withdrawal",
]
