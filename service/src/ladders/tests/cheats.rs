//! Each kind of cheat as a server finds it: by the records of matches that were played by the rules.

use std::sync::Arc;

use prost::Message as _;
use zetema_ladder::{Finding, Rating, RatingSettings};
use zetema_proto::{RecordHeader, Visibility, record_to_wire};
use zetema_rules::fair::ServerSeed;
use zetema_rules::{
    Action, Attendance, Card, Charge, Clocks, Dealing, DealingKind, ForfeitReason, Game, LedgerEntry,
    LegalActions, NamedTimeControl, Outcome, Phase, PlayedBy, Preset, Record, Rules, Seat, Step, TimeControl,
    autoplay,
};

use super::*;
use crate::ladders::honesty::{Finished, conclude, read};
use crate::ladders::names::Belongs;
use crate::ladders::query::Reason;
use crate::ladders::results::{LoggedResult, LoggedSeat, SeatEnd};

/// A bot that discards what comes first in an order of its own, and what else it does.
struct Cheat {
    name: &'static str,
    order: u64,
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    Nothing,
    /// Resigns at once when this one is on another side.
    ResignsAgainst(&'static str),
    /// Lets its first time run out when this one is on another side.
    LapsesAgainst(&'static str),
    /// Resigns in the middle of the match when this one is its partner, and its side is not behind.
    ResignsWith(&'static str),
    /// Pulls the plug in so many of 100 matches.
    Disconnects(u64),
    /// Lets its time run out in so many of 100 of the decisions in which it is behind.
    LapsesBehind(u64),
}

impl Cheat {
    const fn new(name: &'static str, order: u64, does: Does) -> Self {
        Self { name, order, does }
    }

    fn chooses(&self, legal: &LegalActions) -> Action {
        let first = legal.discards.faces_in_order().min_by_key(|card| mixed(self.order, card.index() as u64));
        let discard = Action::Discard(first.unwrap_or(Card::all().next().unwrap()));
        legal.declarations.first().copied().map_or(discard, Action::Declare)
    }
}

/// A number of these two, by `SplitMix64`.
fn mixed(one: u64, other: u64) -> u64 {
    let mut mixed = (one ^ other.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Why a seat leaves before a decision, if it does.
type Leaves = Option<(ForfeitReason, Option<Attendance>)>;

/// A match while it is played.
struct Playing<'a> {
    rules: Rules,
    number: u64,
    seats: &'a [&'a Cheat],
    game: Game,
}

impl Playing<'_> {
    fn leaves(&self, seat: Seat) -> Leaves {
        let resigns = Some((ForfeitReason::Resigned, None));
        let lapses = Some((ForfeitReason::OutOfTime, Some(Attendance::Present)));
        let vanishes = Some((ForfeitReason::OutOfTime, Some(Attendance::Absent)));
        let public = self.game.public();
        let own = self.rules.side(seat).index();
        let others = (0..self.rules.sides()).filter(|&side| side != own).map(|side| public.totals[side]);
        let best = others.max().unwrap();
        let side_of = |name| {
            let other = self.seats.iter().position(|bot| bot.name == name)?;
            Some(self.rules.side(Seat::new(other).unwrap()).index())
        };
        let drawn = |times: u64| mixed(self.number * 7 + seat.index() as u64, times) % 100;
        let in_the_middle = public.decision > 40;
        match self.seats[seat.index()].does {
            Does::ResignsAgainst(name) if side_of(name).is_some_and(|side| side != own) => resigns,
            Does::LapsesAgainst(name) if side_of(name).is_some_and(|side| side != own) => lapses,
            Does::ResignsWith(name) if side_of(name) == Some(own) && in_the_middle => {
                resigns.filter(|_| public.totals[own] >= best)
            }
            Does::Disconnects(share) if in_the_middle => vanishes.filter(|_| drawn(0) < share),
            Does::LapsesBehind(share) if public.totals[own] < best => {
                lapses.filter(|_| drawn(public.decision.into()) < share)
            }
            _ => None,
        }
    }
}

/// The record of a match of these bots.
fn record(rules: Rules, number: u64, seats: &[&Cheat]) -> Record {
    let mut server_seed = [0; 32];
    server_seed[..8].copy_from_slice(&number.to_be_bytes());
    let server_seed = ServerSeed::new(server_seed);
    let commitment = server_seed.commitment();
    let dealing = Dealing { kind: DealingKind::Fixed, commitment, server_seed, entrants: Vec::new() };
    let seed = dealing.match_seed(&rules).unwrap();
    let deck = |deal| seed.deck(deal, rules.imperial_suit);
    let (mut events, mut steps, mut ledger) = (Vec::new(), Vec::new(), Vec::new());
    let game = Game::new(rules, seed.dealer(rules.player_count()), &deck(0), &mut events).unwrap();
    let mut playing = Playing { rules, number, seats, game };
    loop {
        events.clear();
        let public = playing.game.public();
        let Phase::Turn { seat, .. } = public.phase else {
            if public.phase == Phase::MatchOver {
                break;
            }
            let next = public.deal + 1;
            playing.game.deal(&deck(next), &mut events).unwrap();
            continue;
        };
        let gone = public.forfeited.contains(seat);
        if let Some((reason, attendance)) = playing.leaves(seat).filter(|_| !gone) {
            ledger.extend(attendance.map(|attendance| LedgerEntry {
                decision: public.decision,
                seat,
                published_ms: 0,
                received_ms: None,
                charge: Charge { credit_ms: 0, charged_ms: 1_000, bank_ms: 0 },
                interrupted: false,
                attendance: Some(attendance),
            }));
            playing.game.forfeit(seat, &mut events).unwrap();
            steps.push(Step::Forfeit { seat, reason });
            continue;
        }
        let legal = playing.game.legal_actions();
        let (action, by) = if gone {
            (autoplay(&legal).unwrap(), PlayedBy::Autoplay)
        } else {
            (seats[seat.index()].chooses(&legal), PlayedBy::Player)
        };
        playing.game.play(seat, &action, &mut events).unwrap();
        steps.push(Step::Play { seat, action, points: 0, by });
    }
    let mut record = Record::complete(rules, dealing, steps, None).unwrap();
    record.clocks = Some(Clocks { control: TimeControl::named(NamedTimeControl::Blitz), ledger });
    record
}

/// Whose a bot is.
type Belonging = fn(&BotName) -> Belongs;

fn to_itself(bot: &BotName) -> Belongs {
    Belongs::of(bot, None)
}

/// Of an owner as house bots have, on a server that has two.
fn to_the_house(bot: &BotName) -> Belongs {
    let house_bots: HouseBots = "ivy,joe".parse().unwrap();
    let owner = Owner::new(HouseBots::owner_of(bot.as_str())).unwrap();
    Belongs::in_a_season(bot, Some(&owner), &house_bots)
}

/// What a server has of a match of these bots, and reads of it.
fn played(rules: Rules, number: u64, seats: &[&Cheat], belongs: Belonging) -> (Arc<LoggedResult>, Finished) {
    let record = record(rules, number, seats);
    let match_id = MatchId::from_bytes([0; 16]);
    let header = RecordHeader {
        match_id: match_id.to_string(),
        visibility: Visibility::Public,
        client_reference: String::new(),
        created_at_ms: 0,
        ended_at_ms: 0,
        bots: seats.iter().map(|bot| Some(bot.name.to_owned())).collect(),
        ladder: Some(LADDER.to_owned()),
        deal_set: None,
    };
    let bytes = record_to_wire(&record, &header).unwrap().encode_to_vec();
    let Outcome::Result(result) = record.outcome else { panic!("it has a result") };
    let first: Rating = RatingSettings::default().first();
    let seat = |seat: Seat| {
        let side = rules.side(seat);
        LoggedSeat {
            bot: bot(seats[seat.index()].name),
            side,
            rank: result.ranks[side.index()],
            total: result.totals[side.index()].into(),
            end: SeatEnd::Played,
            rating: Some((first, first)),
        }
    };
    let logged = LoggedResult {
        number: ResultNumber::new(number),
        match_id,
        ended_at: UnixMillis::new(number),
        reason: Reason::Target,
        seats: rules.seats().map(seat).collect(),
    };
    let owners = logged.seats.iter().map(|seat| belongs(&seat.bot)).collect();
    let finished = read(&logged, &bytes, owners).unwrap();
    (Arc::new(logged), finished)
}

/// What is listed of these matches.
fn listed(
    rules: Rules,
    matches: impl IntoIterator<Item = Vec<&'static Cheat>>,
    belongs: Belonging,
) -> Vec<Suspected> {
    let matches = (1..).zip(matches).map(|(number, seats)| played(rules, number, &seats, belongs));
    let (mut results, finished): (Vec<_>, Vec<_>) = matches.unzip();
    results.reverse();
    let spec = specs().iter().find(|spec| spec.name.as_str() == LADDER).cloned().unwrap();
    conclude(&spec, &results, &finished, 0, None).unwrap().suspicions
}

/// The kind of a finding and whom it names.
fn told(suspected: &Suspected) -> (&'static str, Vec<&str>) {
    match &suspected.finding {
        Finding::LosesTo { loser, winner, .. } => ("loses to", vec![loser.as_str(), winner.as_str()]),
        Finding::FeedsOpponent { feeder, fed, .. } => ("feeds", vec![feeder.as_str(), fed.as_str()]),
        Finding::FailPartner { partners: [one, other], .. } => {
            let mut partners = vec![one.as_str(), other.as_str()];
            partners.sort_unstable();
            ("fail each other", partners)
        }
        Finding::TimesOutWhenBehind { bot, .. } => ("times out", vec![bot.as_str()]),
        Finding::Abandons { bot, .. } => ("abandons", vec![bot.as_str()]),
        Finding::SameDecisions { bots: [one, other], .. } => {
            let mut bots = vec![one.as_str(), other.as_str()];
            bots.sort_unstable();
            ("decide alike", bots)
        }
    }
}

fn lines(found: &[Suspected]) -> String {
    found.iter().flat_map(|one| ["    ", one.line.as_str(), "\n"]).collect()
}

static ALONE: [Cheat; 9] = [
    Cheat::new("ann", 1, Does::Nothing),
    Cheat::new("bob", 2, Does::Nothing),
    Cheat::new("cat", 3, Does::Nothing),
    Cheat::new("eve", 4, Does::ResignsAgainst("fay")),
    Cheat::new("fay", 5, Does::Nothing),
    Cheat::new("gil", 6, Does::Disconnects(30)),
    Cheat::new("hal", 7, Does::LapsesBehind(2)),
    Cheat::new("ivy", 8, Does::Nothing),
    Cheat::new("joe", 8, Does::Nothing),
];

#[test]
fn whoever_cheats_alone_is_found_by_the_records_and_nobody_else() {
    const ROUNDS: usize = 60;
    // Its matches are long: two that play alike are found in some 400 of them.
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let pairs = ALONE.iter().enumerate().flat_map(|(place, one)| {
        ALONE[place + 1..]
            .iter()
            .map(move |other| if place % 2 == 0 { vec![one, other] } else { vec![other, one] })
    });
    let all = (0..ROUNDS).flat_map(|_| pairs.clone());
    let found = listed(rules, all, to_itself);
    let told: Vec<_> = found.iter().map(told).collect();
    let right = [
        ("loses to", vec!["eve", "fay"]),
        ("times out", vec!["hal"]),
        ("abandons", vec!["gil"]),
        ("decide alike", vec!["ivy", "joe"]),
    ];
    assert_eq!(told, right, "\n{}", lines(&found));
}

#[test]
fn house_bots_that_play_alike_are_not_listed_as_those_of_strangers_are() {
    const ROUNDS: usize = 220;
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let [ann, .., ivy, joe] = &ALONE;
    let alike = vec![("decide alike", vec!["ivy", "joe"])];
    for (belongs, right) in [(to_itself as Belonging, alike), (to_the_house as Belonging, vec![])] {
        let pairs = [[ann, ivy], [ann, joe], [ivy, joe]];
        let all = (0..ROUNDS).flat_map(|round| {
            pairs.map(|[one, other]| if round % 2 == 0 { vec![one, other] } else { vec![other, one] })
        });
        let found = listed(rules, all, belongs);
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), right, "\n{}", lines(&found));
    }
}

static IN_TEAMS: [Cheat; 8] = [
    Cheat::new("ann", 1, Does::Nothing),
    Cheat::new("bob", 2, Does::Nothing),
    Cheat::new("eve", 4, Does::ResignsAgainst("fay")),
    Cheat::new("fay", 5, Does::Nothing),
    Cheat::new("gil", 6, Does::LapsesAgainst("hal")),
    Cheat::new("hal", 7, Does::Nothing),
    Cheat::new("ivy", 8, Does::ResignsWith("joe")),
    Cheat::new("joe", 9, Does::Nothing),
];

#[test]
fn whoever_feeds_in_teams_by_giving_up_is_found_by_the_records_and_nobody_else() {
    let rules = Preset::Sackson.rules(4, None).unwrap();
    let seats = |number: u64| {
        let mut seats: Vec<&'static Cheat> = IN_TEAMS.iter().collect();
        seats.sort_by_key(|bot| mixed(number, bot.order));
        seats.truncate(4);
        seats
    };
    let found = listed(rules, (0..400).map(seats), to_itself);
    let told: Vec<_> = found.iter().map(told).collect();
    for right in [
        ("feeds", vec!["eve", "fay"]),
        ("feeds", vec!["gil", "hal"]),
        ("fail each other", vec!["ivy", "joe"]),
    ] {
        assert!(told.contains(&right), "{right:?}:\n{}", lines(&found));
    }
    // Of so few bots they give up so many matches that they abandon them too.
    for one in told {
        let known = match &one {
            ("feeds", bots) => [["eve", "fay"], ["gil", "hal"]].iter().any(|pair| bots == pair),
            ("fail each other", bots) => *bots == ["ivy", "joe"],
            ("abandons", bots) => ["eve", "ivy"].contains(&bots[0]),
            _ => false,
        };
        assert!(known, "{one:?}:\n{}", lines(&found));
    }
}
