//! The ways in which a bot misbehaves.

use std::net::{IpAddr, Ipv4Addr};

/// A way in which a bot misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It waits, is given matches, and never joins one.
    Silent,
    /// It answers one decision shortly before its time is out, and the next shortly after.
    Slow,
    /// It sends an illegal action before each legal one.
    Illegal,
    /// It cuts its connection every few actions, and comes back.
    Crashing,
    /// It connects, waits on the ladder, and is gone, over and over.
    Reconnecting,
    /// It sends what stands for nothing, as fast as it can.
    Flooding,
    /// It waits on the ladder, and reads nothing that it is sent.
    NeverReading,
    /// Two clients play it at once, as two processes would.
    TwoProcesses,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Silent,
        Self::Slow,
        Self::Illegal,
        Self::Crashing,
        Self::Reconnecting,
        Self::Flooding,
        Self::NeverReading,
        Self::TwoProcesses,
    ];

    /// The name of its bot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Slow => "slow",
            Self::Illegal => "illegal",
            Self::Crashing => "crashing",
            Self::Reconnecting => "reconnecting",
            Self::Flooding => "flooding",
            Self::NeverReading => "never-reading",
            Self::TwoProcesses => "two-processes",
        }
    }

    /// The address that it comes from. Good bots come from 127.0.0.1.
    pub const fn address(self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(127, 0, 0, 10 + self as u8))
    }
}
