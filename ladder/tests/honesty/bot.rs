//! Bots as they are simulated.

/// How strong bots are, as their number says.
pub(crate) type Name = usize;

/// A bot. The unit of strength is the luck of one bot in one match.
#[derive(Clone, Debug)]
pub(crate) struct Bot {
    pub(crate) strength: f64,
    pub(crate) owner: usize,
    /// Bots of one style choose the same.
    pub(crate) style: u64,
    pub(crate) character: Character,
}

/// What is special about a bot. Whatever is said of a share is a chance, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Character {
    Plain,
    /// Its time is out in this share of its decisions, whenever they come.
    Slow(f64),
    /// Its time is shorter and shorter: in this share of the last decision of a match, and in less of those before.
    ShortAtTheEnd(f64),
    /// It is cut off in this share of its matches, whatever the score.
    BadConnection(f64),
    /// It chooses at random.
    Random,
    /// It plays badly in this share of its matches against a bot, with teams or without.
    LosesTo(Name, f64),
    /// It plays badly in this share of the matches in which a bot is its partner.
    Fails(Name, f64),
    /// It lets its time run out in this share of its decisions in which it is behind.
    TimesOutBehind(f64),
    /// It leaves this share of its matches.
    Abandons(f64),
    /// It chooses as its style, but for this share of the questions.
    Copies(f64),
}

/// How many questions there are. The first ones are asked more often.
pub(crate) const QUESTIONS: u64 = 3_000;

/// The answers of bots are of eight families, which agree in part.
const FAMILIES: u64 = 8;

impl Bot {
    /// What it answers to a question when a number from 0 to 1 is drawn.
    pub(crate) fn answer(&self, question: u64, drawn: f64) -> u64 {
        let own = |who: u64| mixed(who.wrapping_mul(QUESTIONS).wrapping_add(question));
        match self.character {
            // To four of ten there is but one answer that is any good.
            _ if own(1 << 40) % 10 < 4 => 0,
            Character::Random => own((1 << 41) + (drawn * 1e9) as u64) % 4,
            Character::Copies(other_share) if share(own((1 << 42) + self.owner as u64)) < other_share => {
                own((1 << 43) + self.owner as u64) % 4
            }
            _ => {
                let family = self.style % FAMILIES;
                // The first family is of one example that was changed a little: nine of ten, else six to eight.
                let kin = if family == 0 { 0.9 } else { 0.6 + 0.2 * share(mixed(family)) };
                let of = if share(own((1 << 44) + self.style)) < kin {
                    (1 << 45) + family
                } else {
                    (1 << 46) + self.style
                };
                own(of) % 4
            }
        }
    }
}

/// The last step of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
