//! Bots as they are simulated.

/// How strong bots are, as their number says.
pub(crate) type Name = usize;

/// A bot. The unit of strength is the luck of one bot in one match.
#[derive(Clone, Debug)]
pub(crate) struct Bot {
    pub(crate) strength: f64,
    pub(crate) owner: usize,
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
    /// It thinks longer when it is behind: its time is out in this share of its decisions then, and in half of it otherwise.
    SlowBehind(f64),
    /// It is cut off in this share of its matches, whatever the score.
    BadConnection(f64),
    /// It resigns as soon as it is so many points behind.
    ResignsLost(i32),
    /// It loses on purpose in this share of its matches against a bot, with teams or without.
    LosesTo(Name, f64, Way),
    /// It loses on purpose in this share of the matches in which a bot is its partner.
    Fails(Name, f64, Way),
    /// It lets its time run out in this share of its decisions in which it is behind.
    TimesOutBehind(f64),
    /// It leaves this share of its matches.
    Abandons(f64),
}

/// How a match is lost on purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// By playing badly.
    PlaysBadly,
    /// By resigning before the first decision.
    Resigns,
    /// By letting the time of the first decision run out, with a stream open.
    Lapses,
    /// By resigning in the middle of the match, but only while it is not behind.
    ResignsUnlessBehind,
}
