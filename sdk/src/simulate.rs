//! Matches in this process, without a server.

use std::sync::Arc;

use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{
    Action, Dealing, DealingKind, Event, ForfeitReason, Game, LegalActions, MatchResult, Phase, PlayError,
    PlayedBy, Record, ReplayError, Rules, Seat, SeatEvent, Step, Viewer, autoplay,
};

use crate::bot::{Bot, Decision, MatchInfo};
use crate::end::End;
use crate::fault::{Fault, guarded};

/// A match that was played by [`simulate`]: what happened, and enough to play it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The rules.
    pub rules: Rules,
    /// The seed of the deals; the nonces are empty, as in the server's fixed deals.
    pub seed: ServerSeed,
    /// Everything that changed the game, in order, over all deals.
    pub steps: Vec<Step>,
    /// How it ended.
    pub result: MatchResult,
    /// What was wrong with a bot, by seat.
    pub faults: Vec<(Seat, Fault)>,
}

impl Simulated {
    /// The record of the match, which anyone can replay and verify.
    ///
    /// # Errors
    /// [`ReplayError`] if these are not the steps of a match with this seed.
    pub fn record(&self) -> Result<Record, ReplayError> {
        let dealing = Dealing {
            kind: DealingKind::Fixed,
            commitment: self.seed.commitment(),
            server_seed: self.seed.clone(),
            entrants: Vec::new(),
        };
        Record::complete(self.rules, dealing, self.steps.clone(), None)
    }
}

/// The seed of a numbered match, for [`simulate`].
pub fn numbered_seed(number: u64) -> ServerSeed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    ServerSeed::new(bytes)
}

/// Plays a match in this process: one bot for each seat, made by `factory`.
///
/// The same seed gives the same cards; bots that are deterministic then play the same match. A seat
/// that was forfeited is played on as the server does it (R25): with the legal discard whose rank makes
/// the cheapest zetema.
///
/// ```
/// use zetema_sdk::rules::Preset;
/// use zetema_sdk::{Action, Bot, Decision, numbered_seed, simulate};
///
/// struct First;
/// impl Bot for First {
///     fn choose(&mut self, decision: &Decision) -> Action {
///         decision.first()
///     }
/// }
///
/// let rules = Preset::Sackson.rules(2, None)?;
/// let played = simulate(rules, &numbered_seed(1), |_| First)?;
/// assert_eq!(played.result.ranks.iter().filter(|&&rank| rank == 1).count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// None that a bot could cause: [`PlayError`] would be a fault of the rules.
pub fn simulate<B: Bot>(
    rules: Rules,
    seed: &ServerSeed,
    mut factory: impl FnMut(&MatchInfo) -> B,
) -> Result<Simulated, PlayError> {
    let id = local_id(seed);
    let info = |seat| Arc::new(MatchInfo::new(id.clone(), seat, rules).with_deals(DealingKind::Fixed));
    let infos = rules.seats().map(info);
    let mut table = Table { bots: Vec::new(), events: Vec::new(), faults: Vec::new() };
    for info in infos {
        let made = guarded(|| {
            let mut bot = factory(&info);
            bot.start(None);
            bot
        });
        table.take_seat(info, made);
    }
    table.play(rules, seed)
}

/// A name that tells matches of different seeds apart and gives none away.
fn local_id(seed: &ServerSeed) -> String {
    let commitment = seed.commitment().0;
    commitment[..8].iter().fold("local-".to_owned(), |id, byte| format!("{id}{byte:02x}"))
}

struct Player<B> {
    info: Arc<MatchInfo>,
    /// `None` from its forfeit on.
    bot: Option<B>,
}

struct Table<B> {
    bots: Vec<Player<B>>,
    /// What the bots were not told yet.
    events: Vec<Event>,
    faults: Vec<(Seat, Fault)>,
}

impl<B: Bot> Table<B> {
    fn take_seat(&mut self, info: Arc<MatchInfo>, made: Result<B, Fault>) {
        let seat = info.seat;
        let bot = made.map_err(|fault| self.faults.push((seat, fault))).ok();
        self.bots.push(Player { info, bot });
    }

    fn play(mut self, rules: Rules, seed: &ServerSeed) -> Result<Simulated, PlayError> {
        let nonces = vec![Nonce::EMPTY; rules.player_count().count()];
        let decks = MatchSeed::derive(seed, &nonces);
        let deck = decks.deck(0, rules.imperial_suit);
        let mut game = Game::new(rules, decks.dealer(rules.player_count()), &deck, &mut self.events)?;
        let mut steps = Vec::new();
        let mut legal = LegalActions::default();
        loop {
            self.tell();
            self.forfeit_the_fallen(&mut game, &mut steps)?;
            match game.public().phase {
                Phase::Turn { seat, .. } => {
                    game.legal_actions_into(&mut legal);
                    let Some((action, by)) = self.choose(&game, seat, &legal) else { continue };
                    game.play(seat, &action, &mut self.events)?;
                    steps.push(Step::Play { seat, action, points: points_of(&self.events), by });
                }
                Phase::DealOver => {
                    let deck = decks.deck(game.public().deal + 1, rules.imperial_suit);
                    game.deal(&deck, &mut self.events)?;
                }
                Phase::MatchOver => break,
            }
        }
        let Some(result) = game.public().result else { return Err(PlayError::MatchOver) };
        self.tell();
        self.call(|bot, _| bot.end(&End::Result(result)));
        Ok(Simulated { rules, seed: seed.clone(), steps, result, faults: self.faults })
    }

    /// The action of the seat to act; `None` if its bot fell over this decision.
    fn choose(&mut self, game: &Game, seat: Seat, legal: &LegalActions) -> Option<(Action, PlayedBy)> {
        let player = &mut self.bots[seat.index()];
        let Some(bot) = &mut player.bot else {
            return autoplay(legal).map(|action| (action, PlayedBy::Autoplay));
        };
        let view = game.view(Viewer::Seat(seat));
        let decision = Decision::with_legal(Arc::clone(&player.info), &view, legal.clone())?;
        let chosen = guarded(|| bot.choose(&decision)).and_then(|action| {
            if legal.contains(&action) {
                Ok(action)
            } else {
                Err(Fault::IllegalChoice { decision: decision.number() })
            }
        });
        let chosen = chosen.map_err(|fault| self.fall(seat, fault)).ok();
        chosen.map(|action| (action, PlayedBy::Player))
    }

    fn tell(&mut self) {
        let events = std::mem::take(&mut self.events);
        self.call(|bot, seat| {
            for event in &events {
                bot.observe(&event.seen_by(Viewer::Seat(seat)));
            }
        });
        self.events = events;
        self.events.clear();
    }

    fn call(&mut self, mut run: impl FnMut(&mut B, Seat)) {
        for index in 0..self.bots.len() {
            let player = &mut self.bots[index];
            let seat = player.info.seat;
            if let Some(bot) = &mut player.bot
                && let Err(fault) = guarded(|| run(bot, seat))
            {
                self.fall(seat, fault);
            }
        }
    }

    fn fall(&mut self, seat: Seat, fault: Fault) {
        self.bots[seat.index()].bot = None;
        self.faults.push((seat, fault));
    }

    fn forfeit_the_fallen(&mut self, game: &mut Game, steps: &mut Vec<Step>) -> Result<(), PlayError> {
        for player in &self.bots {
            let seat = player.info.seat;
            if player.bot.is_none()
                && !game.public().forfeited.contains(seat)
                && game.public().phase != Phase::MatchOver
            {
                game.forfeit(seat, &mut self.events)?;
                steps.push(Step::Forfeit { seat, reason: ForfeitReason::Resigned });
            }
        }
        Ok(())
    }
}

/// The points that these events brought to whoever acted.
fn points_of(events: &[Event]) -> u16 {
    let points = events.iter().map(|event| match event.seen_by(Viewer::Spectator) {
        SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => points,
        _ => 0,
    });
    points.fold(0, u16::saturating_add)
}
