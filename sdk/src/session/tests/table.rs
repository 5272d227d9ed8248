//! One match of the server: what the protocol says about Play, without a clock of its own.

mod lies;

use std::collections::{BTreeMap, BTreeSet};

use zetema_proto::{Wire, seat_event_to_wire, v1, view_to_wire};
use zetema_rules::fair::{MatchSeed, Nonce, NonceHash, ServerSeed};
use zetema_rules::{
    Action, Dealing, DealingKind, Entrant, Event, ForfeitReason, Game, Phase, PlayedBy, Record, Rules, Seat,
    Step, Viewer,
};

use v1::event::Kind as EventKind;
use v1::play_response::Kind as Response;

/// One match, and what its seats are still to be told.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) id: String,
    /// The handle of seat 0, for all streams.
    first_handle: u32,
    /// Seats that the server plays itself.
    house: BTreeSet<Seat>,
    /// What every decision has, if there is a clock, and how much of the current one is over when a stream asks.
    pub(super) clock: Option<v1::Clock>,
    timed_out: BTreeSet<u32>,
    rules: Rules,
    /// Joint ones, or fixed ones.
    deals: DealingKind,
    pub(super) seed: ServerSeed,
    seats: Vec<SeatState>,
    game: Option<Game>,
    revealed: bool,
    /// What it shows as the outcome before there is one.
    claimed: Option<v1::Outcome>,
    /// Whether it begins anew for who asks for what is after a cursor.
    begins_anew: bool,
    pub(super) steps: Vec<Step>,
    /// What the client is still to receive, on the stream that is open.
    pub(super) outbox: Vec<v1::PlayResponse>,
}

#[derive(Clone, Default)]
struct SeatState {
    pub(super) joined: bool,
    hash: Option<NonceHash>,
    nonce: Option<Nonce>,
    log: Vec<v1::Observation>,
    answers: BTreeMap<u32, (v1::Action, u64)>,
    resigned: Option<u64>,
    /// On the open stream.
    live: bool,
}

impl Table {
    pub(super) fn new(id: String, first_handle: u32, rules: Rules) -> Self {
        Self {
            id,
            first_handle,
            house: BTreeSet::new(),
            clock: None,
            timed_out: BTreeSet::new(),
            rules,
            deals: DealingKind::Joint,
            seed: ServerSeed::new([9; 32]),
            seats: rules.seats().map(|_| SeatState::default()).collect(),
            game: None,
            revealed: false,
            claimed: None,
            begins_anew: false,
            steps: Vec::new(),
            outbox: Vec::new(),
        }
    }

    /// Has the server play this seat: it joins at once, without a nonce, and plays the first legal action.
    pub(super) fn with_house(mut self, seat: Seat) -> Self {
        self.seats[seat.index()].joined = true;
        self.house.insert(seat);
        self
    }

    /// The seats that are played over the stream.
    pub(super) fn players(&self) -> impl Iterator<Item = Seat> + use<> {
        let house = self.house.clone();
        self.rules.seats().filter(move |seat| !house.contains(seat))
    }

    pub(super) fn has_joined(&self, seat: Seat) -> bool {
        self.seats[seat.index()].joined
    }

    pub(super) fn seat_of(&self, handle: u32) -> Option<Seat> {
        let index = usize::try_from(handle.checked_sub(self.first_handle)?).ok()?;
        Seat::new(index).filter(|_| index < self.seats.len())
    }

    fn handle(&self, seat: Seat) -> u32 {
        self.first_handle + seat.to_wire()
    }

    pub(super) fn cut(&mut self) {
        self.outbox.clear();
        for seat in &mut self.seats {
            seat.live = false;
        }
    }

    pub(super) fn observations(&self, seat: usize) -> &[v1::Observation] {
        &self.seats[seat].log
    }

    fn say(&mut self, tag: u64, handle: u32, kind: Response) {
        self.outbox.push(v1::PlayResponse { tag, handle, kind: Some(kind) });
    }

    pub(super) fn reject(&mut self, tag: u64, handle: u32, reason: v1::ErrorReason) {
        let error = v1::Error { decision_number: self.decision(), ..v1::Error::new(reason, "no") };
        self.say(tag, handle, Response::Rejection(error));
    }

    fn decision(&self) -> Option<u32> {
        let public = self.game.as_ref()?.public();
        public.result.is_none().then_some(public.decision)
    }

    pub(super) fn leave(&mut self, seat: Seat) {
        self.seats[seat.index()].live = false;
    }

    pub(super) fn join(&mut self, tag: u64, seat: Seat, join: &v1::Join) {
        let (handle, hash) = (self.handle(seat), Option::from_wire(&join.nonce_hash).unwrap());
        let hash = hash.filter(|_| self.deals != DealingKind::Fixed);
        let state = &mut self.seats[seat.index()];
        let first = !state.joined;
        if first {
            state.joined = true;
            state.hash = hash;
        } else if hash.is_some() && hash != state.hash {
            return self.reject(tag, 0, v1::ErrorReason::NonceFixed);
        }
        let tail = match join.after_seq {
            Some(after) if after as usize > state.log.len() => {
                return self.reject(tag, 0, v1::ErrorReason::CursorAhead);
            }
            Some(after) => state.log[after as usize..].to_vec(),
            None => Vec::new(),
        };
        state.live = true;
        let kind = match join.after_seq.filter(|_| !self.begins_anew) {
            Some(after_seq) => v1::subscription_start::Kind::Resumed(v1::Resumed {
                after_seq,
                decision_elapsed_ms: self.clock.map(|clock| clock.elapsed_ms),
                decision_number: self.clock.and_then(|_| self.decision()),
            }),
            None => v1::subscription_start::Kind::Snapshot(self.snapshot(seat)),
        };
        let start = v1::SubscriptionStart {
            r#match: Some(self.describe()),
            seat: Some(seat.to_wire()),
            kind: Some(kind),
        };
        self.say(tag, handle, Response::Joined(Box::new(start)));
        for observation in tail {
            self.say(0, handle, Response::Observation(observation));
        }
        self.say_end(seat);
        if first && self.seats.iter().all(|seat| seat.joined) {
            let wanted = v1::NoncesWanted { hashes: self.hashes() };
            self.observe(&[], &[EventKind::NoncesWanted(wanted)], None);
            self.start();
        }
    }

    fn describe(&self) -> v1::Match {
        v1::Match {
            match_id: self.id.clone(),
            rules: Some(self.rules.to_wire()),
            deals: match self.deals {
                DealingKind::Joint => v1::DealsKind::Joint.into(),
                DealingKind::Shared => v1::DealsKind::Shared.into(),
                DealingKind::Fixed => v1::DealsKind::Fixed.into(),
            },
            commitment: self.seed.commitment().to_wire(),
            ..Default::default()
        }
    }

    fn hashes(&self) -> Vec<v1::SeatNonceHash> {
        let hashes = (0..).zip(&self.seats);
        hashes.map(|(seat, state)| v1::SeatNonceHash { seat, nonce_hash: state.hash.to_wire() }).collect()
    }

    fn nonces(&self) -> Vec<v1::SeatNonce> {
        let nonces = (0..).zip(&self.seats);
        nonces.map(|(seat, state)| v1::SeatNonce { seat, nonce: state.nonce().to_wire() }).collect()
    }

    fn snapshot(&self, seat: Seat) -> v1::Snapshot {
        let all_joined = self.seats.iter().all(|seat| seat.joined);
        let setup = v1::Setup {
            stage: v1::SetupStage::Unspecified.into(),
            commitment: self.seed.commitment().to_wire(),
            hashes: if all_joined { self.hashes() } else { Vec::new() },
            nonces: if self.game.is_some() { self.nonces() } else { Vec::new() },
        };
        v1::Snapshot {
            seq: self.seats[seat.index()].log.len() as u64,
            decision_number: self.decision(),
            setup: Some(setup),
            view: self.view(seat),
            decision: self.to_decide(seat, self.clock),
            outcome: self.claimed.clone(),
            revealed: self.is_over().then(|| v1::Revealed { server_seed: self.seed.to_wire() }),
        }
    }

    fn view(&self, seat: Seat) -> Option<v1::View> {
        self.game.as_ref().map(|game| view_to_wire(&game.view(Viewer::Seat(seat))))
    }

    fn to_decide(&self, seat: Seat, clock: Option<v1::Clock>) -> Option<v1::Decision> {
        let game = self.game.as_ref().filter(|game| game.to_act() == Some(seat))?;
        Some(v1::Decision { legal_actions: Some(game.legal_actions().to_wire()), clock })
    }

    pub(super) fn is_over(&self) -> bool {
        self.game.as_ref().is_some_and(|game| game.public().result.is_some())
    }

    pub(super) fn nonce(&mut self, tag: u64, seat: Seat, nonce: &[u8]) {
        let (handle, nonce) = (self.handle(seat), Nonce::new(nonce).unwrap());
        let state = &mut self.seats[seat.index()];
        assert_eq!(state.hash, Some(nonce.hash()));
        let first = state.nonce.is_none();
        state.nonce = Some(nonce);
        let kind = v1::acknowledgement::Kind::Nonce(v1::NonceAccepted {});
        self.say(tag, handle, Response::Acknowledgement(v1::Acknowledgement { kind: Some(kind) }));
        if first {
            self.start();
        }
    }

    /// Deals when every nonce is there.
    fn start(&mut self) {
        if self.game.is_some() || self.seats.iter().any(|seat| seat.hash.is_some() && seat.nonce.is_none()) {
            return;
        }
        let mut events = Vec::new();
        let seed = self.match_seed();
        let dealer = seed.dealer(self.rules.player_count());
        let deck = seed.deck(0, self.rules.imperial_suit);
        self.game = Some(Game::new(self.rules, dealer, &deck, &mut events).unwrap());
        let published = v1::NoncesPublished { nonces: self.nonces() };
        self.observe(&events, &[EventKind::NoncesPublished(published)], None);
        self.play_house();
    }

    /// Has the server take its own decisions.
    fn play_house(&mut self) {
        while let Some((seat, number, action)) = self.first_legal()
            && self.house.contains(&seat)
        {
            self.apply(seat, number, action, &[]);
        }
        self.reveal();
    }

    /// The seat to act, the decision, and its first legal action.
    fn first_legal(&self) -> Option<(Seat, u32, v1::Action)> {
        let game = self.game.as_ref()?;
        let action = game.legal_actions().get(0)?;
        Some((game.to_act()?, game.public().decision, action.to_wire()))
    }

    /// The time of the seat to act is out: the server plays for it, or it forfeits.
    pub(super) fn time_out(&mut self, strikes: u32, then: Then) {
        let (seat, number, action) = self.first_legal().unwrap();
        self.timed_out.insert(number);
        let event = v1::TimedOut { seat: seat.to_wire(), decision_number: number, strikes };
        let event = EventKind::TimedOut(event);
        match then {
            Then::Autoplay => self.apply(seat, number, action, &[event]),
            Then::Forfeit => {
                let mut events = Vec::new();
                self.game.as_mut().unwrap().forfeit(seat, &mut events).unwrap();
                self.steps.push(Step::Forfeit { seat, reason: ForfeitReason::OutOfTime });
                self.observe(&events, &[event], None);
            }
        }
        self.play_house();
    }

    fn match_seed(&self) -> MatchSeed {
        let nonces: Vec<Nonce> = self.seats.iter().map(SeatState::nonce).collect();
        MatchSeed::derive(&self.seed, &nonces)
    }

    fn over(&mut self, tag: u64, handle: u32, closed_by: v1::DecisionClosedBy) {
        let error = v1::Error::new(v1::ErrorReason::DecisionOver, "no");
        self.say(tag, handle, Response::Rejection(v1::Error { closed_by: closed_by.into(), ..error }));
    }

    /// The decision that is open is answered without this client, with its last legal action.
    pub(super) fn answer_by_another_program(&mut self) {
        let (seat, number, _) = self.first_legal().unwrap();
        let legal = self.game.as_ref().unwrap().legal_actions();
        let last = legal.get(legal.len() - 1).unwrap();
        self.apply(seat, number, last.to_wire(), &[]);
    }

    pub(super) fn act(&mut self, tag: u64, seat: Seat, act: v1::Act) {
        let Some(v1::act::Choice::Action(action)) = act.choice else { panic!("no action") };
        let handle = self.handle(seat);
        let number = act.decision_number;
        if let Some((first, seq)) = self.seats[seat.index()].answers.get(&number) {
            if *first != action {
                return self.over(tag, handle, v1::DecisionClosedBy::Answer);
            }
            let receipt = v1::Receipt { match_id: self.id.clone(), decision_number: number, seq: *seq };
            let kind = v1::acknowledgement::Kind::Action(receipt);
            let acknowledgement = v1::Acknowledgement { kind: Some(kind) };
            return self.say(tag, handle, Response::Acknowledgement(acknowledgement));
        }
        if self.timed_out.contains(&number) {
            return self.over(tag, handle, v1::DecisionClosedBy::Clock);
        }
        self.apply(seat, number, action, &[]);
        self.play_house();
    }

    /// Applies what this seat answers, and the next deal if one is due.
    fn apply(&mut self, seat: Seat, number: u32, action: v1::Action, about: &[EventKind]) {
        let played = Action::from_wire(&action).unwrap();
        let game = self.game.as_mut().unwrap();
        assert_eq!(game.public().decision, number, "each decision is answered once, in order");
        let mut events = Vec::new();
        game.play(seat, &played, &mut events).unwrap();
        self.steps.push(Step::Play { seat, action: played, points: 0, by: PlayedBy::Player });
        let actor = about.is_empty().then_some((seat, number));
        let state = &mut self.seats[seat.index()];
        if actor.is_some() {
            state.answers.insert(number, (action, state.log.len() as u64 + 1));
        }
        self.deal_if_due(&mut events);
        self.observe(&events, about, actor);
    }

    fn deal_if_due(&mut self, events: &mut Vec<Event>) {
        let seed = self.match_seed();
        if let Some(game) = &mut self.game
            && game.public().phase == Phase::DealOver
        {
            let deck = seed.deck(game.public().deal + 1, self.rules.imperial_suit);
            game.deal(&deck, events).unwrap();
        }
    }

    pub(super) fn resign(&mut self, tag: u64, seat: Seat) {
        let handle = self.handle(seat);
        let Some(game) = &mut self.game else {
            return self.reject(tag, handle, v1::ErrorReason::MatchNotStarted);
        };
        if self.seats[seat.index()].resigned.is_none() {
            let mut events = Vec::new();
            game.forfeit(seat, &mut events).unwrap();
            self.steps.push(Step::Forfeit { seat, reason: ForfeitReason::Resigned });
            self.seats[seat.index()].resigned = Some(self.seats[seat.index()].log.len() as u64 + 1);
            self.observe(&events, &[EventKind::Resigned(v1::Resigned { seat: seat.to_wire() })], None);
        }
        let seq = self.seats[seat.index()].resigned.unwrap();
        let kind = v1::acknowledgement::Kind::Resignation(v1::ResignationAccepted { seq });
        self.say(tag, handle, Response::Acknowledgement(v1::Acknowledgement { kind: Some(kind) }));
        self.play_house();
    }

    fn reveal(&mut self) {
        if self.is_over() && !self.revealed {
            self.revealed = true;
            let revealed = v1::Revealed { server_seed: self.seed.to_wire() };
            self.observe(&[], &[EventKind::Revealed(revealed)], None);
            for seat in self.rules.seats() {
                self.say_end(seat);
            }
        }
    }

    fn say_end(&mut self, seat: Seat) {
        if let Some(result) = self.game.as_ref().and_then(|game| game.public().result)
            && self.seats[seat.index()].live
        {
            self.seats[seat.index()].live = false;
            let outcome = zetema_rules::Outcome::Result(result).to_wire();
            self.say(0, self.handle(seat), Response::End(v1::SubscriptionEnd { outcome: Some(outcome) }));
        }
    }

    fn observe(&mut self, game: &[Event], about: &[EventKind], actor: Option<(Seat, u32)>) {
        let fresh = self.clock.map(|clock| v1::Clock { elapsed_ms: 0, ..clock });
        for seat in self.rules.seats() {
            let about = about.iter().map(|kind| v1::Event { kind: Some(kind.clone()) });
            let seen = game.iter().map(|event| event.seen_by(Viewer::Seat(seat)));
            let seen = seen.map(|event| seat_event_to_wire(&event, &self.rules));
            let seq = self.seats[seat.index()].log.len() as u64 + 1;
            let observation = v1::Observation {
                seq,
                decision_number: self.decision(),
                events: about.chain(seen).collect(),
                view: self.view(seat).map(Box::new),
                decision: self.to_decide(seat, fresh),
                answered_decision_number: actor.filter(|&(actor, _)| actor == seat).map(|(_, number)| number),
            };
            self.seats[seat.index()].log.push(observation.clone());
            if self.seats[seat.index()].live {
                self.say(0, self.handle(seat), Response::Observation(observation));
            }
        }
    }

    pub(super) fn record(&self) -> Record {
        let entrants = self.seats.iter().map(|seat| Entrant { hash: seat.hash, nonce: Some(seat.nonce()) });
        let dealing = Dealing {
            kind: self.deals,
            commitment: self.seed.commitment(),
            server_seed: self.seed.clone(),
            entrants: entrants.filter(|_| self.deals != DealingKind::Fixed).collect(),
        };
        Record::complete(self.rules, dealing, self.steps.clone(), None).unwrap()
    }
}

impl SeatState {
    fn nonce(&self) -> Nonce {
        self.nonce.clone().unwrap_or(Nonce::EMPTY)
    }
}

/// What follows a time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Autoplay,
    Forfeit,
}
