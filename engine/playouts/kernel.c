// Playouts of both games, fast: the rules of engine/games, move for move and draw for draw.
//
// The kernel is freestanding C for WebAssembly: no library, no allocation, one page of stack.
// `make kernel` compiles it to kernel.wasm; docs/engine.md shows the data's way. Numbers cross the
// border in one array, `io`. Every number that arrives is checked against its range on arrival
// (`take`), so that no caller can make the kernel use a wrong size or index. The subject is one:
// a rule that was split from its neighbours could not be read beside the engine. Hence one file.
//
// Luck is splitmix64 (Steele, Lea and Flood 2014). engine/playouts/luck.py draws the same numbers
// in the same order, and engine/playouts/plain.py makes the same decisions with the engine.

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))

enum { MAX_SEATS = 8, RANKS = 13, MAX_CARDS = 160, VARIANTS = 16, HELD = 4, MAX_MATCHES = 4096 };
enum { NEVER = -1, FAULT = -1 };
typedef enum { UNIFORM, TABLE } Policy;

// == Numbers in and out ===========================================================================

static i32 io[4096];
static int cursor, fault;

EXPORT(io_at) i32 *io_at(void) { return io; }
EXPORT(io_size) int io_size(void) { return sizeof io / sizeof *io; }

// Return the next number of `io`; a number outside of low to high is a fault and becomes low.
static int take(int low, int high) {
  if (cursor >= io_size()) { fault = 1; return low; }
  int value = io[cursor++];
  if (value < low || value > high) { fault = 1; return low; }
  return value;
}

static void check(int holds) { if (!holds) fault = 1; }

// == Luck =========================================================================================

static u64 luck;

INLINE u64 next(u64 *state) {
  u64 z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Return a number from 0 to n - 1: the upper half of a 32-bit word times n.
INLINE u32 below(u32 n) { return (u32)(((next(&luck) >> 32) * n) >> 32); }

INLINE void shuffle(u8 *cards, int count) {
  for (int j = count - 1; j > 0; j--) {
    u32 r = below(j + 1);
    u8 card = cards[j];
    cards[j] = cards[r];
    cards[r] = card;
  }
}

// == Small helpers ================================================================================

INLINE int count_bits(u32 mask) { return __builtin_popcount(mask); }
INLINE int lowest_bit(u32 mask) { return __builtin_ctz(mask); }

// Return the place of the n-th set bit, from 0, of a mask below 2^16. Halving takes no branches: a
// processor can't foresee those of a random n, and each wrong guess costs more than this.
INLINE int nth_bit(u32 mask, u32 n) {
  u32 place = 0;
  for (u32 width = 8; width; width >>= 1) {
    u32 in_lower = count_bits(mask >> place & ((1u << width) - 1)), is_upper = n >= in_lower;
    n -= in_lower & -is_upper;
    place += width & -is_upper;
  }
  return place;
}

// == twelve-days ==================================================================================

enum { GIVE, PLAY, AWARD, OVER };
enum { GIVE_ID = 0, PLAY_ID = RANKS, AWARD_ID = 2 * RANKS, TWELVE_ACTIONS = 2 * RANKS + MAX_SEATS };

typedef struct {
  u8 seats, days, decks, has_clauses, awards;      // the preset; awards: a winning 0 gives the pot
  u8 phase, day, first_in_pot, winner;             // winner: the seat that awards
  u8 deck_size, top;                               // deck[top] is drawn next
  u16 mask[MAX_SEATS];                             // bit r: the seat holds rank r
  u8 hand[MAX_SEATS][RANKS];                       // counts by rank
  u8 gave[MAX_SEATS], plays[MAX_SEATS], discards[RANKS], deck[MAX_CARDS];
  signed char chosen[MAX_SEATS];                   // a rank, or NEVER, in the first phase only
  i32 points[MAX_SEATS];
} Twelve;

// The table of a policy: by action id, the values that `twelve_choose` adds up.
static struct {
  i32 at_stake[2 * RANKS], on_day[12][2 * RANKS], held[HELD][2 * RANKS], taste[VARIANTS][2 * RANKS];
} cards;

INLINE void twelve_add(Twelve *s, int seat, int rank) {
  s->hand[seat][rank]++;
  s->mask[seat] |= 1u << rank;
}

INLINE void twelve_remove(Twelve *s, int seat, int rank) {
  s->mask[seat] ^= (u32)!--s->hand[seat][rank] << rank;  // no branch, as in nth_bit
}

static void twelve_forget_choices(Twelve *s) {
  for (int p = 0; p < MAX_SEATS; p++) s->chosen[p] = NEVER;
}

// Deal a new match with the rules that are in s.
static void twelve_deal(Twelve *s) {
  int count = 0;
  for (int k = 0; k < 2 * s->decks * s->has_clauses; k++) s->deck[count++] = 0;
  for (int rank = 1; rank <= s->days; rank++)
    for (int k = 0; k < rank * s->decks; k++) s->deck[count++] = rank;
  shuffle(s->deck, count);
  s->deck_size = count;
  s->top = 0;
  s->phase = GIVE;
  s->day = s->first_in_pot = 1;
  for (int r = 0; r < RANKS; r++) s->discards[r] = 0;
  for (int p = 0; p < s->seats; p++) {
    s->points[p] = s->mask[p] = 0;
    for (int r = 0; r < RANKS; r++) s->hand[p][r] = 0;
    for (int k = 0; k < s->days; k++) twelve_add(s, p, s->deck[s->top++]);
  }
  twelve_forget_choices(s);
}

static int twelve_draw(Twelve *s) {
  if (s->top == s->deck_size) {
    s->deck_size = s->top = 0;
    for (int r = 0; r < RANKS; r++)
      for (; s->discards[r]; s->discards[r]--) s->deck[s->deck_size++] = r;
    shuffle(s->deck, s->deck_size);
  }
  return s->deck[s->top++];
}

static void twelve_end_match(Twelve *s) {
  s->phase = OVER;
  for (int rank = 1; rank < RANKS; rank++) {
    int most = 1;
    for (int p = 0; p < s->seats; p++)
      if (s->hand[p][rank] > most) most = s->hand[p][rank];
    for (int p = 0; p < s->seats; p++)
      if (s->hand[p][rank] == most) s->points[p] += rank;
  }
}

// Move the pot to a seat, or nowhere; discard the plays; let each seat draw.
static void twelve_end_day(Twelve *s, int to) {
  if (to != NEVER) {
    s->points[to] += (s->first_in_pot + s->day) * (s->day + 1 - s->first_in_pot) / 2;
    s->first_in_pot = s->day + 1;
  }
  for (int p = 0; p < s->seats; p++) s->discards[s->plays[p]]++;
  for (int p = 0; p < s->seats; p++) twelve_add(s, p, twelve_draw(s));
  if (s->day == s->days) { twelve_end_match(s); return; }
  s->day++;
  s->phase = GIVE;
}

static void twelve_give(Twelve *s, const u8 *ranks) {
  for (int p = 0; p < s->seats; p++) {
    twelve_remove(s, p, ranks[p]);
    s->gave[p] = ranks[p];
  }
  for (int p = 0; p < s->seats; p++) twelve_add(s, p, ranks[p ? p - 1 : s->seats - 1]);
  s->phase = PLAY;
}

static void twelve_play(Twelve *s, const u8 *ranks) {
  u32 seen = 0, tied = 0;
  for (int p = 0; p < s->seats; p++) {
    u32 bit = 1u << ranks[p];
    twelve_remove(s, p, ranks[p]);
    tied |= seen & bit;
    seen |= bit;
    s->plays[p] = ranks[p];
  }
  u32 alone = seen & ~tied;
  if (!alone) { twelve_end_day(s, NEVER); return; }
  int lowest = lowest_bit(alone), winner = 0;
  while (ranks[winner] != lowest) winner++;
  if (lowest || !s->awards) { twelve_end_day(s, winner); return; }
  s->phase = AWARD;
  s->winner = winner;
}

// Make one phase's moves: a rank for each seat, or in AWARD the receiver at the winner's place.
static void twelve_step(Twelve *s, const u8 *moves) {
  if (s->phase == GIVE) twelve_give(s, moves);
  else if (s->phase == PLAY) twelve_play(s, moves);
  else twelve_end_day(s, moves[s->winner]);
}

INLINE int twelve_award(const Twelve *s, Policy policy) {
  if (policy == UNIFORM) {
    int other = below(s->seats - 1);
    return other + (other >= s->winner);
  }
  int poorest = s->winner ? 0 : 1;
  for (int p = 0; p < s->seats; p++)
    if (p != s->winner && s->points[p] < s->points[poorest]) poorest = p;
  return poorest;
}

// Let the policy choose for all seats but those with a given choice; return the number of moves.
INLINE int twelve_choose(const Twelve *s, Policy policy, const signed char *given, u8 *moves) {
  if (s->phase == AWARD) {
    int to = given ? given[s->winner] : NEVER;
    moves[s->winner] = to == NEVER ? twelve_award(s, policy) : to;
    return 1;
  }
  i32 value[RANKS];
  int first_id = s->phase == GIVE ? GIVE_ID : PLAY_ID;
  if (policy == TABLE) {
    int stake = (s->first_in_pot + s->day) * (s->day + 1 - s->first_in_pot) / 2;
    for (int r = 0; r < RANKS; r++)
      value[r] = stake * cards.at_stake[first_id + r] + cards.on_day[s->day - 1][first_id + r];
  }
  for (int p = 0; p < s->seats; p++) {
    u32 mask = s->mask[p];
    if (given && given[p] != NEVER) { moves[p] = given[p]; continue; }
    if (policy == UNIFORM) { moves[p] = nth_bit(mask, below(count_bits(mask))); continue; }
    const i32 *taste = cards.taste[below(VARIANTS)] + first_id;
    i32 highest = INT32_MIN;
    for (u32 rest = mask; rest; rest &= rest - 1) {
      int r = lowest_bit(rest), count = s->hand[p][r];
      i32 worth = value[r] + taste[r] + cards.held[(count < HELD ? count : HELD) - 1][first_id + r];
      if (worth > highest) { highest = worth; moves[p] = r; }
    }
  }
  return s->seats;
}

INLINE int twelve_finish(Twelve *s, Policy policy) {
  int count = 0;
  u8 moves[MAX_SEATS];
  while (s->phase != OVER) {
    count += twelve_choose(s, policy, 0, moves);
    twelve_step(s, moves);
  }
  return count;
}

// == partridge ====================================================================================
// Inside, ranks are 0 to 11, and bit r of a mask is rank r.

enum { PARTRIDGE_RANKS = 12, MAX_IN_HAND = 12, DECK = 78, NO_LOW = 12 };
enum { PASS, SINGLE, SET, STRAIGHT };
enum { SINGLE_ID = 1, SET_ID = 13, STRAIGHT_ID = 79, PARTRIDGE_ACTIONS = 145 };

typedef struct { u8 kind, low, length; } Combination;

typedef struct {
  u8 seats, rounds, hand_size;                     // the preset
  u8 round, is_over, leader, acted;                // acted: the seats that have acted in this trick
  u8 best, best_low, kind, cap;                    // the leading seat; the lead: its kind and low
  u8 size[MAX_SEATS], count[MAX_SEATS][PARTRIDGE_RANKS];
  u16 holding[MAX_SEATS][MAX_IN_HAND + 2];         // [k]: the ranks of which the seat has k or more
  Combination trick[MAX_SEATS];                    // by seat
  i32 gifts[MAX_SEATS];
} Partridge;

static i32 combinations[VARIANTS][PARTRIDGE_ACTIONS];

// Return the id of the first set of a rank, and of the first straight with that lowest rank.
INLINE int set_id(int rank) { return SET_ID + rank * (rank - 1) / 2; }
INLINE int straight_id(int low) { return STRAIGHT_ID + low * (23 - low) / 2; }

static Combination combination_of(int action) {
  if (!action) return (Combination){PASS, 0, 0};
  if (action < SET_ID) return (Combination){SINGLE, action - SINGLE_ID, 1};
  int low = 0;
  if (action < STRAIGHT_ID) {
    while (low < PARTRIDGE_RANKS - 1 && set_id(low + 1) <= action) low++;
    return (Combination){SET, low, action - set_id(low) + 2};
  }
  while (low < PARTRIDGE_RANKS - 2 && straight_id(low + 1) <= action) low++;
  return (Combination){STRAIGHT, low, action - straight_id(low) + 2};
}

INLINE void partridge_add(Partridge *s, int seat, int rank) {
  s->holding[seat][++s->count[seat][rank]] |= 1u << rank;
}

INLINE void partridge_remove(Partridge *s, int seat, int rank) {
  s->holding[seat][s->count[seat][rank]--] ^= 1u << rank;
}

INLINE void take_out(Partridge *s, int seat, Combination c) {
  s->size[seat] -= c.length;
  if (c.kind == STRAIGHT) {
    for (int r = c.low; r < c.low + c.length; r++) partridge_remove(s, seat, r);
    return;
  }
  int left = s->count[seat][c.low] -= c.length;
  for (int k = 1; k <= c.length; k++) s->holding[seat][left + k] ^= 1u << c.low;
}

static void put_back(Partridge *s, int seat, Combination c) {
  s->size[seat] += c.length;
  for (int k = 0; k < c.length; k++) partridge_add(s, seat, c.kind == STRAIGHT ? c.low + k : c.low);
}

static void empty_hand(Partridge *s, int seat) {
  for (int r = 0; r < PARTRIDGE_RANKS; r++) s->count[seat][r] = 0;
  for (int k = 0; k < MAX_IN_HAND + 2; k++) s->holding[seat][k] = 0;
}

INLINE void begin_trick(Partridge *s) {
  s->leader = s->best;
  s->acted = 0;
  s->kind = PASS;
  s->best_low = s->cap = NO_LOW;
}

static void partridge_deal(Partridge *s) {
  u8 deck[DECK];
  int count = 0, top = 0;
  for (int rank = 0; rank < PARTRIDGE_RANKS; rank++)
    for (int k = 0; k <= rank; k++) deck[count++] = rank;
  shuffle(deck, DECK);
  for (int p = 0; p < s->seats; p++) {
    empty_hand(s, p);
    for (int k = 0; k < s->hand_size; k++) partridge_add(s, p, deck[top++]);
    s->size[p] = s->hand_size;
  }
  begin_trick(s);
}

INLINE int in_turn(const Partridge *s) {
  int seat = s->leader + s->acted;
  return seat < s->seats ? seat : seat - s->seats;
}

// Winner and seats with the most cards exchange gifts; then comes the next round, or the end.
static void end_round(Partridge *s) {
  int most = 0;
  s->gifts[s->best]++;
  for (int p = 0; p < s->seats; p++)
    if (s->size[p] > most) most = s->size[p];
  for (int p = 0; p < s->seats; p++)
    if (s->size[p] == most && s->gifts[p]) { s->gifts[p]--; s->gifts[s->best]++; }
  if (s->round == s->rounds) { s->is_over = 1; return; }
  s->round++;
  partridge_deal(s);
}

INLINE void partridge_step(Partridge *s, Combination c) {
  int seat = in_turn(s);
  s->trick[seat] = c;
  if (c.kind != PASS) {
    take_out(s, seat, c);
    if (!s->acted) { s->kind = c.kind; s->cap = c.low; }
    if (c.low <= s->best_low) { s->best = seat; s->best_low = c.low; }  // the last wins a tie
  }
  if (++s->acted < s->seats) return;
  for (int p = 0; p < s->seats; p++)
    if (!s->size[p] && p != s->best) put_back(s, p, s->trick[p]);
  if (s->size[s->best]) begin_trick(s);
  else end_round(s);
}

// Return the ranks that can be the lowest card of a move, and the ranks from which a straight runs.
INLINE u32 low_enough(const Partridge *s) { return (2u << s->cap) - 1; }

// Call the statement for each legal combination of a kind with its `low` and `length`, in order.
#define EACH_SET(s, seat, cap, statement)                                        \
  for (u32 lows_ = (s)->holding[seat][2] & (cap); lows_; lows_ &= lows_ - 1) {   \
    int low = lowest_bit(lows_);                                                 \
    for (int length = 2; length <= (s)->count[seat][low]; length++) { statement; } \
  }
#define EACH_STRAIGHT(s, seat, cap, statement)                                   \
  for (u32 held_ = (s)->holding[seat][1], lows_ = held_ & held_ >> 1 & (cap); lows_; \
       lows_ &= lows_ - 1) {                                                     \
    int low = lowest_bit(lows_), run_ = lowest_bit(~(held_ >> low));             \
    for (int length = 2; length <= run_; length++) { statement; }                \
  }

// Return a random legal move: count the moves of each kind, draw one, and find it.
INLINE Combination random_combination(const Partridge *s) {
  int seat = in_turn(s), leads = !s->acted;
  const u16 *holding = s->holding[seat];
  u32 cap = low_enough(s), held = holding[1];
  int singles = 0, sets = 0, straights = 0;
  if (leads || s->kind == SINGLE) singles = count_bits(held & cap);
  if (leads || s->kind == SET)
    for (int k = 2; holding[k]; k++) sets += count_bits(holding[k] & cap);
  if (leads || s->kind == STRAIGHT) {
    u32 runs = held & held >> 1;
    for (int k = 2; runs; k++) { straights += count_bits(runs & cap); runs &= held >> k; }
  }
  int pick = (int)below(singles + sets + straights + !leads) - !leads;
  if (pick < 0) return (Combination){PASS, 0, 0};
  if (pick < singles) return (Combination){SINGLE, nth_bit(held & cap, pick), 1};
  pick -= singles;
  if (pick < sets) {
    for (u32 lows = holding[2] & cap;; lows &= lows - 1) {
      int low = lowest_bit(lows), more = s->count[seat][low] - 1;
      if (pick < more) return (Combination){SET, low, pick + 2};
      pick -= more;
    }
  }
  pick -= sets;
  for (u32 lows = held & held >> 1 & cap;; lows &= lows - 1) {
    int low = lowest_bit(lows), more = lowest_bit(~(held >> low)) - 1;
    if (pick < more) return (Combination){STRAIGHT, low, pick + 2};
    pick -= more;
  }
}

// Return the legal move with the highest worth; pass if all cards would go and then come back.
INLINE Combination best_combination(const Partridge *s) {
  const i32 *worth = combinations[below(VARIANTS)];
  int seat = in_turn(s), leads = !s->acted, highest = leads ? INT32_MIN : worth[0];
  u32 cap = low_enough(s);
  Combination best = {PASS, 0, 0};
#define TRY(kind_, id)                                                           \
  if (worth[id] > highest) {                                                     \
    highest = worth[id];                                                         \
    best = (Combination){kind_, low, length};                                    \
  }
  if (leads || s->kind == SINGLE)
    for (u32 lows = s->holding[seat][1] & cap; lows; lows &= lows - 1) {
      int low = lowest_bit(lows), length = 1;
      TRY(SINGLE, SINGLE_ID + low)
    }
  if (leads || s->kind == SET) EACH_SET(s, seat, cap, TRY(SET, set_id(low) + length - 2))
  if (leads || s->kind == STRAIGHT)
    EACH_STRAIGHT(s, seat, cap, TRY(STRAIGHT, straight_id(low) + length - 2))
#undef TRY
  if (best.kind != PASS && best.length == s->size[seat] && best.low > s->best_low)
    return (Combination){PASS, 0, 0};
  return best;
}

// Play to the end of a round; return the number of moves.
INLINE int partridge_finish(Partridge *s, Policy policy, int last) {
  int count = 0;
  while (!s->is_over && s->round <= last) {
    partridge_step(s, policy == UNIFORM ? random_combination(s) : best_combination(s));
    count++;
  }
  return count;
}

// == Hidden cards =================================================================================

enum { EXACT, SAMPLE, DEAL };
enum { MAX_OTHERS = MAX_SEATS - 1, MAX_DRAWS = 28, MAX_DEALS = 1000 };

// What an observer of twelve-days can derive; see HandsKnown in twelve_days_hidden.py. "Other" k is
// the k-th seat to the left of the observer.
static struct {
  u8 observer, size, placed_count, rest_count, has_draws, draw_count;
  u8 known[RANKS];                                 // cards that are in some other hand, by rank
  u8 rest[MAX_CARDS];                              // the cards that can be anywhere
  struct { u8 rank, last; } placed[MAX_CARDS];     // a card that one of the others 0 to last holds
  struct { u8 first, last, count; } draws[MAX_DRAWS];
} hidden;

// A flow from draws through cards in hands to ranks, and the nodes that a search has seen.
static struct {
  u8 spare[MAX_DRAWS], used[MAX_DRAWS][MAX_OTHERS][RANKS], filled[MAX_OTHERS][RANKS];
  u8 draw_seen[MAX_DRAWS], cell_seen[MAX_OTHERS][RANKS];
} flow;

static u8 other_hand[MAX_OTHERS][RANKS];

// Find a draw that explains one more card of a rank in a hand; move other cards to other draws.
static int explain(int others, int k, int rank) {
  if (flow.cell_seen[k][rank]) return 0;
  flow.cell_seen[k][rank] = 1;
  for (int t = 0; t < hidden.draw_count; t++) {
    if (flow.draw_seen[t] || k < hidden.draws[t].first || k > hidden.draws[t].last) continue;
    flow.draw_seen[t] = 1;
    if (flow.spare[t]) { flow.spare[t]--; flow.used[t][k][rank]++; return 1; }
    for (int j = hidden.draws[t].first; j <= hidden.draws[t].last; j++)
      for (int r = 0; r < RANKS; r++) {
        if (!flow.used[t][j][r]) continue;
        int found = explain(others, j, r);
        for (int i = 0; !found && i < others; i++)
          if (i != j && flow.filled[i][r] < other_hand[i][r] && explain(others, i, r)) {
            flow.filled[i][r]++;
            flow.filled[j][r]--;
            found = 1;
          }
        if (!found) continue;
        flow.used[t][j][r]--;
        flow.used[t][k][rank]++;
        return 1;
      }
  }
  return 0;
}

// Return whether draws can have brought each card of the new deck to its hand.
static int could_be(int others) {
  if (!hidden.has_draws) return 1;
  __builtin_memset(&flow, 0, sizeof flow);
  for (int t = 0; t < hidden.draw_count; t++) flow.spare[t] = hidden.draws[t].count;
  for (int r = 0; r < RANKS; r++) {
    int wanted = -hidden.known[r];
    for (int k = 0; k < others; k++) wanted += other_hand[k][r];
    for (; wanted > 0; wanted--) {
      int found = 0;
      __builtin_memset(flow.draw_seen, 0, sizeof flow.draw_seen);
      __builtin_memset(flow.cell_seen, 0, sizeof flow.cell_seen);
      for (int k = 0; !found && k < others; k++)
        if (flow.filled[k][r] < other_hand[k][r] && explain(others, k, r)) {
          flow.filled[k][r]++;
          found = 1;
        }
      if (!found) return 0;
    }
  }
  return 1;
}

// Lay the placed cards where they can be and the rest anywhere; the deck keeps what is left.
static void lay_cards(Twelve *s, int others) {
  int left[MAX_OTHERS];
  for (int k = 0; k < others; k++) {
    left[k] = hidden.size;
    for (int r = 0; r < RANKS; r++) other_hand[k][r] = 0;
  }
  for (int i = 0; i < hidden.placed_count; i++) {
    int room = 0, k = 0;
    for (int j = 0; j <= hidden.placed[i].last; j++) room += left[j];
    if (!room) { fault = 1; return; }
    int place = below(room);
    while (place >= left[k]) place -= left[k++];
    other_hand[k][hidden.placed[i].rank]++;
    left[k]--;
  }
  int count = hidden.rest_count;
  for (int i = 0; i < count; i++) s->deck[i] = hidden.rest[i];
  shuffle(s->deck, count);
  for (int k = 0; k < others; k++)
    for (; left[k]; left[k]--) other_hand[k][s->deck[--count]]++;
  s->deck_size = count;
  s->top = 0;
}

static void twelve_sample(Twelve *s) {
  int others = s->seats - 1;
  for (int tries = 0; tries < MAX_DEALS && !fault; tries++) {
    lay_cards(s, others);
    if (could_be(others)) break;
  }
  for (int k = 0; k < others; k++) {
    int seat = (hidden.observer + 1 + k) % s->seats;
    s->mask[seat] = 0;
    for (int r = 0; r < RANKS; r++) {
      s->hand[seat][r] = other_hand[k][r];
      s->mask[seat] |= (u32)!!other_hand[k][r] << r;
    }
  }
}

static struct { u8 known[MAX_SEATS], count, ranks[DECK]; } pool;

static void partridge_sample(Partridge *s) {
  u8 cards[DECK];
  int count = pool.count;
  for (int i = 0; i < count; i++) cards[i] = pool.ranks[i];
  shuffle(cards, count);
  for (int p = 0; p < s->seats; p++)
    if (!pool.known[p])
      for (int k = 0; k < s->size[p]; k++) partridge_add(s, p, cards[--count]);
}

// == A position from the caller ===================================================================

typedef enum { TWELVE_DAYS, PARTRIDGE } Game;

static Game game;
static int match_count, is_loaded, source, observer, move_count, moves_to_try[PARTRIDGE_ACTIONS];
static Twelve twelve;
static Partridge partridge;

static void take_twelve_rules(Twelve *s) {
  s->seats = take(3, MAX_SEATS);
  s->days = take(1, 12);
  s->decks = take(1, 2);
  s->has_clauses = take(0, 1);
  s->awards = take(0, 1);
  check(s->seats * s->days <= s->decks * (s->days * (s->days + 1) / 2 + 2 * s->has_clauses));
}

static int take_hand(Twelve *s, int seat) {
  int total = 0;
  for (int r = 0; r < RANKS; r++)
    for (int n = take(0, 13); n; n--, total++) twelve_add(s, seat, r);
  return total;
}

static void take_hidden(Twelve *s, int size) {
  int others = s->seats - 1;
  hidden.observer = observer;
  hidden.size = size;
  hidden.placed_count = take(0, others * size);
  for (int i = 0; i < hidden.placed_count; i++) {
    hidden.placed[i].rank = take(0, 12);
    hidden.placed[i].last = take(0, others - 1);
  }
  hidden.rest_count = take(others * size - hidden.placed_count, MAX_CARDS);
  for (int i = 0; i < hidden.rest_count; i++) hidden.rest[i] = take(0, 12);
  for (int r = 0; r < RANKS; r++) hidden.known[r] = take(0, MAX_CARDS);
  hidden.has_draws = take(0, 1);
  hidden.draw_count = take(0, MAX_DRAWS);
  for (int t = 0; t < hidden.draw_count; t++) {
    hidden.draws[t].first = take(0, others - 1);
    hidden.draws[t].last = take(hidden.draws[t].first, others - 1);
    hidden.draws[t].count = take(0, MAX_CARDS);
  }
}

static void take_twelve(Twelve *s) {
  __builtin_memset(s, 0, sizeof *s);
  twelve_forget_choices(s);
  take_twelve_rules(s);
  if (source == DEAL) return;
  s->phase = take(GIVE, AWARD);
  s->day = take(1, s->days);
  s->first_in_pot = take(1, s->day);
  s->winner = take(0, s->seats - 1);
  int cards = 0, size = s->days - (s->phase == AWARD);
  for (int p = 0; p < s->seats; p++) s->plays[p] = take(0, 12);
  for (int p = 0; p < s->seats; p++) s->points[p] = take(0, 10000);
  for (int r = 0; r < RANKS; r++) cards += s->discards[r] = take(0, MAX_CARDS);
  for (int p = 0; p < s->seats; p++) {
    int known = source == EXACT || p == observer;
    check(!known || take_hand(s, p) == size);
  }
  for (int p = 0; p < MAX_SEATS; p++) {
    s->chosen[p] = p < s->seats ? take(NEVER, 12) : NEVER;
    check(s->chosen[p] == NEVER || (s->phase != AWARD && s->mask[p] >> s->chosen[p] & 1));
  }
  if (source == EXACT) {
    s->deck_size = take(0, MAX_CARDS);
    for (int i = 0; i < s->deck_size; i++) s->deck[i] = take(0, 12);
    cards += s->deck_size;
  } else {
    take_hidden(s, size);
    cards += hidden.rest_count + hidden.placed_count - (s->seats - 1) * size;
  }
  // All cards fit into a deck, because a deck of all cards but the hands may be shuffled.
  check(cards + 2 * s->seats <= MAX_CARDS);
}

static void take_trick(Partridge *s) {
  begin_trick(s);
  int acted = take(0, s->seats - 1);
  for (int i = 0; i < acted; i++, s->acted++) {
    Combination c = combination_of(take(i ? 0 : 1, PARTRIDGE_ACTIONS - 1));
    s->trick[in_turn(s)] = c;
    if (c.kind == PASS) continue;
    if (!i) { s->kind = c.kind; s->cap = c.low; }
    if (c.low <= s->best_low) { s->best = in_turn(s); s->best_low = c.low; }
  }
}

static void take_partridge(Partridge *s) {
  __builtin_memset(s, 0, sizeof *s);
  s->seats = take(2, MAX_SEATS);
  s->rounds = take(1, 12);
  s->hand_size = take(1, MAX_IN_HAND);
  check(s->seats * s->hand_size <= DECK);
  for (int p = 0; p < s->seats; p++) s->gifts[p] = take(0, 1000);
  s->round = take(1, s->rounds);
  s->best = take(0, s->seats - 1);
  if (source == DEAL) return;
  take_trick(s);
  int unknown = 0;
  for (int p = 0; p < s->seats; p++) {
    s->size[p] = take(0, MAX_IN_HAND);
    check(s->size[p] || s->trick[p].kind != PASS);
  }
  for (int p = 0; p < s->seats; p++) {
    pool.known[p] = source == EXACT || take(p == observer, 1);
    int total = 0;
    for (int r = 0; pool.known[p] && r < PARTRIDGE_RANKS; r++)
      for (int n = take(0, MAX_IN_HAND - total); n; n--, total++) partridge_add(s, p, r);
    if (pool.known[p]) check(total == s->size[p]);
    else unknown += s->size[p];
  }
  pool.count = take(unknown, DECK);
  for (int i = 0; i < pool.count; i++) pool.ranks[i] = take(0, PARTRIDGE_RANKS - 1);
}

// Return whether the seat in turn may play a combination.
static int is_legal(const Partridge *s, Combination c) {
  int seat = in_turn(s);
  if (c.kind == PASS) return s->acted;
  if (s->acted && (c.kind != s->kind || c.low > s->cap)) return 0;
  if (c.kind != STRAIGHT) return s->count[seat][c.low] >= c.length;
  for (int k = 0; k < c.length; k++)
    if (!s->count[seat][c.low + k]) return 0;
  return 1;
}

static void take_moves(void) {
  move_count = take(0, source == DEAL ? 0 : PARTRIDGE_ACTIONS);
  for (int i = 0; i < move_count; i++) {
    int move = moves_to_try[i] = take(0, PARTRIDGE_ACTIONS - 1);
    if (game == PARTRIDGE)
      check(observer == in_turn(&partridge) && is_legal(&partridge, combination_of(move)));
    else if (twelve.phase == AWARD)
      check(observer == twelve.winner && move != observer && move < twelve.seats);
    else check(move < RANKS && twelve.mask[observer] >> move & 1);
  }
}

// Read a position from `io`: game, source, observer, the position itself, and the moves to try.
EXPORT(load) int load(void) {
  cursor = fault = 0;
  match_count = 0;  // their game and rules are gone
  game = take(TWELVE_DAYS, PARTRIDGE);
  source = take(EXACT, DEAL);
  observer = take(0, MAX_SEATS - 1);
  if (game == TWELVE_DAYS) take_twelve(&twelve);
  else take_partridge(&partridge);
  check(observer < (game == TWELVE_DAYS ? twelve.seats : partridge.seats));
  if (!fault) take_moves();
  if (fault) move_count = 0;
  is_loaded = !fault;
  return fault ? FAULT : 0;
}

// Read a rule-of-thumb table of a game from `io`.
EXPORT(load_table) int load_table(int of_game) {
  const int most = 1000000;  // a stake of 78 times this fits into 32 bits
  cursor = fault = 0;
  i32 *table = of_game == TWELVE_DAYS ? (i32 *)&cards : combinations[0];
  int size = (of_game == TWELVE_DAYS ? sizeof cards : sizeof combinations) / sizeof *table;
  for (int i = 0; i < size; i++) table[i] = take(-most, most);
  return fault ? FAULT : 0;
}

// == Playouts =====================================================================================

enum { PER_MOVE = 5 };

static i64 results[PER_MOVE * PARTRIDGE_ACTIONS];

EXPORT(results_at) i64 *results_at(void) { return results; }

static int seats_of_game(void) { return game == TWELVE_DAYS ? twelve.seats : partridge.seats; }

// Return two points for each seat with a lower score, one for each with the same.
static int half_points(const i32 *scores, int seats, int seat) {
  int half = 0;
  for (int p = 0; p < seats; p++)
    if (p != seat) half += (scores[seat] > scores[p]) + (scores[seat] >= scores[p]);
  return half;
}

// Return 840 shared by all seats with the highest score: all shares are whole numbers. 0 for others.
static int first_share(const i32 *scores, int seats, int seat) {
  int same = 0;
  for (int p = 0; p < seats; p++) {
    if (scores[p] > scores[seat]) return 0;
    same += scores[p] == scores[seat];
  }
  return 840 / same;
}

static Twelve twelve_now;
static Partridge partridge_now;

// Make the next state from the loaded position with fresh luck; leave the luck for the rest.
static void set_out(u64 *seeds) {
  luck = next(seeds);
  u64 rest = next(&luck);
  if (game == TWELVE_DAYS) {
    twelve_now = twelve;
    if (source == DEAL) twelve_deal(&twelve_now);
    if (source == SAMPLE) twelve_sample(&twelve_now);
  } else {
    partridge_now = partridge;
    if (source == DEAL) partridge_deal(&partridge_now);
    if (source == SAMPLE) partridge_sample(&partridge_now);
  }
  luck = rest;
}

// Play a state to its end, after one given move of the observer if there is one; return the moves.
INLINE int finish(Policy policy, int this_round, int move, Twelve *t, Partridge *p) {
  int count = 0;
  if (game == PARTRIDGE) {
    int last = this_round ? p->round : p->rounds;
    if (move != NEVER) { partridge_step(p, combination_of(move)); count = 1; }
    return count + partridge_finish(p, policy, last);
  }
  u8 moves[MAX_SEATS];
  if (move != NEVER) t->chosen[observer] = move;
  count = twelve_choose(t, policy, t->chosen, moves);
  for (int seat = 0; t->phase != AWARD && seat < t->seats; seat++) count -= twelve.chosen[seat] != NEVER;
  twelve_step(t, moves);
  return count + twelve_finish(t, policy);
}

static int run(int policy, int this_round, int move, Twelve *t, Partridge *p) {
  return policy == UNIFORM ? finish(UNIFORM, this_round, move, t, p)
                           : finish(TABLE, this_round, move, t, p);
}

// Play the loaded position on. Results: the moves made, then by seat scores, half points, shares of
// the first place.
EXPORT(play) int play(int times, int policy, int this_round, u64 seed) {
  if (!is_loaded || times < 0 || policy < UNIFORM || policy > TABLE) return FAULT;
  const i32 *scores = game == TWELVE_DAYS ? twelve_now.points : partridge_now.gifts;
  int seats = seats_of_game();
  fault = 0;
  for (int i = 0; i < 1 + 3 * MAX_SEATS; i++) results[i] = 0;
  while (times-- && !fault) {
    set_out(&seed);
    results[0] += run(policy, this_round, NEVER, &twelve_now, &partridge_now);
    for (int p = 0; p < seats; p++) {
      results[1 + p] += scores[p];
      results[1 + MAX_SEATS + p] += half_points(scores, seats, p);
      results[1 + 2 * MAX_SEATS + p] += first_share(scores, seats, p);
    }
  }
  return fault ? FAULT : 0;
}

// Play the loaded position on after each move to try. Results, for each move: half points, their
// squares, scores, leads (seats times the score, minus all scores), and the squares of the leads.
EXPORT(evaluate) int evaluate(int times, int policy, int this_round, u64 seed) {
  if (!is_loaded || times < 0 || policy < UNIFORM || policy > TABLE) return FAULT;
  Twelve t;
  Partridge p;
  const i32 *scores = game == TWELVE_DAYS ? t.points : p.gifts;
  int seats = seats_of_game();
  fault = 0;
  for (int i = 0; i < PER_MOVE * move_count; i++) results[i] = 0;
  while (times-- && !fault) {
    set_out(&seed);
    u64 rest = luck;
    for (int m = 0; m < move_count; m++) {
      luck = rest;  // the same cards and luck for each move: only the move differs
      if (game == TWELVE_DAYS) t = twelve_now;
      else p = partridge_now;
      run(policy, this_round, moves_to_try[m], &t, &p);
      i64 half = half_points(scores, seats, observer), lead = (i64)seats * scores[observer];
      for (int seat = 0; seat < seats; seat++) lead -= scores[seat];
      i64 *sums = results + PER_MOVE * m;
      sums[0] += half;
      sums[1] += half * half;
      sums[2] += scores[observer];
      sums[3] += lead;
      sums[4] += lead * lead;
    }
  }
  return fault ? FAULT : 0;
}

// == Many matches at once =========================================================================
// For training: n matches with the rules that `load` read. A step makes one phase's moves in each,
// shows the result to all seats, and deals a match that is over anew. All arrays are flat, with a
// row for each match and seat. bots_sdk/environments/compact.py lists an observation's numbers.

enum { TWELVE_NUMBERS = 33, PARTRIDGE_NUMBERS = 30, MAX_NUMBERS = 72 };  // beside those of seats

typedef struct {
  u64 luck;
  union { Twelve twelve; Partridge partridge; };
  u8 dealt[PARTRIDGE_RANKS];                       // cards in hands at the start of the round
} Match;

static Match many[MAX_MATCHES];
static u8 given_actions[MAX_MATCHES * MAX_SEATS], was_illegal[MAX_MATCHES * MAX_SEATS];
static u8 was_over[MAX_MATCHES], masks[MAX_MATCHES * MAX_SEATS * PARTRIDGE_ACTIONS];
static u8 seen[MAX_MATCHES * MAX_SEATS * MAX_NUMBERS];
static i32 final_scores[MAX_MATCHES * MAX_SEATS], final_halves[MAX_MATCHES * MAX_SEATS];
EXPORT(actions_at) u8 *actions_at(void) { return given_actions; }
EXPORT(illegal_at) u8 *illegal_at(void) { return was_illegal; }
EXPORT(over_at) u8 *over_at(void) { return was_over; }
EXPORT(masks_at) u8 *masks_at(void) { return masks; }
EXPORT(seen_at) u8 *seen_at(void) { return seen; }
EXPORT(scores_at) i32 *scores_at(void) { return final_scores; }
EXPORT(halves_at) i32 *halves_at(void) { return final_halves; }
EXPORT(numbers) int numbers(void) {
  return game == TWELVE_DAYS ? TWELVE_NUMBERS + 2 * twelve.seats
                             : PARTRIDGE_NUMBERS + 5 * partridge.seats;
}

static void show_twelve(const Twelve *s, int row) {
  for (int p = 0; p < s->seats; p++, row++) {
    u8 *mask = masks + row * TWELVE_ACTIONS, *out = seen + row * numbers();
    int right = p ? p - 1 : s->seats - 1, has_given = s->phase != GIVE;
    for (int r = 0; r < RANKS; r++) {
      mask[GIVE_ID + r] = s->phase == GIVE && s->hand[p][r];
      mask[PLAY_ID + r] = s->phase == PLAY && s->hand[p][r];
    }
    for (int q = 0; q < MAX_SEATS; q++)
      mask[AWARD_ID + q] = s->phase == AWARD && p == s->winner && q != p && q < s->seats;
    *out++ = s->phase;
    *out++ = s->day;
    *out++ = s->first_in_pot;
    *out++ = (s->first_in_pot + s->day) * (s->day + 1 - s->first_in_pot) / 2;
    *out++ = s->deck_size - s->top;
    for (int r = 0; r < RANKS; r++) *out++ = s->hand[p][r];
    for (int r = 0; r < RANKS; r++) *out++ = s->discards[r];
    *out++ = has_given ? s->gave[p] + 1 : 0;
    *out++ = has_given ? s->gave[right] + 1 : 0;
    for (int k = 0; k < s->seats; k++) {
      int q = p + k < s->seats ? p + k : p + k - s->seats;
      *out++ = s->points[q];
      *out++ = s->day > 1 || s->phase == AWARD ? s->plays[q] + 1 : 0;
    }
  }
}

static void show_partridge(const Match *match, int row) {
  const Partridge *s = &match->partridge;
  u8 discards[PARTRIDGE_RANKS];
  int turn = in_turn(s);
  for (int r = 0; r < PARTRIDGE_RANKS; r++) {
    discards[r] = match->dealt[r];
    for (int p = 0; p < s->seats; p++) discards[r] -= s->count[p][r];
  }
  for (int k = 0; k < s->acted; k++) {
    int p = s->leader + k < s->seats ? s->leader + k : s->leader + k - s->seats;
    Combination c = s->trick[p];
    for (int i = 0; i < c.length; i++) discards[c.kind == STRAIGHT ? c.low + i : c.low]--;
  }
  __builtin_memset(masks + row * PARTRIDGE_ACTIONS, 0, s->seats * PARTRIDGE_ACTIONS);
  u8 *mask = masks + (row + turn) * PARTRIDGE_ACTIONS;
  u32 cap = low_enough(s);
  mask[0] = s->acted > 0;
  if (!s->acted || s->kind == SINGLE)
    for (int r = 0; r < PARTRIDGE_RANKS; r++) mask[SINGLE_ID + r] = (s->holding[turn][1] & cap) >> r & 1;
  if (!s->acted || s->kind == SET) EACH_SET(s, turn, cap, mask[set_id(low) + length - 2] = 1)
  if (!s->acted || s->kind == STRAIGHT)
    EACH_STRAIGHT(s, turn, cap, mask[straight_id(low) + length - 2] = 1)
  for (int p = 0; p < s->seats; p++, row++) {
    u8 *out = seen + row * numbers();
    *out++ = s->acted > 0;
    *out++ = s->round;
    *out++ = s->rounds;
    *out++ = s->kind;
    *out++ = s->acted ? s->cap + 1 : 0;
    *out++ = s->leader >= p ? s->leader - p : s->leader - p + s->seats;
    for (int r = 0; r < PARTRIDGE_RANKS; r++) *out++ = s->count[p][r];
    for (int r = 0; r < PARTRIDGE_RANKS; r++) *out++ = discards[r];
    for (int k = 0; k < s->seats; k++) {
      int q = p + k < s->seats ? p + k : p + k - s->seats;
      int place = q >= s->leader ? q - s->leader : q - s->leader + s->seats;
      Combination c = place < s->acted ? s->trick[q] : (Combination){PASS, 0, 0};
      *out++ = s->size[q];
      *out++ = s->gifts[q];
      *out++ = place < s->acted;
      *out++ = c.length ? c.low + 1 : 0;
      *out++ = c.length;
    }
  }
}

static void note_deal(Match *match) {
  for (int r = 0; r < PARTRIDGE_RANKS; r++) {
    match->dealt[r] = 0;
    for (int p = 0; p < match->partridge.seats; p++) match->dealt[r] += match->partridge.count[p][r];
  }
}

static void deal_match(Match *match) {
  if (game == TWELVE_DAYS) {
    match->twelve = twelve;
    twelve_deal(&match->twelve);
  } else {
    match->partridge = partridge;
    partridge_deal(&match->partridge);
    note_deal(match);
  }
}

static void show_match(const Match *match, int row) {
  if (game == TWELVE_DAYS) show_twelve(&match->twelve, row);
  else show_partridge(match, row);
}

// Deal n matches with the rules of the loaded new match.
EXPORT(start_many) int start_many(int n, u64 seed) {
  match_count = 0;
  if (!is_loaded || source != DEAL || n < 1 || n > MAX_MATCHES) return FAULT;
  match_count = n;
  for (int i = 0; i < n; i++) {
    luck = next(&seed);
    deal_match(&many[i]);
    many[i].luck = luck;
    show_match(&many[i], i * seats_of_game());
  }
  return 0;
}

// Make the moves of a phase; a seat with an illegal action gets a random legal one.
static void step_twelve(Twelve *s, int row) {
  u8 moves[MAX_SEATS];
  int first_id = s->phase == GIVE ? GIVE_ID : s->phase == PLAY ? PLAY_ID : AWARD_ID;
  for (int p = 0; p < s->seats; p++) {
    if (s->phase == AWARD && p != s->winner) continue;
    int move = given_actions[row + p] - first_id;
    u32 legal = s->phase == AWARD ? ((1u << s->seats) - 1) & ~(1u << p) : s->mask[p];
    if (move < 0 || move >= RANKS || !(legal >> move & 1)) {
      move = nth_bit(legal, below(count_bits(legal)));
      was_illegal[row + p] = 1;
    }
    moves[p] = move;
  }
  twelve_step(s, moves);
}

static void step_partridge(Match *match, int row) {
  Partridge *s = &match->partridge;
  int action = given_actions[row + in_turn(s)], round = s->round;
  Combination c = combination_of(action < PARTRIDGE_ACTIONS ? action : 0);
  if (action >= PARTRIDGE_ACTIONS || !is_legal(s, c)) {
    was_illegal[row + in_turn(s)] = 1;
    c = random_combination(s);
  }
  partridge_step(s, c);
  if (s->round != round) note_deal(match);
}

// Make the given actions in all matches; return how many matches ended and were dealt anew.
EXPORT(step_many) int step_many(void) {
  int seats = seats_of_game(), ended = 0;
  for (int i = 0; i < match_count; i++) {
    Match *match = &many[i];
    int row = i * seats;
    luck = match->luck;
    for (int p = 0; p < seats; p++) was_illegal[row + p] = 0;
    if (game == TWELVE_DAYS) step_twelve(&match->twelve, row);
    else step_partridge(match, row);
    was_over[i] = game == TWELVE_DAYS ? match->twelve.phase == OVER : match->partridge.is_over;
    if (was_over[i]) {
      const i32 *scores = game == TWELVE_DAYS ? match->twelve.points : match->partridge.gifts;
      for (int p = 0; p < seats; p++) {
        final_scores[row + p] = scores[p];
        final_halves[row + p] = half_points(scores, seats, p);
      }
      ended++;
      deal_match(match);
    }
    match->luck = luck;
    show_match(match, row);
  }
  return ended;
}
