//! What the policy holds for how much.

/// The numbers of the policy. Tables by what is missing begin with nothing missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    /// What a card of a flush is worth, by how many cards the flush still lacks; in flushes.
    pub(crate) flush: [f64; 6],
    /// The same of a sequence; in sequences.
    pub(crate) sequence: [f64; 6],
    /// A card of a flush sequence, by the odds that it is complete in time; in what that scores beside a flush.
    pub(crate) flush_sequence: f64,
    /// What a card of an assembly is worth, by how many cards it still lacks; in assemblies.
    pub(crate) assembly: [f64; 5],
    /// A king or queen whose partner is here; in what its marriage adds.
    pub(crate) partner_here: f64,
    /// A king or queen whose partner may come; in what its marriage would add.
    pub(crate) partner_to_come: f64,
    /// The odds that a card which may come matters, against those that it comes.
    pub(crate) patience: f64,
    /// What declaring so many marriages gives away, in points at the start of a deal; less as it goes on.
    pub(crate) marriages_wait: [f64; 6],
    /// The fifth card of a pile; in zetemas.
    pub(crate) fifth: f64,
    /// The fourth card of a pile whose fifth this seat holds; in zetemas.
    pub(crate) fifth_own: f64,
    /// The fourth card of a pile whose fifth another may hold; in zetemas, by the odds that it does.
    pub(crate) fifth_elsewhere: f64,
    /// The fourth card of a pile whose fifth nobody holds yet; in zetemas.
    pub(crate) fifth_to_come: f64,
    /// The third card of a pile; in zetemas, for each of the last two in this hand.
    pub(crate) third: [f64; 3],
    /// The first or second card of a pile of which this seat holds no other; in zetemas.
    pub(crate) early: f64,
    /// A king or queen whose partner another may hold; in points, by the odds that one does.
    pub(crate) marries_elsewhere: f64,
}

impl Weights {
    /// What the house bots play by: found by playing the policy against itself with all numbers moved a little this
    /// way and that, on `sackson` deals of two players with seeds below 6,600,000.
    pub(crate) const HOUSE: Self = Self {
        flush: [0.091, 0.987, 0.314, 0.177, 0.112, 0.040],
        sequence: [1.088, 0.506, 0.170, 0.070, -0.003, -0.154],
        flush_sequence: 0.0,
        assembly: [0.423, 0.295, 0.042, -0.020, -0.013],
        partner_here: 0.954,
        partner_to_come: 0.539,
        patience: 1.266,
        marriages_wait: [7.864, 66.738, 29.722, 27.696, 191.097, 10.045],
        fifth: 1.0,
        fifth_own: 0.273,
        fifth_elsewhere: -0.570,
        fifth_to_come: -0.175,
        third: [-0.179, -0.028, 0.183],
        early: 0.0,
        marries_elsewhere: -27.520,
    };

    /// What is added to `Greedy` where seats draw a card more than a hand at the start of the turn: what it overlooks there.
    /// Found by playing whole `quick` matches of two players against it, each number moved by itself and all by chance, with
    /// seeds below 7,000,000. What did not matter is 0.
    pub(crate) const DRAW_AT_START: Self = Self {
        flush: [0.0; 6],
        sequence: [0.0; 6],
        flush_sequence: 1.35,
        assembly: [0.0; 5],
        partner_here: 0.46,
        partner_to_come: 0.81,
        patience: 1.0,
        marriages_wait: [0.0; 6],
        fifth: 0.0,
        fifth_own: 0.0,
        fifth_elsewhere: 0.0,
        fifth_to_come: -0.26,
        third: [0.0, -0.1, 0.0],
        early: -0.15,
        marries_elsewhere: 0.0,
    };
}
