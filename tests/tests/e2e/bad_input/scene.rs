//! Matches in every state that an input can meet.

use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::Preset;
use zetema_rules::fair::Nonce;
use zetema_rules::{Action, Card};
use zetema_tests::harness::{Clients, Created, Open, Table, TestServer, join_all, preset, shared, soon};

/// The id of the request that replaced a token.
pub(crate) const ROTATION_ID: &str = "one-rotation";

/// A server with matches in every state.
pub(crate) struct Scene {
    pub(crate) clients: Clients,
    /// The server itself.
    pub(crate) server: TestServer,
    /// Two seats: seat 0 has joined with a nonce hash, seat 1 has not, and its first token was replaced.
    pub(crate) joining: Created,
    /// The token that was replaced.
    pub(crate) replaced_token: String,
    /// Three seats, all joined: the nonce of seat 0 is in, that of seat 1 is missing, seat 2 promised none.
    pub(crate) nonces: Created,
    /// Two seats, in play; the nonces were those of [`nonce`].
    pub(crate) playing: InPlay,
    /// Two seats, in play by the rules that have faults (R28).
    pub(crate) faults: InPlay,
    /// Three seats, in play; seat 2 has resigned.
    pub(crate) forfeited: InPlay,
    /// Played to its end.
    pub(crate) over: Created,
    /// Aborted.
    pub(crate) cancelled: Created,
    /// Two matches with the same deals: the first is over, the second has been dealt.
    pub(crate) held: Vec<Created>,
    /// The players of the second.
    pub(crate) held_table: Table,
}

/// A match that is in play, with its players.
pub(crate) struct InPlay {
    pub(crate) created: Created,
    pub(crate) table: Table,
    /// The decision that is open.
    pub(crate) open: Open,
}

/// The nonce of a seat.
pub(crate) fn nonce(seat: usize) -> Nonce {
    Nonce::new(format!("nonce of seat {seat}").as_bytes()).unwrap()
}

impl InPlay {
    async fn new(clients: &Clients, spec: v1::MatchSpec, decision: u32) -> Self {
        let created = clients.create(spec).await;
        join_all(clients, &[&created], |seat| Some(nonce(seat))).await;
        let mut table = Table::open(clients, &created.tokens).await;
        table.play_to(decision).await;
        let open = table.decision().await.expect("a match is longer than this");
        // What the others hold is known once they have been told of the same decision.
        while table.seats.iter().any(|seat| seat.decision_number() != Some(open.number)) {
            table.read().await.unwrap();
        }
        Self { created, table, open }
    }

    /// The token of the seat that is to act.
    pub(crate) fn actor(&self) -> &str {
        &self.created.tokens[self.open.seat]
    }

    /// A seat that is not to act.
    pub(crate) fn other_seat(&self) -> usize {
        (self.open.seat + 1) % self.created.tokens.len()
    }

    /// The token of a seat that is not to act.
    pub(crate) fn other(&self) -> &str {
        &self.created.tokens[self.other_seat()]
    }

    /// A card that this seat does not hold.
    pub(crate) fn not_held(&self, seat: usize) -> Card {
        self.table.seats[seat].not_held()
    }
}

impl Scene {
    pub(crate) async fn set() -> Self {
        let (server, clients) = TestServer::start().await;
        let two = preset(Preset::Sackson, 2);

        let joining = clients.create(two.clone()).await;
        join(&clients, &joining.tokens[0], Some(nonce(0))).await;
        let rotate = v1::RotateSeatTokenRequest {
            match_id: joining.id().to_owned(),
            seat: 1,
            request_id: ROTATION_ID.to_owned(),
        };
        let rotated = soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate)).await.unwrap();
        let replaced_token = joining.tokens[1].clone();
        let mut joining = joining;
        joining.tokens[1] = rotated.into_inner().seat_token.unwrap().token;

        let nonces = clients.create(preset(Preset::Sackson, 3)).await;
        for (seat, token) in nonces.tokens.iter().enumerate() {
            join(&clients, token, (seat < 2).then(|| nonce(seat))).await;
        }
        let first = v1::SendNonceRequest {
            seat_token: nonces.tokens[0].clone(),
            nonce: nonce(0).to_wire(),
            assigned: None,
        };
        soon("SendNonce", clients.play().send_nonce(first)).await.unwrap();

        let over = InPlay::new(&clients, two.clone(), 1).await;
        let mut table = over.table;
        table.play_out().await;

        let cancelled = clients.create(two.clone()).await;
        cancel(&clients, &cancelled).await;

        let held = clients.create_batch(vec![shared(two.clone(), 1), shared(two.clone(), 1)]).await;
        join_all(&clients, &held.iter().collect::<Vec<_>>(), |_| None).await;
        Table::open(&clients, &held[0].tokens).await.play_out().await;
        let mut held_table = Table::open(&clients, &held[1].tokens).await;
        held_table.decision().await.unwrap();

        let mut forfeited = InPlay::new(&clients, preset(Preset::Sackson, 3), 4).await;
        while forfeited.open.seat == 2 {
            forfeited.table.act_at_random().await;
            forfeited.open = forfeited.table.decision().await.unwrap();
        }
        forfeited.table.resign(2).await;

        Self {
            joining,
            replaced_token,
            nonces,
            playing: InPlay::new(&clients, two, 6).await,
            faults: InPlay::new(&clients, preset(Preset::Victorian, 2), 3).await,
            forfeited,
            over: over.created,
            cancelled,
            held,
            held_table,
            clients,
            server,
        }
    }

    /// Every match, with its name here.
    pub(crate) fn matches(&self) -> Vec<(&'static str, &Created)> {
        vec![
            ("joining", &self.joining),
            ("nonces", &self.nonces),
            ("playing", &self.playing.created),
            ("faults", &self.faults.created),
            ("forfeited", &self.forfeited.created),
            ("over", &self.over),
            ("cancelled", &self.cancelled),
            ("held, over", &self.held[0]),
            ("held, in play", &self.held[1]),
        ]
    }
}

async fn join(clients: &Clients, token: &str, nonce: Option<Nonce>) {
    let nonce_hash = nonce.map(|nonce| nonce.hash()).to_wire();
    let request = v1::JoinSeatRequest { seat_token: token.to_owned(), nonce_hash, assigned: None };
    soon("JoinSeat", clients.play().join_seat(request)).await.unwrap();
}

pub(crate) async fn cancel(clients: &Clients, created: &Created) -> v1::Match {
    let request = v1::CancelMatchRequest { match_id: created.id().to_owned() };
    let answer = soon("CancelMatch", clients.matches().cancel_match(request)).await.unwrap();
    answer.into_inner().r#match.unwrap()
}

/// A message that discards a card.
pub(crate) fn discard(decision_number: u32, card: Card) -> v1::Act {
    act(decision_number, v1::act::Choice::Action(Action::Discard(card).to_wire()))
}

/// A message that answers a decision.
pub(crate) fn act(decision_number: u32, choice: v1::act::Choice) -> v1::Act {
    v1::Act { decision_number, choice: Some(choice) }
}
