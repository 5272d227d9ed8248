//! The setup of a case.

use zetema_rules::{
    Card, Cards, Deck, Game, Phase, Preset, PublicState, Rank, Ranks, Rules, Seat, Seats, Stage, View, Viewer,
};

use super::{read, read_list, read_seat, read_stage, split_word};

/// Where the cards lie that a case does not name.
#[derive(Default)]
enum Rest {
    #[default]
    Stock,
    Played,
}

#[derive(Default)]
pub(super) struct Position {
    rules: Option<Rules>,
    hands: [Cards; Seat::MAX],
    stock: Vec<Card>,
    rest: Rest,
    dealt: Option<(Seat, Vec<Card>)>,
    changes: Vec<Change>,
}

/// What a line of the setup does to the public state.
type Change = Box<dyn Fn(&mut PublicState)>;

impl Position {
    /// Reads one line.
    pub(super) fn set(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "rules" => self.rules = Some(read(rest)?),
            "hand" => {
                let (seat, cards) = split_word(rest);
                self.hands[read_seat(seat)?.index()] = read(cards)?;
            }
            "stock" => self.stock = read_list(rest)?,
            "rest" => {
                self.rest = match rest {
                    "stock" => Rest::Stock,
                    "played" => Rest::Played,
                    _ => return Err(format!("no place {rest:?} for the rest")),
                }
            }
            "dealt" => {
                let (seat, cards) = split_word(rest);
                self.dealt = Some((read_seat(seat)?, read_list(cards)?));
            }
            _ => self.changes.push(change(word, rest)?),
        }
        Ok(())
    }

    fn rules(&self) -> Result<Rules, String> {
        self.rules.map_or_else(|| Preset::default().rules(2, None), Ok).map_err(|error| error.to_string())
    }

    pub(super) fn game(&self) -> Result<Game, String> {
        match &self.dealt {
            Some((dealer, first)) => self.deal(*dealer, first),
            None => self.put(),
        }
    }

    fn deal(&self, dealer: Seat, first: &[Card]) -> Result<Game, String> {
        let rules = self.rules()?;
        let first_cards = Cards::collect(first.iter().copied()).ok_or("a face comes a third time")?;
        let rest = Cards::pack(rules.imperial_suit).minus(first_cards);
        let order: Vec<Card> = first.iter().copied().chain(rest.iter()).collect();
        let deck = Deck::new(&order, rules.imperial_suit).map_err(|error| error.to_string())?;
        Game::new(rules, dealer, &deck, &mut Vec::new()).map_err(|error| error.to_string())
    }

    fn put(&self) -> Result<Game, String> {
        let rules = self.rules()?;
        let seat_0 = read_seat("0")?;
        let mut public = *self.deal(seat_0, &[])?.public();
        public.phase = Phase::Turn { seat: seat_0, stage: Stage::DeclareOrDiscard };
        for change in &self.changes {
            change(&mut public);
        }
        let in_hands = self.hands.iter().flat_map(|hand| hand.iter());
        let named: Vec<Card> =
            public.played(&rules).iter().chain(in_hands).chain(self.stock.iter().copied()).collect();
        let named = Cards::collect(named).ok_or("a face comes a third time")?;
        let rest = Cards::pack(rules.imperial_suit).minus(named);
        let mut stock = self.stock.clone();
        match self.rest {
            Rest::Stock => stock.extend(rest.iter()),
            Rest::Played => {
                for rank in Rank::ALL {
                    let cards = rest.of_rank(rank);
                    if cards.len() == 5 {
                        public.zetemas = public.zetemas.with(rank);
                    } else {
                        public.tableau = public.tableau.sum(cards);
                    }
                }
            }
        }
        public.stock_count = u8::try_from(stock.len()).map_err(|error| error.to_string())?;
        public.hand_counts = self.hands.map(|hand| u8::try_from(hand.len()).unwrap_or(u8::MAX));
        let view = View { rules, public, viewer: Viewer::Spectator, hand: Cards::EMPTY };
        let players = rules.player_count().count();
        view.complete(&self.hands[..players], &stock).map_err(|error| error.to_string())
    }
}

fn change(word: &str, rest: &str) -> Result<Change, String> {
    let (first, more) = split_word(rest);
    let seat = || read_seat(first).map(Seat::index);
    Ok(match word {
        "tableau" => {
            let cards: Cards = read(rest)?;
            Box::new(move |public| public.tableau = cards)
        }
        "marriages" => {
            let cards: Cards = read(rest)?;
            Box::new(move |public| public.marriages = cards)
        }
        "zetemas" => {
            let ranks = read_ranks(rest)?;
            Box::new(move |public| public.zetemas = ranks)
        }
        "removed" => {
            let ranks = read_ranks(rest)?;
            Box::new(move |public| public.removed = ranks)
        }
        "assemblies" => {
            let ranks = read_ranks(rest)?;
            Box::new(move |public| public.assemblies = ranks)
        }
        "turn" => {
            let seat = read_seat(first)?;
            let stage = if more.is_empty() { Stage::DeclareOrDiscard } else { read_stage(more)? };
            Box::new(move |public| public.phase = Phase::Turn { seat, stage })
        }
        "known" => {
            let (seat, cards): (_, Cards) = (seat()?, read(more)?);
            Box::new(move |public| public.known_held[seat] = cards)
        }
        "exposed" => {
            let (seat, card): (_, Card) = (seat()?, read(more)?);
            Box::new(move |public| public.exposed[seat] = Some(card))
        }
        "penalty" => {
            let (seat, cards) = (seat()?, read(more)?);
            Box::new(move |public| public.draw_penalties[seat] = cards)
        }
        "last" => {
            let (seat, cards): (_, Cards) = (seat()?, read(more)?);
            Box::new(move |public| public.last_melds[seat] = Some(cards))
        }
        "dealer" => {
            let seat = read_seat(first)?;
            Box::new(move |public| public.dealer = seat)
        }
        "forfeited" => {
            let seats: Vec<Seat> = rest.split_whitespace().map(read_seat).collect::<Result<_, _>>()?;
            let seats = seats.into_iter().fold(Seats::EMPTY, Seats::with);
            Box::new(move |public| public.forfeited = seats)
        }
        "totals" => {
            let totals: Vec<u16> = read_list(rest)?;
            Box::new(move |public| {
                public.totals.iter_mut().zip(&totals).for_each(|(total, &given)| *total = given);
            })
        }
        _ => return Err(format!("no setup {word:?}")),
    })
}

fn read_ranks(text: &str) -> Result<Ranks, String> {
    Ok(read_list(text)?.into_iter().fold(Ranks::EMPTY, Ranks::with))
}
