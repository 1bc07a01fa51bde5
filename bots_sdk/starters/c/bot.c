/* NAME: a bot for twelve-days in C.

The league writes a JSON text into the memory of this module and calls `choose`, which returns the
address and the size of a move. The text has no spaces between its parts.

Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`. */

#define EXPORT(name) __attribute__((export_name(#name)))
#define MAX_RANK 100

/* `log_text("hello", 5)` prints a line that only the bot's owner sees. */
__attribute__((import_module("league"), import_name("log")))
void log_text(const char *text, int size);

static char input[1 << 20];
static int counts[MAX_RANK]; /* how many cards of each rank are in the hand */

/* The league checks the bot for this game only. */
EXPORT(plays_twelve_days) void plays(void) {}

/* Returns where the league writes the next text. */
EXPORT(allocate) char *allocate(int size) {
  if (size > (int)sizeof input) __builtin_trap();
  return input;
}

/* Called once before the first move, with the game, the seats and the clock. Remove it if you don't
   need it. */
EXPORT(start) void start(const char *text, int size) { (void)text, (void)size; }

/* Returns the text after a key such as "\"hand\":[", or the end of the text. */
static const char *after(const char *text, const char *end, const char *key) {
  for (; text < end; text++) {
    const char *at = text, *k = key;
    while (*k && at < end && *at == *k) at++, k++;
    if (!*k) return at;
  }
  return end;
}

static int is_digit(char letter) { return '0' <= letter && letter <= '9'; }

/* Reads the numbers of a text up to a letter into `found`; returns how many. */
static int numbers(const char *text, const char *end, char until, int *found, int most) {
  int count = 0;
  while (text < end && *text != until && count < most) {
    if (!is_digit(*text)) {
      text++;
      continue;
    }
    found[count] = 0;
    for (; text < end && is_digit(*text); text++) found[count] = found[count] * 10 + *text - '0';
    count++;
  }
  return count;
}

/* Returns how good a move is; the bot plays the best. */
static int value(const char *move, const char *end, const char *phase, int pot, int is_partridge) {
  int cards[64], count = numbers(move, end, '"', cards, 64);
  /* In partridge, play as many cards as possible, and lead high ones. */
  if (is_partridge) return count * MAX_RANK + (*phase == 'l' && count ? cards[0] : 0);
  /* In twelve-days, a seat that wins with a Claus gives the pot to the seat of its choice. */
  if (*phase == 'a') return 0;
  /* Give the highest card. If much is at stake, play the lowest, which may win it. */
  if (*phase == 'g') return cards[0];
  if (pot > 8) return -cards[0];
  /* A rank scores only if you hold the most cards of it. So play first the cards that you hold only
     once, the highest of them first. */
  return cards[0] - MAX_RANK * counts[cards[0] % MAX_RANK];
}

EXPORT(choose) long long choose(const char *text, int size) {
  const char *end = text + size, *phase = after(text, end, "\"phase\":\"");
  int is_partridge = after(text, end, "\"game\":\"partridge\"") < end;
  int pot = 0, found[64], hand = numbers(after(text, end, "\"hand\":["), end, ']', found, 64);
  for (int rank = 0; rank < MAX_RANK; rank++) counts[rank] = 0;
  while (hand--) counts[found[hand] % MAX_RANK]++;
  int days = numbers(after(text, end, "\"pot\":["), end, ']', found, 64);
  while (days--) pot += found[days];
  const char *move = after(text, end, "\"legal_moves\":["), *best = move;
  int best_value = -1000000, best_size = 0;
  while (move < end && *move == '"') {
    const char *first = ++move;
    while (move < end && *move != '"') move++;
    int good = value(first, end, phase, pot, is_partridge);
    if (good > best_value) best_value = good, best = first, best_size = (int)(move - first);
    move += 2; /* the quotation mark, and a comma or the end of the list */
  }
  return (long long)(unsigned long)best << 32 | best_size;
}
