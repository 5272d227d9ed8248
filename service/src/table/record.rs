//! The record of a match that is over.

use zetema_rules::fair::Nonce;
use zetema_rules::{Clocks, Dealing, DealingKind, Entrant, PlayedBy, Record, RecordDeal, Step};

use super::state::{Join, Logged, Play, SeatSetup, Stage};
use super::{Change, Deals, Table};

impl Table {
    /// The record of the match; `None` unless it is over. It holds the seed.
    pub fn record(&self) -> Option<Record> {
        let Stage::Over { play, outcome, .. } = &self.stage else { return None };
        let play = play.as_ref();
        Some(Record {
            revision: self.created.rules_revision,
            rules: self.created.rules,
            dealing: self.dealing(play),
            dealer: play.map(|play| play.dealer),
            deals: play.map(|play| self.deals(play)).unwrap_or_default(),
            steps: self.log.iter().filter_map(step).collect(),
            outcome: outcome.clone(),
            clocks: self.clocks(),
        })
    }

    /// How time was charged; `None` if that is not known of all decisions, since the match began before there were clocks.
    fn clocks(&self) -> Option<Clocks> {
        let changes = self.log.iter().map(|logged| &logged.entry.change);
        let uncharged =
            |change: &Change| matches!(change, Change::Acted { by: PlayedBy::Player, ledger: None, .. });
        if changes.clone().any(uncharged) {
            return None;
        }
        let ledger = changes.filter_map(Change::ledger).copied().collect();
        Some(Clocks { control: self.created.time_control, ledger })
    }

    fn dealing(&self, play: Option<&Play>) -> Dealing {
        let (kind, entrants) = match self.created.deals {
            Deals::Fixed => (DealingKind::Fixed, Vec::new()),
            Deals::Joint if self.all_joined() => {
                (DealingKind::Joint, self.seats.iter().filter_map(entrant).collect())
            }
            Deals::Joint => (DealingKind::Joint, Vec::new()),
            // Of a set that was not dealt, a match knows its own seats only.
            Deals::Shared(_) if play.is_none() && self.hashes_were_shown() => {
                (DealingKind::Shared, self.seats.iter().filter_map(entrant).collect())
            }
            Deals::Shared(_) => {
                let entrants = play.map(|play| &*play.entrants).unwrap_or_default();
                let entrant = |entrant: &super::Entrant| Entrant {
                    hash: entrant.nonce_hash,
                    nonce: Some(entrant.nonce.clone()),
                };
                (DealingKind::Shared, entrants.iter().map(entrant).collect())
            }
        };
        let server_seed = self.created.server_seed.clone();
        Dealing { kind, commitment: server_seed.commitment(), server_seed, entrants }
    }

    fn deals(&self, play: &Play) -> Vec<RecordDeal> {
        let public = play.game.public();
        let scores = play.deal_scores.iter().chain([&public.deal_scores]);
        let deal = |(deal, scores): (u32, &[u16; zetema_rules::Seat::MAX])| RecordDeal {
            deck: self.shuffler.deck(&play.seed, deal, self.created.rules.imperial_suit),
            scores: scores[..self.created.rules.sides()].to_vec(),
        };
        (0..=public.deal).zip(scores).map(deal).collect()
    }
}

fn entrant(setup: &SeatSetup) -> Option<Entrant> {
    match setup.joined {
        Join::NotYet => None,
        Join::Joined(None) => Some(Entrant { hash: None, nonce: Some(Nonce::EMPTY) }),
        Join::Joined(hash) => Some(Entrant { hash, nonce: setup.nonce.clone() }),
    }
}

fn step(logged: &Logged) -> Option<Step> {
    match logged.entry.change {
        Change::Acted { seat, action, .. } => {
            let play = logged.play?;
            Some(Step::Play { seat, action, points: play.points, by: play.by })
        }
        Change::Faulted { seat, card, .. } => Some(Step::Fault { seat, card }),
        Change::SeatForfeited { seat, reason, .. } => Some(Step::Forfeit { seat, reason }),
        _ => None,
    }
}
