//! Which seats of matches that are not over are for which bot.
//!
//! A stream of a bot does not get its new seats pushed: it keeps its place in the order in which they came and asks
//! for the next one when it has room. So nothing piles up for a bot that does not read, however many matches are created.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use tokio::sync::watch;
use zetema_rules::Seat;

use super::{Clock, Matches};
use crate::challenges::Playing;
use crate::journal::{
    BotName, BotToken, LadderName, Made, MatchId, Owner, Rotation, TokenNumber, UnixMillis,
};
use crate::table::{MatchInfo, MatchStage, Rejection, SeatAccess, SeatState};
use crate::tally::Tally;

/// A seat in a match that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSeat {
    /// The match.
    pub match_id: MatchId,
    /// The seat.
    pub seat: Seat,
    /// When the match was made.
    pub created_at: UnixMillis,
    /// By which run of the server. `None`: it is over by now.
    pub made: Option<Made>,
    /// Where the match stands.
    pub stage: MatchStage,
    /// Whether the seat has joined.
    pub state: SeatState,
    /// The ladder that rates the match, if one does.
    pub ladder: Option<LadderName>,
}

/// The place of a seat among all of its bot, the oldest match first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeatPlace {
    created_at: UnixMillis,
    match_id: MatchId,
    seat: Seat,
}

/// As the wire carries it: at most 64 ASCII characters.
impl fmt::Display for SeatPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}-{}-{}", self.created_at.get(), self.match_id, self.seat.index())
    }
}

/// A text that is no place of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of a welcome: give its next_live_seats_token, or none for the oldest seats")]
pub struct NoSeatPlace;

impl FromStr for SeatPlace {
    type Err = NoSeatPlace;

    fn from_str(text: &str) -> Result<Self, NoSeatPlace> {
        let number = |digits: &str| {
            let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| only_digits).ok_or(NoSeatPlace)
        };
        let mut parts = text.strip_prefix('b').ok_or(NoSeatPlace)?.split('-');
        let mut part = || parts.next().ok_or(NoSeatPlace);
        let created_at = UnixMillis::new(number(part()?)?);
        let match_id = part()?.parse().map_err(|_| NoSeatPlace)?;
        let seat = usize::try_from(number(part()?)?).ok().and_then(Seat::new).ok_or(NoSeatPlace)?;
        if parts.next().is_some() {
            return Err(NoSeatPlace);
        }
        Ok(Self { created_at, match_id, seat })
    }
}

/// What a bot has to play when it comes.
pub struct BotSeats {
    /// The seats, the oldest match first: no more than were asked for.
    pub seats: Vec<LiveSeat>,
    /// Where the list goes on. `None`: these were all.
    pub next: Option<SeatPlace>,
    /// How many seats the bot has in all.
    pub count: usize,
    /// The seats that come from now on.
    pub assignments: Assignments,
}

/// The seats that a bot gets, in the order in which they come.
pub struct Assignments {
    matches: Matches,
    bot: BotName,
    /// The number of the last one that was told.
    told: u64,
    last: watch::Receiver<u64>,
    /// Those that are not the old token's are left out.
    rotation: Option<Rotation>,
}

impl Assignments {
    /// The next seat, once there is one. Those of matches that are over by then are left out. Dropped before it is
    /// done, it loses nothing.
    pub async fn next(&mut self) -> LiveSeat {
        loop {
            let (told, seat) = self.matches.shared.bot_seats.after(&self.bot, self.told);
            self.told = told;
            match seat {
                Some((match_id, seat)) => {
                    let live = self.matches.live_seat(match_id, seat);
                    if let Some(live) = live
                        && self.rotation.is_none_or(|rotation| rotation.has(live.created_at, live.made))
                    {
                        return live;
                    }
                }
                None if self.last.wait_for(|&last| last > told).await.is_err() => {
                    // The matches go, and with them the bot's seats.
                    std::future::pending::<()>().await;
                }
                None => {}
            }
        }
    }
}

/// The seats of all bots.
#[derive(Default)]
pub(super) struct AllBotSeats {
    by_bot: RwLock<HashMap<BotName, SeatsOfBot>>,
    /// Given when all matches that earlier runs of the server have made are there.
    clock: OnceLock<Arc<dyn Clock>>,
}

/// The seats of one bot in matches that are not over, by age, and by the number that each got when it came.
struct SeatsOfBot {
    by_age: BTreeMap<SeatPlace, Place>,
    by_number: BTreeMap<u64, (MatchId, Seat)>,
    /// How many of them are in matches of no ladder, by whose those are.
    of_no_ladder: Tally<Owner>,
    last: watch::Sender<u64>,
}

/// The number of a seat among all of its bot, who made its match, and the latest of the bot's tokens that has joined it since the server
/// began.
struct Place {
    number: u64,
    made: Made,
    joined_by: Option<TokenNumber>,
}

impl Place {
    /// Whether a later token than this one, which was rotated, plays the seat.
    fn is_lost_to(&self, token: BotToken) -> bool {
        token.rotation.is_some() && self.joined_by > Some(token.number)
    }
}

impl SeatsOfBot {
    fn new() -> Self {
        let last = watch::Sender::new(0);
        Self { by_age: BTreeMap::new(), by_number: BTreeMap::new(), of_no_ladder: Tally::default(), last }
    }
}

impl AllBotSeats {
    /// What comes from now on is of this run of the server.
    pub(super) fn began(&self, clock: &Arc<dyn Clock>) {
        let _ = self.clock.set(Arc::clone(clock));
    }

    /// Takes in the seats of a match that begins.
    pub(super) fn add(&self, info: &MatchInfo) {
        let made = match self.clock.get() {
            Some(clock) => Made::Now(clock.since_start()),
            None => Made::Earlier,
        };
        for (bot, place) in places(info) {
            let mut by_bot = self.by_bot.write().unwrap_or_else(PoisonError::into_inner);
            let seats = by_bot.entry(bot.clone()).or_insert_with(SeatsOfBot::new);
            let number = *seats.last.borrow() + 1;
            seats.by_age.insert(place, Place { number, made, joined_by: None });
            seats.by_number.insert(number, (place.match_id, place.seat));
            if info.ladder.is_none() {
                seats.of_no_ladder.add(info.owner.clone());
            }
            seats.last.send_replace(number);
        }
    }

    /// Forgets the seats of a match that is over, however often it is told.
    pub(super) fn remove(&self, info: &MatchInfo) {
        for (bot, place) in places(info) {
            let mut by_bot = self.by_bot.write().unwrap_or_else(PoisonError::into_inner);
            let Some(seats) = by_bot.get_mut(bot) else { continue };
            if let Some(Place { number, .. }) = seats.by_age.remove(&place) {
                seats.by_number.remove(&number);
                if info.ladder.is_none() {
                    seats.of_no_ladder.remove(info.owner.as_ref());
                }
            }
            if seats.by_age.is_empty() && seats.last.is_closed() {
                by_bot.remove(bot);
            }
        }
    }

    /// A seat is joined by a token of its bot.
    pub(super) fn join(&self, info: &MatchInfo, seat: Seat, token: BotToken) -> Result<(), Rejection> {
        let mut by_bot = self.by_bot.write().unwrap_or_else(PoisonError::into_inner);
        let Some((bot, place)) = place_of(info, seat) else { return Ok(()) };
        // Seats of a match that is over are nobody's to take.
        let Some(place) = by_bot.get_mut(bot).and_then(|seats| seats.by_age.get_mut(&place)) else {
            return Ok(());
        };
        if place.is_lost_to(token) {
            return Err(Rejection::NewerTokenPlays);
        }
        place.joined_by = place.joined_by.max(Some(token.number));
        Ok(())
    }

    /// Whether a seat is lost to a token that was rotated, as a later one has joined it.
    fn is_lost_to(&self, info: &MatchInfo, seat: Seat, token: BotToken) -> bool {
        let by_bot = self.by_bot.read().unwrap_or_else(PoisonError::into_inner);
        let place = place_of(info, seat).and_then(|(bot, place)| by_bot.get(bot)?.by_age.get(&place));
        place.is_some_and(|place| place.is_lost_to(token))
    }

    /// Who made the match of a seat, if it is not over.
    fn made(&self, info: &MatchInfo, seat: Seat) -> Option<Made> {
        let by_bot = self.by_bot.read().unwrap_or_else(PoisonError::into_inner);
        let place = place_of(info, seat).and_then(|(bot, place)| by_bot.get(bot)?.by_age.get(&place));
        place.map(|place| place.made)
    }

    /// How many seats a bot has.
    pub(super) fn count(&self, bot: &BotName) -> usize {
        let by_bot = self.by_bot.read().unwrap_or_else(PoisonError::into_inner);
        by_bot.get(bot).map_or(0, |seats| seats.by_age.len())
    }

    fn of_no_ladder(&self, bot: &BotName, challenger: &Owner) -> Playing {
        let by_bot = self.by_bot.read().unwrap_or_else(PoisonError::into_inner);
        let playing = |seats: &SeatsOfBot| Playing {
            all: seats.of_no_ladder.all(),
            of_challenger: seats.of_no_ladder.of(challenger),
        };
        by_bot.get(bot).map(playing).unwrap_or_default()
    }

    /// The number and seat of the first that came after this number; if there is none, the number of the last.
    fn after(&self, bot: &BotName, told: u64) -> (u64, Option<(MatchId, Seat)>) {
        let by_bot = self.by_bot.read().unwrap_or_else(PoisonError::into_inner);
        let Some(seats) = by_bot.get(bot) else { return (told, None) };
        match seats.by_number.range(told.saturating_add(1)..).next() {
            Some((&number, &seat)) => (number, Some(seat)),
            None => (*seats.last.borrow(), None),
        }
    }
}

fn places(info: &MatchInfo) -> impl Iterator<Item = (&BotName, SeatPlace)> {
    let (created_at, match_id) = (info.created_at, info.match_id);
    info.seats.iter().filter_map(move |seat| {
        let place = SeatPlace { created_at, match_id, seat: seat.seat };
        seat.bot.as_ref().map(|bot| (bot, place))
    })
}

fn place_of(info: &MatchInfo, seat: Seat) -> Option<(&BotName, SeatPlace)> {
    places(info).find(|(_, place)| place.seat == seat)
}

impl Matches {
    /// The seats that a bot plays by this token in matches that are not over, at most `most` after a place, and those that come from
    /// now on. By one that was rotated it plays those of matches that were made before, and that no later token has joined.
    pub fn bot_seats(
        &self,
        bot: &BotName,
        token: BotToken,
        after: Option<SeatPlace>,
        most: usize,
    ) -> BotSeats {
        use std::ops::Bound::{Excluded, Unbounded};
        let mut by_bot = self.shared.bot_seats.by_bot.write().unwrap_or_else(PoisonError::into_inner);
        let of_bot = by_bot.entry(bot.clone()).or_insert_with(SeatsOfBot::new);
        let last = of_bot.last.subscribe();
        let rotation = token.rotation;
        let has = move |at: &SeatPlace, place: &Place| {
            rotation.is_none_or(|rotation| rotation.has(at.created_at, Some(place.made)))
                && !place.is_lost_to(token)
        };
        let playable = |after| {
            let places = of_bot.by_age.range((after, Unbounded));
            places.filter(move |(at, place)| has(at, place)).map(|(at, _)| *at)
        };
        let mut places = playable(after.map_or(Unbounded, Excluded));
        let listed: Vec<SeatPlace> = places.by_ref().take(most).collect();
        let next = listed.last().copied().filter(|_| places.next().is_some());
        let count = match rotation {
            None => of_bot.by_age.len(),
            Some(_) => playable(Unbounded).count(),
        };
        let told = *last.borrow();
        drop(by_bot);
        let seats = listed.iter().filter_map(|place| self.live_seat(place.match_id, place.seat)).collect();
        let assignments = Assignments { matches: self.clone(), bot: bot.clone(), told, last, rotation };
        BotSeats { seats, next, count, assignments }
    }

    /// How many seats a bot has in matches of no ladder that are not over, in all and in those of this owner.
    pub fn seats_of_no_ladder(&self, bot: &BotName, challenger: &Owner) -> Playing {
        self.shared.bot_seats.of_no_ladder(bot, challenger)
    }

    /// A seat of a match that is not over; `None` if it is, or has no such seat.
    pub fn live_seat(&self, match_id: MatchId, seat: Seat) -> Option<LiveSeat> {
        let handle = self.handle(match_id)?;
        let info = handle.info.borrow();
        let state = info.seats.get(seat.index())?.state;
        let (created_at, ladder) = (info.created_at, info.ladder.clone());
        let made = self.shared.bot_seats.made(&info, seat);
        Some(LiveSeat { match_id, seat, created_at, made, stage: info.stage, state, ladder })
    }

    /// The seat that a token is of, if it is that token still and the match is not over.
    pub fn live_seat_of(&self, match_id: MatchId, access: SeatAccess) -> Option<LiveSeat> {
        let handle = self.handle(match_id)?;
        let info = handle.info.borrow();
        let seat = info.seats.get(access.seat.index()).filter(|seat| seat.generation == access.generation)?;
        let (seat, state, created_at) = (seat.seat, seat.state, info.created_at);
        let (made, ladder) = (self.shared.bot_seats.made(&info, seat), info.ladder.clone());
        Some(LiveSeat { match_id, seat, created_at, made, stage: info.stage, state, ladder })
    }

    /// How a bot plays a seat of its own by this token, in a match that runs or is over.
    ///
    /// # Errors
    /// [`Rejection::NotFound`] if the match or the seat is not there, or not the bot's; [`Rejection::MadeAfterRotation`] and
    /// [`Rejection::NewerTokenPlays`] by a token that was rotated; what [`Matches::get`] gives.
    pub async fn bot_access(
        &self,
        match_id: MatchId,
        seat: Seat,
        bot: &BotName,
        token: BotToken,
    ) -> Result<SeatAccess, Rejection> {
        let info = self.get(match_id).await?;
        let own = info.seats.get(seat.index()).filter(|info| info.bot.as_ref() == Some(bot));
        let generation = own.ok_or(Rejection::NotFound)?.generation;
        if let Some(rotation) = token.rotation {
            if !rotation.has(info.created_at, self.shared.bot_seats.made(&info, seat)) {
                return Err(Rejection::MadeAfterRotation(rotation));
            }
            if self.shared.bot_seats.is_lost_to(&info, seat, token) {
                return Err(Rejection::NewerTokenPlays);
            }
        }
        Ok(SeatAccess { seat, generation })
    }
}
