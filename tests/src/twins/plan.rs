//! A game to play twice, and its twin.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_rules::{
    Action, Card, Deck, Game, LegalActions, Players, Preset, Rules, Seat, Suit, Teams, Viewer, autoplay,
};

use super::model::{Model, Move, Step, any_of, seen, shuffled};
use super::trace::{DealTrace, Trace};

/// More steps than this are not planned.
const MOST_STEPS: usize = 600;
/// How often two cards are tried to change places, in each deal.
const SWAPS: usize = 400;

/// What a pair of games has in common.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The preset.
    pub preset: Preset,
    /// Its players.
    pub players: usize,
    /// Its teams.
    pub teams: Teams,
    /// The doubled suit.
    pub imperial: Suit,
    /// Whose eyes must not tell the games apart. A seat's sees what a spectator sees too.
    pub observer: Viewer,
    /// Whether decisions have a clock.
    pub clock: Clock,
    /// What all of it follows from.
    pub seed: u64,
}

/// The clocks of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// None.
    None,
    /// Whose time is out is played for.
    Autoplay,
}

impl Setting {
    /// The setting of this seed: each form of the preset and each observer in turn, the rest at random.
    pub fn new(preset: Preset, seed: u64) -> Self {
        let forms = forms(preset);
        let mut left = usize::try_from(seed).unwrap_or(usize::MAX);
        let (players, teams) = forms[left % forms.len()];
        left /= forms.len();
        let observer = Seat::new(left % (players + 1)).filter(|seat| seat.index() < players);
        let observer = observer.map_or(Viewer::Spectator, Viewer::Seat);
        let mut random = StdRng::seed_from_u64(seed);
        let imperial = Suit::ALL[random.random_range(0..4)];
        let clock = if random.random_bool(0.25) { Clock::Autoplay } else { Clock::None };
        Self { preset, players, teams, imperial, observer, clock, seed }
    }

    /// The rules of its games.
    pub fn rules(&self) -> Rules {
        let mut options = *self.preset.rules(self.players, Some(self.teams)).unwrap();
        options.imperial_suit = self.imperial;
        Rules::new(options).unwrap()
    }
}

fn any_seat(setting: &Setting, random: &mut StdRng) -> Seat {
    Seat::new(random.random_range(0..setting.players)).unwrap()
}

/// The numbers of players of a preset, with the team forms of each.
pub fn forms(preset: Preset) -> Vec<(usize, Teams)> {
    let of_players = |&count: &u8| {
        let players = Players::new(count.into()).unwrap();
        preset.teams(players).iter().map(move |&teams| (usize::from(count), teams))
    };
    preset.players().iter().flat_map(of_players).collect()
}

/// Two games with the same steps, whose decks differ in what the observer can't see in these steps.
pub struct Plan {
    /// What both have in common.
    pub setting: Setting,
    /// The first dealer of both.
    pub dealer: Seat,
    /// The decks of each.
    pub decks: [Vec<Deck>; 2],
    /// The steps of both.
    pub(super) steps: Vec<Step>,
    /// How many cards lie elsewhere in the last deal that was begun.
    pub moved: usize,
}

impl Plan {
    /// Plays a game at random, then looks for a twin of a part of it.
    pub fn new(setting: Setting) -> Self {
        let mut random = StdRng::seed_from_u64(setting.seed.wrapping_add(1) << 20);
        let dealer = any_seat(&setting, &mut random);
        loop {
            let (decks, steps) = play(&setting, dealer, &mut random);
            let most = if random.random_bool(0.75) { steps.len().min(60) } else { steps.len() };
            let end = whole(&steps, random.random_range(0..most));
            if let Some(plan) = twin(setting, dealer, &decks, &steps[..end], &mut random) {
                return plan;
            }
        }
    }
}

/// Of an end in the steps, the nearest before it at which nothing is about to be played for a seat at once.
fn whole(steps: &[Step], mut end: usize) -> usize {
    while steps.get(end).is_some_and(|step| matches!(step.made, Move::Autoplay(_))) {
        end -= 1;
    }
    end
}

/// A game at random, up to the step before the one that ends it.
fn play(setting: &Setting, dealer: Seat, random: &mut StdRng) -> (Vec<Deck>, Vec<Step>) {
    let rules = setting.rules();
    // No step takes more than ten of the 65 cards, and few do, so there are decks enough for all deals.
    let decks: Vec<Deck> = (0..=MOST_STEPS / 10).map(|_| shuffled(setting.imperial, random)).collect();
    let mut model = Model::new(rules, dealer, decks.clone(), &mut Vec::new());
    let mut steps = Vec::new();
    while steps.len() < MOST_STEPS {
        let step = choose(setting, &model.game, random);
        let mut next = model.clone();
        next.make(&step, &mut Vec::new()).unwrap();
        if next.game.public().result.is_some() {
            if step.made == Move::Resign {
                continue;
            }
            break;
        }
        model = next;
        steps.push(step);
    }
    (decks, steps)
}

fn choose(setting: &Setting, game: &Game, random: &mut StdRng) -> Step {
    let seat = game.to_act().unwrap();
    let legal = game.legal_actions();
    let forfeited = game.public().forfeited;
    if forfeited.contains(seat) {
        return Step { seat, made: Move::Autoplay(autoplay(&legal).unwrap()) };
    }
    let other = any_seat(setting, random);
    if let Some(card) = any_of(game.faults(other), random)
        && !forfeited.contains(other)
        && random.random_bool(0.1)
    {
        return Step { seat: other, made: Move::Expose(card) };
    }
    if setting.players > 2 && !forfeited.contains(other) && random.random_bool(0.01) {
        return Step { seat: other, made: Move::Resign };
    }
    if setting.clock == Clock::Autoplay && random.random_bool(0.1) {
        return Step { seat, made: Move::TimeOut(autoplay(&legal).unwrap()) };
    }
    Step { seat, made: Move::Act(act(&legal, random)) }
}

fn act(legal: &LegalActions, random: &mut StdRng) -> Action {
    let first = if legal.declarations.is_empty() || random.random_bool(0.3) {
        0
    } else {
        legal.len() - legal.declarations.len()
    };
    legal.get(random.random_range(first..legal.len())).unwrap()
}

/// A pair whose second game has the same steps as the first, as many as are legal and look the same.
fn twin(setting: Setting, dealer: Seat, decks: &[Deck], steps: &[Step], random: &mut StdRng) -> Option<Plan> {
    let rules = setting.rules();
    let mut events = Vec::new();
    let mut model = Model::new(rules, dealer, decks.to_vec(), &mut events);
    let mut trace = Trace::new(rules, decks.to_vec());
    trace.saw(0, seen(&events));
    for (number, step) in (1..).zip(steps) {
        events.clear();
        trace.shows(number, step);
        model.make(step, &mut events).unwrap();
        trace.saw(number, seen(&events));
    }
    let mut others: Vec<Deck> = trace.deals.iter().map(|deal| mix(deal, &setting, random)).collect();
    let last = others.len() - 1;
    let pairs = others[last].reveal().iter().zip(decks[last].reveal());
    let moved = pairs.filter(|(one, other)| one != other).count();
    // What is not dealt yet is anybody's guess.
    others.extend(decks[others.len()..].iter().map(|_| shuffled(setting.imperial, random)));

    let mut model = Model::new(rules, dealer, others.clone(), &mut Vec::new());
    let legal = steps.iter().take_while(|step| model.make(step, &mut Vec::new()).is_ok()).count();
    // Only what is played for a seat can follow from cards that nobody has seen.
    let differs = steps.get(legal).map(|step| step.made);
    assert!(
        !matches!(differs, Some(Move::Act(_) | Move::Expose(_) | Move::Resign)),
        "{setting:?} at {legal}"
    );
    let steps = steps[..whole(steps, legal)].to_vec();
    (moved > 0).then(|| Plan { setting, dealer, decks: [decks.to_vec(), others], steps, moved })
}

/// The deck with cards at other places, which the observer can't know: each card that was shown came to the same seat
/// before it was shown.
fn mix(deal: &DealTrace, setting: &Setting, random: &mut StdRng) -> Deck {
    let fixed = |at: usize| {
        let drawn = deal.places[at].drawn;
        drawn.is_some_and(|(seat, _)| setting.observer == Viewer::Seat(seat))
    };
    let free: Vec<usize> = (0..deal.places.len()).filter(|&at| !fixed(at)).collect();
    // Which place of the deck each place has its card from.
    let mut from: Vec<usize> = (0..deal.places.len()).collect();
    let fits = |card: usize, at: usize| match (deal.places[card].shown, deal.places[card].drawn) {
        (Some(shown), Some((seat, _))) => {
            deal.places[at].drawn.is_some_and(|(by, drawn)| by == seat && drawn < shown)
        }
        _ => true,
    };
    for _ in 0..SWAPS {
        let (one, other) =
            (free[random.random_range(0..free.len())], free[random.random_range(0..free.len())]);
        if fits(from[one], other) && fits(from[other], one) {
            from.swap(one, other);
        }
    }
    let cards: Vec<Card> = from.iter().map(|&card| deal.deck.reveal()[card]).collect();
    Deck::new(&cards, setting.imperial).unwrap()
}
