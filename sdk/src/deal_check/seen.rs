//! What a seat saw happen in the game, in little memory.

use std::{fmt, slice};

use zetema_rules::{Card, Cards, OwnCards, Rank, Seat, SeatEvent};

use crate::prefetch::prefetch;

/// What a seat saw happen, in order.
///
/// Who plays in a thousand matches writes to the end of as many lists in turn, and what was not touched for a while is far from the
/// processor. So what happens most takes 4 bytes, where an event takes 48, and comes here some at a time ([`Latest`]).
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// As many of them are [`Brief::Whole`] as there are whole ones.
    events: Vec<Brief>,
    /// Those that are not told briefly, in order.
    whole: Vec<SeatEvent>,
}

/// As events, which show no hidden card.
impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// An event, briefly. It has no `Debug`, as one may be of a hidden card.
#[derive(Clone, Copy, Default)]
enum Brief {
    /// A seat drew so many cards, unseen.
    Unseen { seat: Seat, count: u8 },
    /// The seat drew this card, and no other.
    DrewOne { seat: Seat, card: Card },
    /// As in the event.
    Discarded { seat: Seat, card: Card },
    /// As in the event.
    Zetema { seat: Seat, rank: Rank, points: u16 },
    /// The next of those that are whole.
    #[default]
    Whole,
}

impl Seen {
    /// Whether nothing was seen.
    pub(crate) const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(crate) const fn len(&self) -> usize {
        self.events.len()
    }

    /// All events, in order.
    pub(crate) fn iter(&self) -> Rest<'_> {
        Rest { place: 0, events: self.events.iter(), whole: self.whole.iter() }
    }

    /// Has the processor fetch where the next event comes to.
    pub(crate) fn prefetch_end(&self) {
        if let Some(last) = self.events.last() {
            prefetch(last);
        }
    }

    /// Adds what was seen last, of which nothing is left there.
    pub(crate) fn append(&mut self, latest: &mut Latest) {
        if self.events.capacity() == 0 {
            self.events.reserve(ROOM);
        }
        self.events.extend_from_slice(&latest.events[..usize::from(latest.count)]);
        latest.count = 0;
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, event: SeatEvent) {
        let brief = Brief::of(&event).unwrap_or_else(|| {
            self.whole.push(event);
            Brief::Whole
        });
        self.events.push(brief);
    }
}

#[cfg(test)]
impl FromIterator<SeatEvent> for Seen {
    fn from_iter<T: IntoIterator<Item = SeatEvent>>(events: T) -> Self {
        let mut seen = Self::default();
        events.into_iter().for_each(|event| seen.push(event));
        seen
    }
}

/// How many events of a seat wait before they are put with the others.
const LATEST: usize = 15;
/// How many most observations add at most.
const USUAL: usize = 3;
/// For how many events there is room from the start: nearly those of a match of two by `sackson`.
const ROOM: usize = 128;

/// What a seat saw last, where all else is that an observation touches. It has no `Debug`, as it may have a hidden card.
#[derive(Default)]
pub(crate) struct Latest {
    events: [Brief; LATEST],
    count: u8,
}

impl Latest {
    /// Whether the next observation may have more than there is room for.
    pub(crate) const fn is_nearly_full(&self) -> bool {
        self.count as usize + USUAL > LATEST
    }

    /// Puts down an event; gives it back if there is no room, or it can't be told briefly.
    pub(crate) fn add(&mut self, event: SeatEvent) -> Result<(), SeatEvent> {
        let place = self.events.get_mut(usize::from(self.count)).ok_or(event)?;
        *place = Brief::of(&event).ok_or(event)?;
        self.count += 1;
        Ok(())
    }
}

impl Brief {
    fn of(event: &SeatEvent) -> Option<Self> {
        Some(match *event {
            SeatEvent::Drew { seat, count, cards: None } => Self::Unseen { seat, count },
            SeatEvent::Drew { seat, count: 1, cards: Some(OwnCards(cards)) } => {
                Self::DrewOne { seat, card: only(cards)? }
            }
            SeatEvent::Discarded { seat, card } => Self::Discarded { seat, card },
            SeatEvent::Zetema { seat, rank, points } => Self::Zetema { seat, rank, points },
            _ => return None,
        })
    }
}

/// The card, if it is one.
fn only(cards: Cards) -> Option<Card> {
    let mut cards = cards.iter();
    cards.next().filter(|_| cards.next().is_none())
}

/// What was seen from some place on.
#[derive(Clone)]
pub(crate) struct Rest<'a> {
    place: usize,
    events: slice::Iter<'a, Brief>,
    whole: slice::Iter<'a, SeatEvent>,
}

impl Rest<'_> {
    /// The place of the next event, from 0.
    pub(crate) const fn place(&self) -> usize {
        self.place
    }
}

impl Iterator for Rest<'_> {
    type Item = SeatEvent;

    fn next(&mut self) -> Option<SeatEvent> {
        let event = match *self.events.next()? {
            Brief::Unseen { seat, count } => SeatEvent::Drew { seat, count, cards: None },
            Brief::DrewOne { seat, card } => {
                SeatEvent::Drew { seat, count: 1, cards: Some(OwnCards(card.into())) }
            }
            Brief::Discarded { seat, card } => SeatEvent::Discarded { seat, card },
            Brief::Zetema { seat, rank, points } => SeatEvent::Zetema { seat, rank, points },
            Brief::Whole => *self.whole.next()?,
        };
        self.place += 1;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::{Declaration, Suit};

    use super::*;

    fn drew(count: u8, cards: &str) -> SeatEvent {
        let cards = cards.split_whitespace().map(|card| card.parse().unwrap());
        let cards = Some(OwnCards(Cards::collect(cards).unwrap()));
        SeatEvent::Drew { seat: Seat::new(5).unwrap(), count, cards }
    }

    #[test]
    fn every_event_comes_back_as_it_was_also_such_as_no_match_has() {
        let (seat, last) = (Seat::new(0).unwrap(), Seat::new(5).unwrap());
        let card: Card = "KS".parse().unwrap();
        let unseen = |count| SeatEvent::Drew { seat, count, cards: None };
        let zetema = |points| SeatEvent::Zetema { seat: last, rank: Rank::King, points };
        let declaration = Declaration::Assembly(Rank::Two);
        let events = [
            SeatEvent::DealStarted { deal: u32::MAX, dealer: last },
            unseen(0),
            unseen(1),
            unseen(255),
            drew(0, ""),
            drew(1, ""),
            drew(0, "KS"),
            drew(1, "KS"),
            drew(2, "KS"),
            drew(1, "KS KS"),
            drew(2, "KS KS"),
            drew(1, "2C KS"),
            SeatEvent::Declared { seat: last, declaration, points: u16::MAX },
            SeatEvent::Discarded { seat: last, card },
            zetema(0),
            zetema(u16::MAX),
            SeatEvent::Exposed { seat, card },
            SeatEvent::ExtraTurn { seat },
            SeatEvent::DealOver { deal: 1, deal_scores: [7; Seat::MAX] },
            SeatEvent::Forfeited { seat: last },
            SeatEvent::Discarded { seat, card: Card::new(Rank::Two, Suit::Clubs) },
        ];
        let seen: Seen = events.into_iter().collect();
        let mut rest = seen.iter();
        for (place, event) in events.into_iter().enumerate() {
            assert_eq!((rest.place(), rest.next()), (place, Some(event)));
        }
        assert_eq!((rest.place(), rest.next()), (events.len(), None));
    }

    #[test]
    fn what_was_seen_last_comes_behind_the_rest_in_order() {
        let seat = Seat::new(1).unwrap();
        let briefly = |number| SeatEvent::Zetema { seat, rank: Rank::King, points: number };
        let whole = SeatEvent::ExtraTurn { seat };
        // After so many that are told briefly one that is not.
        for before in [0, 1, LATEST - 1, LATEST, LATEST + 1, 3 * LATEST] {
            let events: Vec<_> =
                (0..).map(briefly).take(before).chain([whole, briefly(7), whole, briefly(8)]).collect();
            let (mut seen, mut latest) = (Seen::default(), Latest::default());
            for event in &events {
                if latest.add(*event).is_err() {
                    seen.append(&mut latest);
                    seen.push(*event);
                }
            }
            seen.append(&mut latest);
            seen.append(&mut latest);
            assert_eq!(seen.iter().collect::<Vec<_>>(), events);
        }
    }

    #[test]
    fn a_hidden_card_is_not_shown() {
        let seen: Seen = [drew(1, "KS")].into_iter().collect();
        assert_eq!(format!("{seen:?}"), format!("{:?}", [drew(1, "KS")]));
        assert!(!format!("{seen:?}").contains("KS"));
    }

    #[test]
    fn what_happens_most_takes_four_bytes() {
        assert_eq!(size_of::<Brief>(), 4);
    }
}
