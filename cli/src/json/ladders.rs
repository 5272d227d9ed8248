//! Ladders, and what they say of bots.

use anyhow::{Context, Result};
use serde::Serialize;
use zetema_proto::{Wire, v1};
use zetema_rules::{Rules, TimeControl};

use super::{ConductJson, RulesJson, TimeControlJson, UNKNOWN};

/// A ladder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LadderJson {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) rules: RulesJson,
    time_control: TimeControlJson,
    rating: RatingSettingsJson,
    /// `apart`, `opponents` or `anywhere`.
    same_owner: &'static str,
    /// The owners whose bots may enter; `None`: every registered bot.
    pub(crate) owners: Option<Vec<String>>,
    pub(crate) queued_bots: u32,
    pub(crate) live_matches: u32,
    pub(crate) rated_bots: u32,
    pub(crate) rated_matches: u64,
    result_number: u64,
    lost_results: u64,
}

/// How a ladder rates, in rating points.
#[derive(Clone, Copy, Debug, Serialize)]
struct RatingSettingsJson {
    mu: f64,
    sigma: f64,
    beta: f64,
    kappa: f64,
    tau: f64,
    provisional_sigma: f64,
}

/// How strong a bot is, in rating points.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct RatingJson {
    pub(crate) mu: f64,
    pub(crate) sigma: f64,
    pub(crate) shown: f64,
    pub(crate) provisional: bool,
}

/// A bot's place.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StandingJson {
    pub(crate) rank: u32,
    pub(crate) bot: String,
    pub(crate) rating: RatingJson,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
    pub(crate) draws: u64,
    pub(crate) forfeits: u64,
    sides_met: u64,
    pub(crate) margin: i64,
    pub(crate) conduct: ConductJson,
    /// `None` until the luck of one of its matches is computed.
    pub(crate) points: Option<PointsJson>,
    /// As points, and changed with them.
    pub(crate) luck_adjusted_rating: Option<LuckAdjustedRatingJson>,
}

/// How strong a bot is by its luck-adjusted scores.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct LuckAdjustedRatingJson {
    #[serde(flatten)]
    pub(crate) rating: RatingJson,
    matches: u64,
}

/// What a bot scores a match.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PointsJson {
    pub(crate) matches: u64,
    pub(crate) scored: EstimateJson,
    pub(crate) adjusted: EstimateJson,
    luck_share: f64,
    variance_ratio: Option<f64>,
}

/// A mean, in points a match.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct EstimateJson {
    pub(crate) mean: f64,
    pub(crate) standard_error: Option<f64>,
    /// Where it is, 95 times of 100.
    pub(crate) interval: Option<IntervalJson>,
}

/// From where to where a mean is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct IntervalJson {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// What a side scored in a match, and what of it was luck, in points.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct AdjustedScoreJson {
    pub(crate) score: f64,
    pub(crate) luck: f64,
    pub(crate) adjusted: f64,
}

/// Standings that are followed: all of them, or those that changed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StandingsJson {
    pub(crate) result_number: u64,
    /// `all` or `changed`.
    pub(crate) kind: &'static str,
    pub(crate) standings: Vec<StandingJson>,
}

/// A result, with seats that say all of it, or [`LadderSeatJson`].
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LadderResultJson<S = ScoredSeatJson> {
    pub(crate) result_number: u64,
    pub(crate) match_id: String,
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) time: Option<String>,
    /// `target`, `deal-over`, `forfeit` or `aborted`.
    pub(crate) reason: &'static str,
    pub(crate) seats: Vec<S>,
}

/// A seat of a result, with what is computed after it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ScoredSeatJson {
    #[serde(flatten)]
    pub(crate) seat: LadderSeatJson,
    /// `None` until it is computed, and of a match that is not rated.
    pub(crate) adjusted_score: Option<AdjustedScoreJson>,
}

/// A seat of a result, as it stays.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LadderSeatJson {
    pub(crate) bot: String,
    pub(crate) side: u32,
    /// `None` if the match was aborted, as is the next.
    pub(crate) rank: Option<u32>,
    pub(crate) total: Option<u32>,
    /// `played`, `forfeited` or `no-show`.
    pub(crate) end: &'static str,
    pub(crate) before: Option<RatingJson>,
    pub(crate) after: Option<RatingJson>,
}

/// A bot's rating after a match.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RatingPointJson {
    pub(crate) result_number: u64,
    pub(crate) match_id: String,
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) time: Option<String>,
    pub(crate) rating: RatingJson,
}

/// How a bot did against another.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HeadToHeadJson {
    pub(crate) opponent: String,
    pub(crate) matches: u64,
    pub(crate) ahead: u64,
    pub(crate) level: u64,
    pub(crate) behind: u64,
    pub(crate) margin: i64,
}

impl LadderJson {
    /// The JSON form of a ladder.
    pub(crate) fn new(message: &v1::Ladder) -> Result<Self> {
        use v1::ladder_entry::Kind;
        let entry = message.entry.as_ref().and_then(|entry| entry.kind.as_ref());
        Ok(Self {
            name: message.name.clone(),
            description: message.description.clone(),
            rules: RulesJson::new(&rules(message)?),
            time_control: TimeControlJson::new(&time_control(message)?),
            rating: RatingSettingsJson::new(
                message.rating.as_ref().context("the server sent a ladder without its rating")?,
            ),
            same_owner: match message.same_owner() {
                v1::SameOwner::Apart => "apart",
                v1::SameOwner::Opponents => "opponents",
                v1::SameOwner::Anywhere => "anywhere",
                v1::SameOwner::Unspecified => UNKNOWN,
            },
            owners: match entry.context("the server sent a ladder without who may enter")? {
                Kind::Registered(v1::RegisteredBots {}) => None,
                Kind::Owners(v1::EntryOwners { owners }) => Some(owners.clone()),
            },
            queued_bots: message.queued_bots,
            live_matches: message.live_matches,
            rated_bots: message.rated_bots,
            rated_matches: message.rated_matches,
            result_number: message.result_number,
            lost_results: message.lost_results,
        })
    }
}

/// The rules of a ladder's matches.
pub(crate) fn rules(message: &v1::Ladder) -> Result<Rules> {
    let rules = message.rules.as_ref().context("the server sent a ladder without rules")?;
    Rules::from_wire(rules).context("the server sent rules that can't be played")
}

/// The clocks of a ladder's matches.
fn time_control(message: &v1::Ladder) -> Result<TimeControl> {
    let control = message.time_control.as_ref().context("the server sent a ladder without a time control")?;
    TimeControl::from_wire(control).context("the server sent a time control that is none")
}

impl RatingSettingsJson {
    const fn new(message: &v1::RatingSettings) -> Self {
        let v1::RatingSettings { mu, sigma, beta, kappa, tau, provisional_sigma } = *message;
        Self { mu, sigma, beta, kappa, tau, provisional_sigma }
    }
}

impl RatingJson {
    fn new(message: &v1::Rating) -> Self {
        let provisional = message.certainty() != v1::RatingCertainty::Established;
        let v1::Rating { mu, sigma, shown, certainty: _ } = *message;
        Self { mu, sigma, shown, provisional }
    }

    fn of(message: Option<&v1::Rating>) -> Result<Self> {
        message.map(Self::new).context("the server sent a bot without its rating")
    }
}

impl StandingJson {
    /// The JSON form of a standing.
    pub(crate) fn new(message: &v1::Standing) -> Result<Self> {
        let v1::Standing { rank, bot_name, rating, tally, conduct, points, luck_adjusted_rating } = message;
        let tally = tally.as_ref().context("the server sent a standing without its matches")?;
        let v1::Tally { matches, wins, draws, forfeits, sides_met, margin } = *tally;
        Ok(Self {
            rank: *rank,
            bot: bot_name.clone(),
            rating: RatingJson::of(rating.as_ref())?,
            matches,
            wins,
            draws,
            forfeits,
            sides_met,
            margin,
            conduct: ConductJson::new(conduct.as_ref()),
            points: points.as_ref().map(PointsJson::new).transpose()?,
            luck_adjusted_rating: luck_adjusted_rating
                .as_ref()
                .map(LuckAdjustedRatingJson::new)
                .transpose()?,
        })
    }
}

impl LuckAdjustedRatingJson {
    fn new(message: &v1::LuckAdjustedRating) -> Result<Self> {
        let v1::LuckAdjustedRating { rating, matches } = message;
        Ok(Self { rating: RatingJson::of(rating.as_ref())?, matches: *matches })
    }
}

impl PointsJson {
    fn new(message: &v1::PointsPerMatch) -> Result<Self> {
        let v1::PointsPerMatch { matches, scored, adjusted, luck_share, variance_ratio } = message;
        Ok(Self {
            matches: *matches,
            scored: EstimateJson::of(scored.as_ref())?,
            adjusted: EstimateJson::of(adjusted.as_ref())?,
            luck_share: *luck_share,
            variance_ratio: *variance_ratio,
        })
    }
}

impl EstimateJson {
    fn of(message: Option<&v1::PointsEstimate>) -> Result<Self> {
        let message = message.context("the server sent points per match without a mean")?;
        let v1::PointsEstimate { mean, standard_error, interval } = *message;
        let interval = interval.map(|v1::PointsInterval { from, to }| IntervalJson { from, to });
        Ok(Self { mean, standard_error, interval })
    }
}

impl AdjustedScoreJson {
    const fn new(message: &v1::AdjustedScore) -> Self {
        let v1::AdjustedScore { score, luck, adjusted } = *message;
        Self { score, luck, adjusted }
    }
}

impl StandingsJson {
    /// The JSON form of standings.
    pub(crate) fn new(result_number: u64, kind: &'static str, standings: &[v1::Standing]) -> Result<Self> {
        let standings = standings.iter().map(StandingJson::new).collect::<Result<_>>()?;
        Ok(Self { result_number, kind, standings })
    }
}

/// The word for how a match of a ladder ended.
const fn reason(reason: v1::LadderResultReason) -> &'static str {
    match reason {
        v1::LadderResultReason::Target => "target",
        v1::LadderResultReason::DealOver => "deal-over",
        v1::LadderResultReason::Forfeit => "forfeit",
        v1::LadderResultReason::Aborted => "aborted",
        v1::LadderResultReason::Unspecified => UNKNOWN,
    }
}

impl<S: for<'a> From<&'a v1::LadderSeat>> LadderResultJson<S> {
    /// The JSON form of a result.
    pub(crate) fn new(message: &v1::LadderResult) -> Self {
        Self {
            result_number: message.result_number,
            match_id: message.match_id.clone(),
            time: message.time.as_ref().map(ToString::to_string),
            reason: reason(message.reason()),
            seats: message.seats.iter().map(S::from).collect(),
        }
    }
}

impl From<&v1::LadderSeat> for ScoredSeatJson {
    fn from(message: &v1::LadderSeat) -> Self {
        let adjusted_score = message.adjusted_score.as_ref().map(AdjustedScoreJson::new);
        Self { seat: message.into(), adjusted_score }
    }
}

impl From<&v1::LadderSeat> for LadderSeatJson {
    fn from(message: &v1::LadderSeat) -> Self {
        let ranked = message.rank > 0;
        Self {
            bot: message.bot_name.clone(),
            side: message.side,
            rank: ranked.then_some(message.rank),
            total: ranked.then_some(message.total),
            end: match message.end() {
                v1::LadderSeatEnd::Played => "played",
                v1::LadderSeatEnd::Forfeited => "forfeited",
                v1::LadderSeatEnd::NoShow => "no-show",
                v1::LadderSeatEnd::Unspecified => UNKNOWN,
            },
            before: message.before.as_ref().map(RatingJson::new),
            after: message.after.as_ref().map(RatingJson::new),
        }
    }
}

impl RatingPointJson {
    /// The JSON form of a bot's rating after a match.
    pub(crate) fn new(message: &v1::RatingPoint) -> Result<Self> {
        let v1::RatingPoint { result_number, match_id, time, rating } = message;
        Ok(Self {
            result_number: *result_number,
            match_id: match_id.clone(),
            time: time.as_ref().map(ToString::to_string),
            rating: RatingJson::of(rating.as_ref())?,
        })
    }
}

impl HeadToHeadJson {
    /// The JSON form of how a bot did against another.
    pub(crate) fn new(message: &v1::HeadToHead) -> Self {
        let v1::HeadToHead { opponent_name, matches, ahead, level, behind, margin } = message;
        Self {
            opponent: opponent_name.clone(),
            matches: *matches,
            ahead: *ahead,
            level: *level,
            behind: *behind,
            margin: *margin,
        }
    }
}
