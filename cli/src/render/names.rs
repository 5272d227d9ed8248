//! What the seats are called.

use zetema_rules::{Rules, Seat, Side, Teams};

/// What the seats of a match are called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    rules: Rules,
    players: Vec<String>,
}

impl Names {
    /// Seats that are known by their numbers alone.
    pub(crate) const fn numbers(rules: Rules) -> Self {
        Self { rules, players: Vec::new() }
    }

    /// Seats whose players have names, seat 0 first.
    pub(crate) const fn players(rules: Rules, players: Vec<String>) -> Self {
        Self { rules, players }
    }

    /// The rules of the match.
    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The player's name alone, empty if it has none.
    pub(crate) fn player(&self, seat: Seat) -> &str {
        self.players.get(seat.index()).map_or("", String::as_str)
    }

    /// `seat 0`, or `seat 0 (greedy)`.
    pub(crate) fn seat(&self, seat: Seat) -> String {
        match self.player(seat) {
            "" => format!("seat {seat}"),
            player => format!("seat {seat} ({player})"),
        }
    }

    /// All seats with their players.
    pub(crate) fn all(&self) -> String {
        self.rules.seats().map(|seat| self.seat(seat)).collect::<Vec<_>>().join(", ")
    }

    /// The seat if it plays for itself, else `side 0 (seats 0, 2)`.
    pub(crate) fn side(&self, side: Side) -> String {
        let mut seats = self.rules.seats().filter(|&seat| self.rules.side(seat) == side);
        if self.rules.teams == Teams::Individual {
            return seats.next().map_or_else(String::new, |seat| self.seat(seat));
        }
        let seats: Vec<String> = seats
            .map(|seat| match self.player(seat) {
                "" => seat.to_string(),
                player => format!("{seat} {player}"),
            })
            .collect();
        format!("side {side} (seats {})", seats.join(", "))
    }

    /// All sides.
    pub(crate) fn sides(&self) -> impl Iterator<Item = Side> + use<> {
        (0..self.rules.sides()).filter_map(Side::new)
    }
}
