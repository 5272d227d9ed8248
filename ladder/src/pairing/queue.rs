//! Who waits on one ladder (`Queue`).

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use thiserror::Error;
use zetema_rules::Seat;

use super::bot::{BotId, OwnerId, Strength};
use super::candidate::Candidate;
use super::history::{History, SeatCounts};
use super::members::{Member, Pairing};
use super::neighbours::{Neighbours, Queued};
use super::owners::Owners;
use super::settings::PairingSettings;
use super::share::Shares;
use super::{round, seating, sides};

/// A bot that wants to play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entrant {
    /// The bot.
    pub bot: BotId,
    /// Its owner.
    pub owner: OwnerId,
    /// How strong it is taken to be.
    pub strength: Strength,
    /// How many matches it plays at once on this ladder.
    pub places: NonZeroU16,
}

/// A bot that waits: it is in the queue, is not passed over, and plays fewer matches than it has places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// The bot.
    pub bot: BotId,
    /// Its owner.
    pub owner: OwnerId,
    /// Since when, in milliseconds: it joined, or was given a match, or had the first place free again.
    pub since_ms: u64,
    /// How many matches more it would play now.
    pub free: u16,
}

/// Who waits on one ladder, with whom they lately played, and where they sat.
///
/// It knows no clock: times are milliseconds, all of one clock. Equal calls with equal arguments give equal pairings.
///
/// ```
/// use std::num::NonZeroU16;
/// use zetema_ladder::pairing::{BotId, Entrant, OwnerId, PairingSettings, Queue, Strength};
/// use zetema_rules::Preset;
///
/// let mut queue = Queue::new(PairingSettings::usual(&Preset::Sackson.rules(2, None)?));
/// for number in [1, 2] {
///     let (bot, owner) = (BotId::new(number), OwnerId::new(number));
///     queue.join(Entrant { bot, owner, strength: Strength::new(25.0, 8.3)?, places: NonZeroU16::MIN }, 0);
/// }
/// let pairings = queue.pair(1_000);
/// assert_eq!(pairings.len(), 1);
/// assert_eq!(queue.waiting().count(), 0);
/// queue.finish(&pairings[0], 61_000)?;
/// assert_eq!(queue.waiting().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Queue {
    settings: PairingSettings,
    pub(super) bots: BTreeMap<BotId, Bot>,
}

/// What is known of a bot, whether it waits or not.
#[derive(Clone, Debug)]
pub(super) struct Bot {
    pub(super) owner: OwnerId,
    pub(super) history: History,
    pub(super) seats: SeatCounts,
    playing: u32,
    place: Option<Place>,
}

/// What a bot in the queue has there.
#[derive(Clone, Copy, Debug)]
struct Place {
    strength: Strength,
    places: NonZeroU16,
    since_ms: u64,
    turn: Turn,
}

/// Whether a bot in the queue is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Taken,
    /// It is not, as it plays as many matches at once as it may.
    Busy,
    PassedOver,
}

impl Bot {
    fn new(owner: OwnerId) -> Self {
        Self { owner, history: History::default(), seats: SeatCounts::default(), playing: 0, place: None }
    }

    /// How many matches more it would play now.
    fn free(&self) -> u16 {
        let places = self.place.map_or(0, |place| place.places.get());
        places.saturating_sub(u16::try_from(self.playing).unwrap_or(u16::MAX))
    }

    /// Its place, if it waits.
    fn waits(&self) -> Option<Place> {
        self.place.filter(|place| place.turn == Turn::Taken && self.free() > 0)
    }

    /// Its place, if it would wait but for how much it plays.
    fn busy_place(&self) -> Option<Place> {
        self.place.filter(|place| place.turn == Turn::Busy && self.free() > 0)
    }

    /// One match less. Who could play no other waits from now on.
    fn ended(&mut self, now_ms: u64) {
        let was_full = self.free() == 0;
        self.playing = self.playing.saturating_sub(1);
        if was_full && self.free() > 0 {
            self.wait_from(now_ms);
        }
    }

    fn wait_from(&mut self, since_ms: u64) {
        if let Some(place) = &mut self.place {
            place.since_ms = since_ms;
        }
    }
}

impl Queue {
    /// Nobody waits.
    pub const fn new(settings: PairingSettings) -> Self {
        Self { settings, bots: BTreeMap::new() }
    }

    /// How it pairs.
    pub const fn settings(&self) -> &PairingSettings {
        &self.settings
    }

    /// The bot wants to play from now on. If it is in the queue already, its owner, its strength and its places are these from now on,
    /// and it has waited as long as before.
    pub fn join(&mut self, entrant: Entrant, now_ms: u64) {
        let Entrant { bot, owner, strength, places } = entrant;
        let known = self.bots.entry(bot).or_insert_with(|| Bot::new(owner));
        known.owner = owner;
        let has_room = known.free() > 0;
        let since_ms = known.place.filter(|_| has_room).map_or(now_ms, |place| place.since_ms);
        known.place = Some(Place { strength, places, since_ms, turn: Turn::Taken });
    }

    /// The bot stays in the queue and waits on, and is passed over until it joins again: for now it could not play.
    pub fn pass_over(&mut self, bot: BotId) {
        self.take_turn(bot, Turn::PassedOver);
    }

    /// The same, as the bot plays as many matches at once as it may on all ladders: those of others may hold it up here.
    pub fn pass_over_busy(&mut self, bot: BotId) {
        self.take_turn(bot, Turn::Busy);
    }

    fn take_turn(&mut self, bot: BotId, turn: Turn) {
        if let Some(place) = self.bots.get_mut(&bot).and_then(|bot| bot.place.as_mut()) {
            place.turn = turn;
        }
    }

    /// The bot has another strength from now on. Whoever is not in the queue has none there.
    pub fn rate(&mut self, bot: BotId, strength: Strength) {
        if let Some(place) = self.bots.get_mut(&bot).and_then(|bot| bot.place.as_mut()) {
            place.strength = strength;
        }
    }

    /// The bot wants no more matches. Those that it plays go on, and what is remembered of it stays.
    pub fn leave(&mut self, bot: BotId) {
        if let Some(bot) = self.bots.get_mut(&bot) {
            bot.place = None;
        }
    }

    /// Forgets a bot that plays here no more, such as one that was retired.
    ///
    /// # Errors
    /// [`StillPlaying`] if it plays, as the end of its matches would be another bot's.
    pub fn forget(&mut self, bot: BotId) -> Result<(), StillPlaying> {
        let playing = self.bots.get(&bot).map_or(0, |bot| bot.playing);
        if playing > 0 {
            return Err(StillPlaying { bot, playing });
        }
        self.leave(bot);
        self.bots.remove(&bot);
        Ok(())
    }

    /// Who waits, by number.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> {
        self.bots.iter().filter_map(|(&bot, known)| {
            let place = known.waits()?;
            Some(Waiting { bot, owner: known.owner, since_ms: place.since_ms, free: known.free() })
        })
    }

    /// Since when the one waits whose patience is over and who has waited longest, if [`Self::could_pair`]: then others hold it up, and not
    /// that nobody is there.
    ///
    /// Where a match takes more than two, nobody waits and no match is played, those count who are [busy](Self::pass_over_busy) with
    /// those of other ladders: they may never all be free at the same moment. Two are as soon as a match of theirs is over.
    pub fn starves_since(&self, now_ms: u64) -> Option<u64> {
        let longest = |place: fn(&Bot) -> Option<Place>| {
            let places = self.bots.values().filter_map(place);
            places.map(|place| place.since_ms).min()
        };
        let is_played = || self.bots.values().any(|bot| bot.playing > 0);
        let busy = || {
            if self.settings.players.count() > 2 && !is_played() { longest(Bot::busy_place) } else { None }
        };
        let since_ms = longest(Bot::waits).or_else(busy)?;
        let is_over = now_ms.saturating_sub(since_ms) >= self.settings.patience_ms;
        (is_over && self.could_pair()).then_some(since_ms)
    }

    /// Whether a match could be made of all who are in the queue: those too that are passed over, or play as much as they can.
    pub fn could_pair(&self) -> bool {
        let mut owners = Owners::new(self.settings.most_of_an_owner());
        for bot in self.bots.values().filter(|bot| bot.place.is_some()) {
            owners.add(bot.owner);
        }
        owners.compatible() >= self.settings.players.count()
    }

    /// Whether the bot is in the queue and plays fewer matches of it than it has places, passed over or not.
    pub fn has_room(&self, bot: BotId) -> bool {
        self.bots.get(&bot).is_some_and(|bot| bot.free() > 0)
    }

    /// How many matches the bot plays.
    pub fn playing(&self, bot: BotId) -> u32 {
        self.bots.get(&bot).map_or(0, |bot| bot.playing)
    }

    /// How often the bot had each seat.
    pub fn seat_counts(&self, bot: BotId) -> SeatCounts {
        self.bots.get(&bot).map(|bot| bot.seats).unwrap_or_default()
    }

    /// Makes the matches of this moment, at most one for each bot: a bot with more places has its next one by the next call. The
    /// members play from now on, and with places left they wait anew from now on. Matches are in the order of who had waited longest.
    ///
    /// Who waits longest is served first, and from [`patience_ms`](super::PairingOptions::patience_ms) on by whoever may play with it:
    /// `docs/pairing.md` says what follows for how long one can wait. Takes n·log n of the bots that wait.
    pub fn pair(&mut self, now_ms: u64) -> Vec<Pairing> {
        // Those that play as much as they can too.
        let queued: Vec<Queued> = self
            .bots
            .iter()
            .filter_map(|(&id, bot)| {
                Some(Queued { id, owner: bot.owner, rating: bot.place?.strength.rating() })
            })
            .collect();
        let shares = Shares::new(&self.settings, &queued);
        let candidates = self.bots.iter().filter_map(|(&id, bot)| {
            let place = bot.waits()?;
            let share = shares.of(bot.owner);
            Some(Candidate { id, bot, strength: place.strength, since_ms: place.since_ms, share })
        });
        let candidates = candidates.collect();
        let groups =
            round::groups(&self.settings, candidates, Neighbours::new(&self.settings, queued), now_ms);
        let pairings: Vec<Pairing> = groups.iter().map(|group| self.seated(group)).collect();
        for pairing in &pairings {
            self.begin(pairing);
            for member in pairing.members() {
                if let Some(bot) = self.bots.get_mut(&member.bot) {
                    bot.wait_from(now_ms);
                }
            }
        }
        pairings
    }

    /// A match goes on that was made before the queue was, as after a restart: it takes places, and is remembered.
    pub fn resume(&mut self, pairing: &Pairing) {
        self.begin(pairing);
    }

    /// A match was played before the queue was made: it is remembered. Oldest first.
    pub fn remember(&mut self, pairing: &Pairing) {
        let most = usize::from(self.settings.remembered_matches);
        for (seat, _, member) in pairing.seats() {
            let bot = self.bots.entry(member.bot).or_insert_with(|| Bot::new(member.owner));
            bot.history.remember(pairing, seat, most);
            bot.seats.sat(seat);
        }
    }

    /// A match is over: its members have its places again.
    ///
    /// # Errors
    /// [`NotPlaying`] if one of them plays no match; then nothing is changed.
    pub fn finish(&mut self, pairing: &Pairing, now_ms: u64) -> Result<(), NotPlaying> {
        self.end(pairing, now_ms, |_, _, _| {})
    }

    /// A match was not dealt, as somebody did not come: it is forgotten, and its members have waited as long as if it had never been
    /// made. Let those who did not come [`leave`](Self::leave) first.
    ///
    /// # Errors
    /// [`NotPlaying`] if one of them plays no match; then nothing is changed.
    pub fn abandon(&mut self, pairing: &Pairing, now_ms: u64) -> Result<(), NotPlaying> {
        self.end(pairing, now_ms, |bot, seat, member| {
            bot.history.take_back(pairing, seat);
            bot.seats.take_back(seat);
            let since_ms = bot.place.map_or(now_ms, |place| place.since_ms.min(member.since_ms));
            bot.wait_from(since_ms);
        })
    }

    fn begin(&mut self, pairing: &Pairing) {
        self.remember(pairing);
        for member in pairing.members() {
            if let Some(bot) = self.bots.get_mut(&member.bot) {
                bot.playing += 1;
            }
        }
    }

    fn end(
        &mut self,
        pairing: &Pairing,
        now_ms: u64,
        then: impl Fn(&mut Bot, Seat, Member),
    ) -> Result<(), NotPlaying> {
        let idle = pairing.members().iter().find(|member| self.playing(member.bot) == 0);
        if let Some(&Member { bot, .. }) = idle {
            return Err(NotPlaying { bot });
        }
        for (seat, _, member) in pairing.seats() {
            if let Some(bot) = self.bots.get_mut(&member.bot) {
                bot.ended(now_ms);
                then(bot, seat, member);
            }
        }
        Ok(())
    }

    /// The members of a match with sides and seats.
    fn seated(&self, group: &[Candidate<'_>]) -> Pairing {
        let sides = sides::split(&self.settings, group);
        let members = seating::seat(&self.settings, group, &sides);
        let members = members.into_iter().map(|index| group[index].member()).collect();
        Pairing::known(self.settings.teams, self.settings.players, members)
    }
}

/// A bot still plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{bot} still plays {playing} matches: finish them before it is forgotten")]
pub struct StillPlaying {
    /// The bot.
    pub bot: BotId,
    /// How many matches it plays.
    pub playing: u32,
}

/// A bot plays no match here, so none of its matches can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{bot} plays no match here: each match ends once")]
pub struct NotPlaying {
    /// The bot.
    pub bot: BotId,
}
