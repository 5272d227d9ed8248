//! What is wrong with a record, and what kind of wrong that is.

use serde::{Serialize, Serializer};
use zetema_proto::v1;
use zetema_rules::{Place, Problem, ReplayError};

use crate::commands::record::{Found, difference};

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) result_number: u64,
    /// `None`: there is none.
    pub(super) match_id: Option<String>,
    pub(super) kind: Kind,
    pub(super) problem: String,
}

/// What kind of wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// There is no record, or it can't be read.
    Unreadable,
    /// The seed, a nonce, the dealer or a deck does not fit: the deal was not fair.
    Deal,
    /// A step is not by the rules, or its points, or what they come to.
    Play,
    /// The ledger of the clocks.
    Clocks,
    /// The lists of results and of a ladder say something else.
    Result,
    /// A number of a result is missing, or there twice.
    Number,
}

impl Kind {
    /// The word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Deal => "deal",
            Self::Play => "play",
            Self::Clocks => "clocks",
            Self::Result => "result",
            Self::Number => "number",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What is wrong with a record by itself, and beside what the list of results and the match itself say.
pub(super) fn in_record(
    summary: &v1::RecordSummary,
    info: &v1::Match,
    record: &v1::Record,
) -> Vec<(Kind, String)> {
    let found = match Found::from_wire(record) {
        Ok(found) => found,
        Err(error) => return vec![(Kind::Unreadable, format!("{error:#}"))],
    };
    let mut all: Vec<(Kind, String)> = Vec::new();
    if let Some((error, problem)) = difference(&found) {
        all.push((kind(&error), problem));
    }
    let same = [
        ("the match's id", summary.match_id == record.match_id),
        ("the outcome", summary.outcome == record.outcome),
        ("the rules", summary.rules == record.rules),
        ("the reference", summary.client_reference == record.client_reference),
        ("the time of the creation", summary.create_time == record.create_time),
        ("the time of the end", summary.end_time == record.end_time),
    ];
    let others = same.into_iter().filter(|(_, same)| !same);
    all.extend(others.map(|(what, _)| (Kind::Result, format!("the list of results says otherwise: {what}"))));
    let seats = info.seats.iter().map(|seat| (seat.seat, seat.side, seat.bot_name.as_str()));
    let recorded = record.seats.iter().map(|seat| (seat.seat, seat.side, seat.bot_name.as_str()));
    let commitment = record.dealing.as_ref().map(|dealing| &dealing.commitment);
    let same = [
        ("the bots and their sides", seats.eq(recorded)),
        ("the ladder", info.ladder == record.ladder),
        ("who may see it", info.visibility == record.visibility),
        ("the commitment", Some(&info.commitment) == commitment),
    ];
    let others = same.into_iter().filter(|(_, same)| !same);
    all.extend(others.map(|(what, _)| (Kind::Result, format!("the match says otherwise: {what}"))));
    all
}

/// What kind of wrong a difference is. Of a deal, the deck is the seed's, and the scores are played.
const fn kind(error: &ReplayError) -> Kind {
    match (error.place, &error.problem) {
        (Place::Commitment | Place::Entrants | Place::Nonce(_) | Place::Dealer, _) | (_, Problem::Deck) => {
            Kind::Deal
        }
        (Place::Ledger(_), _) => Kind::Clocks,
        (Place::Revision | Place::Deal(_) | Place::Step(_) | Place::Outcome, _) => Kind::Play,
    }
}

/// What a ladder says otherwise of a match than its record.
pub(super) fn on_ladder(record: &v1::Record, listed: &v1::LadderResult) -> Option<String> {
    use v1::outcome::Kind as Ending;
    use v1::{EndReason, LadderResultReason as Reason, LadderSeatEnd as End};
    let ending = record.outcome.as_ref().and_then(|outcome| outcome.kind.as_ref());
    let reason = match ending {
        Some(Ending::Aborted(_)) | None => Reason::Aborted,
        Some(Ending::Result(result)) => match result.reason() {
            EndReason::Target => Reason::Target,
            EndReason::DealOver => Reason::DealOver,
            EndReason::Forfeit => Reason::Forfeit,
            EndReason::Unspecified => Reason::Unspecified,
        },
    };
    let forfeited = |seat: u32| {
        let mut steps = record.steps.iter().filter_map(|step| step.kind.as_ref());
        steps.any(|step| matches!(step, v1::step::Kind::Forfeit(forfeit) if forfeit.seat == seat))
    };
    let seat = |seat: &v1::RecordSeat| {
        let (rank, total, end) = match ending {
            Some(Ending::Result(result)) => {
                let side = usize::try_from(seat.side).ok().and_then(|side| result.sides.get(side));
                let (rank, total) = side.map_or((0, 0), |side| (side.rank, side.total));
                (rank, total, if forfeited(seat.seat) { End::Forfeited } else { End::Played })
            }
            Some(Ending::Aborted(abort)) if is_no_show(abort, seat.seat) => (0, 0, End::NoShow),
            Some(Ending::Aborted(_)) | None => (0, 0, End::Played),
        };
        (seat.bot_name.clone(), seat.side, rank, total, end)
    };
    let says = |seat: &v1::LadderSeat| (seat.bot_name.clone(), seat.side, seat.rank, seat.total, seat.end());
    let seats: Vec<_> = record.seats.iter().map(seat).collect();
    let listed_seats: Vec<_> = listed.seats.iter().map(says).collect();
    let same = [
        ("another match", listed.match_id == record.match_id),
        ("another time of its end", listed.time == record.end_time),
        ("another reason of its end", listed.reason() == reason),
        ("other bots, sides, ranks, points or forfeits", listed_seats == seats),
    ];
    let other = same.into_iter().find(|(_, same)| !same)?;
    Some(format!("the ladder {} lists {}", record.ladder, other.0))
}

/// Whether a match was aborted since this seat did not come.
fn is_no_show(abort: &v1::Abort, seat: u32) -> bool {
    matches!(abort.reason(), v1::AbortReason::NoShow | v1::AbortReason::NonceMissing)
        && abort.seats.contains(&seat)
}
