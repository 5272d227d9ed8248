//! One fault at one frame by one transport, and all of them.

use std::fmt;

use clap::ValueEnum;

use zetema_proto::v1::NamedTimeControl;

use crate::proxy::{Counts, Direction, Fault, Plan};

/// How the seat under test plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Transport {
    /// By the SDK, whose session plays by Play.
    Play,
    /// By `JoinSeat`, Observe, `SendNonce` and Act.
    Observe,
}

/// How the cards of the match are dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Dealing {
    /// By a seed that is given: the same match each time.
    Fixed,
    /// By the nonces of the seats too: another match each time, of which only the frames of the setup are struck.
    Joint,
}

/// The frames of a direction that a match with joint deals is struck at: all up to the first actions.
const SETUP_FRAMES: u64 = 24;

/// One fault at one frame by one transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// How the seat plays.
    pub transport: Transport,
    /// How the cards are dealt.
    pub dealing: Dealing,
    /// The fault.
    pub plan: Plan,
}

/// Every fault at every frame of the two directions, of which there are so many.
pub fn every_case(transport: Transport, dealing: Dealing, counts: Counts) -> impl Iterator<Item = Case> {
    let last = match dealing {
        Dealing::Fixed => u64::MAX,
        Dealing::Joint => SETUP_FRAMES,
    };
    let directions = Direction::value_variants().iter();
    directions.flat_map(move |&direction| {
        (1..=counts.of(direction).min(last)).flat_map(move |frame| {
            let faults = Fault::value_variants().iter();
            faults.map(move |&fault| Case { transport, dealing, plan: Plan { fault, direction, frame } })
        })
    })
}

/// By what the seat under test is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// By its own token.
    SeatToken,
    /// By the token of the bot that it is for.
    BotToken,
}

/// How a match is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How the cards are dealt.
    pub dealing: Dealing,
    /// Its clock: `None`, or one whose time is never out here, so that what clocks add to the messages is struck too.
    pub time_control: NamedTimeControl,
    /// By what the seat under test is played.
    pub claim: Claim,
}

impl Terms {
    /// A match without a clock, for seats with tokens.
    pub const fn plain(dealing: Dealing) -> Self {
        Self { dealing, time_control: NamedTimeControl::None, claim: Claim::SeatToken }
    }
}

impl Case {
    /// How its match is made: of every three frames one is struck in a match with a clock, and one, by Play, in a match
    /// with a seat for a bot.
    pub const fn terms(&self) -> Terms {
        let plain = Terms::plain(self.dealing);
        match (self.plan.frame % 3, self.transport) {
            (0, _) => Terms { time_control: NamedTimeControl::Standard, ..plain },
            (1, Transport::Play) => Terms { claim: Claim::BotToken, ..plain },
            _ => plain,
        }
    }
}

/// The flags of the program `fault_runs` that run this case alone.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, dealing, plan: Plan { fault, direction, frame } } = self;
        let (transport, dealing) = (name(transport), name(dealing));
        let (fault, direction) = (name(fault), name(direction));
        write!(
            f,
            "--transport {transport} --dealing {dealing} --direction {direction} --fault {fault} --frame {frame}"
        )
    }
}

/// As the program's flags have it.
pub fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
