//! NAME: a bot for twelve-days in Rust.
//!
//! The league writes a JSON text into the memory of this module and calls `choose`, which returns
//! the address and the size of a move. The text has no spaces between its parts.
//!
//! Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.

/// The text that the league writes, and the last move.
static mut INPUT: Vec<u8> = Vec::new();
static mut MOVE: String = String::new();

#[link(wasm_import_module = "league")]
extern "C" {
    fn log(pointer: *const u8, size: usize);
}

/// Prints a line that only the bot's owner sees.
#[allow(dead_code)]
fn print(text: &str) {
    unsafe { log(text.as_ptr(), text.len()) }
}

/// The league checks the bot for this game only.
#[no_mangle]
pub extern "C" fn plays_twelve_days() {}

/// Returns where the league writes the next text.
#[no_mangle]
pub extern "C" fn allocate(size: usize) -> *mut u8 {
    unsafe {
        INPUT = vec![0; size];
        (*std::ptr::addr_of_mut!(INPUT)).as_mut_ptr()
    }
}

/// Called once before the first move, with the game, the seats and the clock. Remove it if you
/// don't need it.
#[no_mangle]
pub extern "C" fn start(_pointer: *const u8, _size: usize) {}

#[no_mangle]
pub extern "C" fn choose(pointer: *const u8, size: usize) -> u64 {
    let text = unsafe { std::slice::from_raw_parts(pointer, size) };
    let chosen = best(std::str::from_utf8(text).unwrap());
    unsafe {
        MOVE = chosen;
        let kept = &*std::ptr::addr_of!(MOVE);
        (kept.as_ptr() as u64) << 32 | kept.len() as u64
    }
}

/// Returns a text between two others, such as the moves in `"legal_moves":["give 7","give 9"]`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).map_or("", |(_, rest)| rest);
    rest.split_once(to).map_or(rest, |(found, _)| found)
}

/// Returns the numbers of a list such as `7,7,9` or a move such as `play 7 6`.
fn numbers(text: &str) -> Vec<i64> {
    text.split([' ', ',']).filter_map(|part| part.parse().ok()).collect()
}

fn best(seen: &str) -> String {
    let is_partridge = seen.contains("\"game\":\"partridge\"");
    let phase = between(seen, "\"phase\":\"", "\"");
    let hand = numbers(between(seen, "\"hand\":[", "]"));
    let pot: i64 = numbers(between(seen, "\"pot\":[", "]")).iter().sum();
    let value = |text: &str| -> i64 {
        let cards = numbers(text);
        let first = cards.first().copied().unwrap_or(0);
        if is_partridge {
            // Play as many cards as possible, and lead high ones.
            return cards.len() as i64 * 100 + if phase == "lead" { first } else { 0 };
        }
        match phase {
            "award" => 0,     // a Claus gives the pot to the seat of your choice
            "give" => first,  // high cards rarely win a day
            _ if pot > 8 => -first, // much is at stake: the lowest card may win it
            // A rank scores only if you hold the most cards of it. So play first the cards that
            // you hold only once, the highest of them first.
            _ => first - 100 * hand.iter().filter(|&&rank| rank == first).count() as i64,
        }
    };
    between(seen, "\"legal_moves\":[\"", "\"]")
        .split("\",\"")
        .max_by_key(|text| value(text))
        .unwrap_or("")
        .to_string()
}
