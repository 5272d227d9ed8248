//! Summaries: a match as lists show it.

use prost::Message as _;
use prost_types::Timestamp;
use zetema_proto::journal::v1 as wire;
use zetema_proto::{FieldError, Wire, v1};
use zetema_rules::{Outcome, Rules};

use super::entry::{ladder_rates, visibility_from_wire, visibility_to_wire};
use super::{DecodeError, id, required, text, value};
use crate::journal::{BotName, ClientReference, LadderName, Owner, UnixMillis};
use crate::table::{DealsKind, Dealt, LadderRates, MatchInfo, MatchStage, SeatInfo, SeatState};

/// The bytes of a summary.
pub fn encode_summary(info: &MatchInfo) -> Vec<u8> {
    summary_to_wire(info).encode_to_vec()
}

/// The match that these bytes sum up.
///
/// # Errors
/// [`DecodeError`] if they are no summary.
pub fn decode_summary(bytes: &[u8]) -> Result<MatchInfo, DecodeError> {
    Ok(summary_from_wire(&wire::MatchSummary::decode(bytes)?)?)
}

/// The bots that have a seat in the match that these bytes sum up, each once. Bytes that are no summary name none.
pub fn bots_of_summary(bytes: &[u8]) -> Vec<BotName> {
    let summary = wire::MatchSummary::decode(bytes).unwrap_or_default();
    let mut names = summary.seat_bots;
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| BotName::new(name).ok()).collect()
}

/// The bytes of the answer to a creation.
pub fn encode_created(matches: &[MatchInfo]) -> Vec<u8> {
    wire::CreatedMatches { matches: matches.iter().map(summary_to_wire).collect() }.encode_to_vec()
}

/// The matches of the answer to a creation.
///
/// # Errors
/// [`DecodeError`] if the bytes are no such answer.
pub fn decode_created(bytes: &[u8]) -> Result<Vec<MatchInfo>, DecodeError> {
    let wire::CreatedMatches { matches } = wire::CreatedMatches::decode(bytes)?;
    let info = |(i, summary)| summary_from_wire(summary).map_err(|error| error.at(i).within("matches"));
    Ok(matches.iter().enumerate().map(info).collect::<Result<_, _>>()?)
}

/// A match as everyone who may see it sees it: without its owner, without its tokens' generations, and without what tells
/// the opponents, the bots' names and the owner's reference, while it may still become a no-show.
impl From<&MatchInfo> for v1::Match {
    fn from(info: &MatchInfo) -> Self {
        let MatchInfo {
            match_id,
            stage,
            rules,
            rules_revision,
            seats,
            time_control,
            deals,
            commitment,
            visibility,
            client_reference,
            owner: _,
            ladder,
            ladder_rates: _,
            created_at,
            ended_at,
            outcome,
            dealt: _,
        } = info;
        let (deals, deal_set_id) = match deals {
            DealsKind::Joint => (v1::DealsKind::Joint, String::new()),
            DealsKind::Shared(set) => (v1::DealsKind::Shared, set.to_string()),
            DealsKind::Fixed => (v1::DealsKind::Fixed, String::new()),
        };
        Self {
            match_id: match_id.to_string(),
            state: stage_to_wire(*stage).into(),
            rules: Some(rules.to_wire()),
            rules_revision: *rules_revision,
            seats: seats.iter().map(|seat| seat_to_wire(seat, *stage)).collect(),
            time_control: Some(time_control.to_wire()),
            deals: deals.into(),
            commitment: commitment.to_wire(),
            visibility: visibility_to_wire(*visibility).into(),
            client_reference: reference(client_reference.as_ref().filter(|_| shows_opponents(*stage))),
            create_time: Some(timestamp(*created_at)),
            end_time: ended_at.map(timestamp),
            outcome: outcome.as_ref().map(Wire::to_wire),
            deal_set_id,
            ladder: ladder.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// Where a match stands, as the wire says it.
pub const fn stage_to_wire(stage: MatchStage) -> v1::MatchState {
    match stage {
        MatchStage::WaitingForSeats => v1::MatchState::WaitingForSeats,
        MatchStage::WaitingForNonces => v1::MatchState::WaitingForNonces,
        MatchStage::Playing => v1::MatchState::Playing,
        MatchStage::Finished => v1::MatchState::Finished,
        MatchStage::Aborted => v1::MatchState::Aborted,
    }
}

/// Whether a seat has joined, as the wire says it.
pub const fn seat_state_to_wire(state: SeatState) -> v1::SeatState {
    match state {
        SeatState::Open => v1::SeatState::Open,
        SeatState::Joined => v1::SeatState::Joined,
        SeatState::Forfeited => v1::SeatState::Forfeited,
    }
}

/// A match as the admin and its owner see it: with the bots' names and the owner's reference from the start.
pub fn match_of_owner(info: &MatchInfo) -> v1::Match {
    let client_reference = reference(info.client_reference.as_ref());
    let mut message = v1::Match { client_reference, ..info.into() };
    for (seat, info) in message.seats.iter_mut().zip(&info.seats) {
        seat.bot_name = bot_name(info.bot.as_ref());
    }
    message
}

fn bot_name(bot: Option<&BotName>) -> String {
    bot.map(ToString::to_string).unwrap_or_default()
}

fn reference(reference: Option<&ClientReference>) -> String {
    reference.map(ToString::to_string).unwrap_or_default()
}

/// Whether the players may know who the others are: before the deal, who does not like the opponent could stay away.
const fn shows_opponents(stage: MatchStage) -> bool {
    match stage {
        MatchStage::WaitingForSeats | MatchStage::WaitingForNonces => false,
        MatchStage::Playing | MatchStage::Finished | MatchStage::Aborted => true,
    }
}

fn seat_to_wire(info: &SeatInfo, at: MatchStage) -> v1::MatchSeat {
    let SeatInfo { seat, side, bot, state, generation: _ } = info;
    let shown = bot.as_ref().filter(|_| shows_opponents(at));
    #[allow(clippy::cast_possible_truncation)]
    let side = side.index() as u32;
    v1::MatchSeat {
        seat: seat.to_wire(),
        side,
        state: seat_state_to_wire(*state).into(),
        bot_name: bot_name(shown),
    }
}

fn summary_to_wire(info: &MatchInfo) -> wire::MatchSummary {
    wire::MatchSummary {
        r#match: Some(match_of_owner(info)),
        owner: info.owner.as_ref().map(ToString::to_string).unwrap_or_default(),
        seat_generations: info.seats.iter().map(|seat| seat.generation).collect(),
        seat_bots: info.seats.iter().map(|seat| bot_name(seat.bot.as_ref())).collect(),
        aborted_after_deal: info.stage == MatchStage::Aborted && info.dealt == Dealt::Yes,
        ladder_unrated: info.ladder_rates == LadderRates::No,
    }
}

fn summary_from_wire(message: &wire::MatchSummary) -> Result<MatchInfo, FieldError> {
    let wire::MatchSummary {
        r#match,
        owner,
        seat_generations,
        seat_bots,
        aborted_after_deal,
        ladder_unrated,
    } = message;
    let Some(message) = r#match else { return Err(FieldError::missing("match")) };
    let v1::Match {
        match_id,
        state,
        rules,
        rules_revision,
        seats,
        time_control,
        deals,
        commitment,
        visibility,
        client_reference,
        create_time,
        end_time,
        outcome,
        deal_set_id,
        ladder,
    } = message;
    let rules: Rules = required("rules", rules.as_ref())?;
    let players = rules.player_count().count();
    if (seats.len(), seat_generations.len()) != (players, players) {
        return Err(FieldError::invalid("seats", "are not those of the rules"));
    }
    // Summaries of a version without bots' seats have no list of them.
    if ![0, players].contains(&seat_bots.len()) {
        return Err(FieldError::invalid("seat_bots", "are not those of the rules"));
    }
    let seat = |(i, (message, &generation)): (usize, (&v1::MatchSeat, &u32))| {
        let v1::MatchSeat { seat, side: _, state, bot_name: _ } = message;
        let seat = value("seats.seat", seat)?;
        let bot = text("seat_bots", seat_bots.get(i).map_or("", String::as_str), BotName::new)?;
        Ok(SeatInfo { seat, side: rules.side(seat), bot, state: seat_state(*state)?, generation })
    };
    let stage = stage(*state)?;
    let dealt = match stage {
        MatchStage::Playing | MatchStage::Finished => Dealt::Yes,
        MatchStage::Aborted if *aborted_after_deal => Dealt::Yes,
        MatchStage::WaitingForSeats | MatchStage::WaitingForNonces | MatchStage::Aborted => Dealt::No,
    };
    Ok(MatchInfo {
        match_id: id("match_id", match_id)?,
        stage,
        rules,
        rules_revision: *rules_revision,
        seats: seats.iter().zip(seat_generations).enumerate().map(seat).collect::<Result<_, FieldError>>()?,
        time_control: super::time_control(time_control.as_ref())?,
        deals: match v1::DealsKind::try_from(*deals) {
            Ok(v1::DealsKind::Joint) => DealsKind::Joint,
            Ok(v1::DealsKind::Shared) => DealsKind::Shared(id("deal_set_id", deal_set_id)?),
            Ok(v1::DealsKind::Fixed) => DealsKind::Fixed,
            Ok(v1::DealsKind::Unspecified) | Err(_) => {
                return Err(FieldError::invalid("deals", "are of no known kind"));
            }
        },
        commitment: value("commitment", commitment)?,
        visibility: visibility_from_wire(*visibility)?,
        client_reference: text("client_reference", client_reference, ClientReference::new)?,
        owner: text("owner", owner, Owner::new)?,
        ladder: text("ladder", ladder, LadderName::new)?,
        ladder_rates: ladder_rates(*ladder_unrated),
        created_at: time("create_time", create_time.as_ref())?
            .ok_or_else(|| FieldError::missing("create_time"))?,
        ended_at: time("end_time", end_time.as_ref())?,
        outcome: outcome.as_ref().map(|outcome| value::<Outcome>("outcome", outcome)).transpose()?,
        dealt,
    })
}

fn time(field: &'static str, message: Option<&Timestamp>) -> Result<Option<UnixMillis>, FieldError> {
    message.map(millis).transpose().map_err(|error| error.within(field))
}

fn stage(message: i32) -> Result<MatchStage, FieldError> {
    match v1::MatchState::try_from(message) {
        Ok(v1::MatchState::WaitingForSeats) => Ok(MatchStage::WaitingForSeats),
        Ok(v1::MatchState::WaitingForNonces) => Ok(MatchStage::WaitingForNonces),
        Ok(v1::MatchState::Playing) => Ok(MatchStage::Playing),
        Ok(v1::MatchState::Finished) => Ok(MatchStage::Finished),
        Ok(v1::MatchState::Aborted) => Ok(MatchStage::Aborted),
        Ok(v1::MatchState::Unspecified) | Err(_) => {
            Err(FieldError::invalid("state", "is none that is known"))
        }
    }
}

fn seat_state(message: i32) -> Result<SeatState, FieldError> {
    match v1::SeatState::try_from(message) {
        Ok(v1::SeatState::Open) => Ok(SeatState::Open),
        Ok(v1::SeatState::Joined) => Ok(SeatState::Joined),
        Ok(v1::SeatState::Forfeited) => Ok(SeatState::Forfeited),
        Ok(v1::SeatState::Unspecified) | Err(_) => {
            Err(FieldError::invalid("seats.state", "is none that is known"))
        }
    }
}

/// A wall-clock time as a message.
pub(crate) fn timestamp(at: UnixMillis) -> Timestamp {
    let (seconds, ms) = (at.get() / 1_000, at.get() % 1_000);
    #[allow(clippy::cast_possible_truncation)]
    let nanos = ms as i32 * 1_000_000;
    Timestamp { seconds: i64::try_from(seconds).unwrap_or(i64::MAX), nanos }
}

/// The last second of the year 9999, where the timestamps of protobuf end.
const LAST_SECOND: u64 = 253_402_300_799;

/// The wall-clock time of a message, cut to milliseconds.
///
/// # Errors
/// A [`FieldError`] without a path if it is before 1970, after the year 9999, or no time.
pub(crate) fn millis(timestamp: &Timestamp) -> Result<UnixMillis, FieldError> {
    let Timestamp { seconds, nanos } = timestamp;
    let seconds = u64::try_from(*seconds).ok().filter(|seconds| *seconds <= LAST_SECOND);
    let nanos = u64::try_from(*nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
    let at = seconds.zip(nanos).map(|(seconds, nanos)| UnixMillis::new(seconds * 1_000 + nanos / 1_000_000));
    at.ok_or_else(|| FieldError::invalid("", "is no time from 1970 to the year 9999"))
}
