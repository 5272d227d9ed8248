//! The numbers that a ladder rates by.

use std::ops::Deref;

use zetema_rules::{Players, Teams};

use super::rating::{Mu, OutOfRange, Rating, Sigma, within};

/// The numbers that a ladder rates by, not checked yet. All but `kappa` are in rating points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingOptions {
    /// μ₀: the strength that is expected of a bot that has not played; −50 β to 50 β.
    pub mu: f64,
    /// σ₀: how unsure that is; 10⁻⁶ to 100 β.
    pub sigma: f64,
    /// β: how much luck there is in a match; 0.001 to 1,000. Of two sides that are well known, the one that is √2 β above the
    /// other is ahead of it in 73 matches of 100.
    pub beta: f64,
    /// κ: the least part of σ² that a match leaves; 10⁻⁹ to 1.
    pub kappa: f64,
    /// τ: how much a bot may change from one of its matches to the next; 0 to σ₀. It is added to σ before each match, so that a
    /// rating never stands still.
    pub tau: f64,
    /// A rating is provisional as long as its σ is above this; 10⁻⁶ to σ₀.
    pub provisional_sigma: f64,
}

impl RatingOptions {
    /// β of a match of two.
    const BETA_OF_TWO: f64 = 10.0;

    /// The usual numbers for matches of so many players in teams that they can form: `docs/ladder.md` has the reasons and the figures.
    ///
    /// β is 10 for each opponent that a bot has in a match, added up as variances are: 10 √n for n of them. The luck of a side is that of
    /// all its members; and as a side has the same luck in each of its comparisons, all of them together say as much as one.
    ///
    /// ```
    /// # use zetema_ladder::RatingOptions;
    /// # use zetema_rules::{Players, Teams};
    /// let four = Players::new(4)?;
    /// assert_eq!(RatingOptions::usual(Players::TWO, Teams::Individual).beta, 10.0);
    /// assert_eq!(RatingOptions::usual(four, Teams::Pairs).beta, 200_f64.sqrt());
    /// assert_eq!(RatingOptions::usual(four, Teams::Individual).beta, 300_f64.sqrt());
    /// # Ok::<(), zetema_rules::RulesError>(())
    /// ```
    pub fn usual(players: Players, teams: Teams) -> Self {
        let opponents = players.seats().filter(|&seat| teams.side(seat, players).index() != 0);
        let variance: f64 = opponents.map(|_| Self::BETA_OF_TWO.powi(2)).sum();
        Self { beta: variance.sqrt(), ..Self::default() }
    }
}

/// The usual numbers for matches of two.
impl Default for RatingOptions {
    fn default() -> Self {
        Self {
            mu: 25.0,
            sigma: 25.0 / 3.0,
            beta: Self::BETA_OF_TWO,
            kappa: 0.0001,
            tau: 25.0 / 600.0,
            provisional_sigma: 4.5,
        }
    }
}

/// Whether a rating can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// Too few matches were played to say: σ is above the ladder's bound.
    Provisional,
    /// Its σ is at most the ladder's bound.
    Established,
}

/// The numbers that a ladder rates by. There is none for draws: a tie is half a win.
///
/// ```
/// # use zetema_ladder::{Certainty, RatingOptions, RatingSettings};
/// let settings = RatingSettings::new(RatingOptions { tau: 0.05, ..RatingOptions::default() })?;
/// assert_eq!(settings.certainty(settings.first()), Certainty::Provisional);
///
/// let error = RatingSettings::new(RatingOptions { beta: f64::NAN, ..RatingOptions::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "beta is NaN: give 0.001 to 1000");
/// # Ok::<(), zetema_ladder::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingSettings(RatingOptions);

impl RatingSettings {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`OutOfRange`] names the first that is out of its range.
    pub fn new(options: RatingOptions) -> Result<Self, OutOfRange> {
        let RatingOptions { mu, sigma, beta, kappa, tau, provisional_sigma } = options;
        let beta = within("beta", beta, 0.001, 1_000.0)?;
        let sigma = within("sigma", sigma, Sigma::MIN, 100.0 * beta)?;
        Ok(Self(RatingOptions {
            mu: within("mu", mu, -50.0 * beta, 50.0 * beta)?,
            sigma,
            beta,
            kappa: within("kappa", kappa, 1e-9, 1.0)?,
            tau: within("tau", tau, 0.0, sigma)?,
            provisional_sigma: within("provisional_sigma", provisional_sigma, Sigma::MIN, sigma)?,
        }))
    }

    /// The rating of a bot that has not played.
    pub fn first(&self) -> Rating {
        Rating { mu: Mu::nearest(self.mu), sigma: Sigma::nearest(self.sigma) }
    }

    /// Whether a rating can be relied on.
    pub fn certainty(&self, rating: Rating) -> Certainty {
        if rating.sigma.get() > self.provisional_sigma {
            Certainty::Provisional
        } else {
            Certainty::Established
        }
    }
}

/// The usual numbers for matches of two.
impl Default for RatingSettings {
    fn default() -> Self {
        Self(RatingOptions::default())
    }
}

impl Deref for RatingSettings {
    type Target = RatingOptions;

    fn deref(&self) -> &RatingOptions {
        &self.0
    }
}
