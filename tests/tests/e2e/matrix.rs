//! Every preset, number of players and form of teams, with deals of every kind, over the wire.

use futures::StreamExt;
use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::{ErrorReason, match_spec};
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{DealingKind, Players, Preset, Record, Teams};
use zetema_tests::harness::{
    Clients, Created, Table, TestServer, check_by_reference, fixed, join_all, joint, preset, shared,
};

/// Sets of matches that are played at once.
const AT_ONCE: usize = 8;

/// A form of the game that a preset allows.
#[derive(Clone, Copy, Debug)]
struct Form {
    preset: Preset,
    players: usize,
    teams: Teams,
}

fn forms() -> Vec<Form> {
    let of_preset = |preset: Preset| {
        preset.players().iter().flat_map(move |&players| {
            let teams = preset.teams(Players::new(players.into()).unwrap());
            teams.iter().map(move |&teams| Form { preset, players: players.into(), teams })
        })
    };
    Preset::ALL.into_iter().flat_map(of_preset).collect()
}

impl Form {
    fn spec(self) -> v1::MatchSpec {
        let rules = v1::PresetRules {
            preset: self.preset.to_wire(),
            teams: Some(self.teams.to_wire()),
            imperial_suit: None,
        };
        let any = preset(v1::Preset::Unspecified, self.players);
        v1::MatchSpec { rules: Some(match_spec::Rules::Preset(rules)), ..any }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_form_of_the_game_is_played_to_a_record_that_the_reference_agrees_with() {
    let (server, clients) = TestServer::start().await;
    let forms = forms();
    assert_eq!(forms.len(), 35);
    let played = futures::stream::iter(forms).map(|form| tokio::spawn(play(clients.clone(), form)));
    let records: Vec<_> = played.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(records.into_iter().map(Result::unwrap).sum::<usize>(), 35 * 4);
    server.stop().await;
}

/// Plays a form with deals of every kind: how many matches that were.
async fn play(clients: Clients, form: Form) -> usize {
    let kinds = [
        (joint(form.spec()), DealingKind::Joint),
        (fixed(form.spec(), [u8::try_from(form.players).unwrap(); 32]), DealingKind::Fixed),
    ];
    for (spec, kind) in kinds {
        let created = clients.create(spec).await;
        let promises = kind == DealingKind::Joint;
        join_all(&clients, &[&created], |seat| promises.then(|| nonce(seat))).await;
        Table::open(&clients, &created.tokens).await.play_out().await;
        let record = check(&clients, &created, form, kind).await;
        if let DealingKind::Fixed = kind {
            let seed = ServerSeed::new([u8::try_from(form.players).unwrap(); 32]);
            assert!(record.dealing.server_seed == seed, "{form:?}: the seed is the one that was given");
        }
    }
    2 + play_set(&clients, form).await
}

fn nonce(seat: usize) -> Nonce {
    Nonce::new(&[u8::try_from(seat).unwrap(); 7]).unwrap()
}

/// Plays two matches with the same deals, of which the first is held until the second is over.
async fn play_set(clients: &Clients, form: Form) -> usize {
    let set = clients.create_batch(vec![shared(form.spec(), 7), shared(form.spec(), 7)]).await;
    join_all(clients, &set.iter().collect::<Vec<_>>(), |seat| Some(nonce(seat))).await;
    for (i, created) in set.iter().enumerate() {
        if let Some(before) = i.checked_sub(1) {
            let status = clients.get_record(set[before].id()).await.unwrap_err();
            let error = v1::Error::from_status(&status).unwrap();
            assert_eq!(error.reason(), ErrorReason::HeldUntilReveal, "{form:?}");
            let info = clients.get(set[before].id()).await;
            assert!(info.outcome.is_some(), "{form:?}: a result carries scores before the reveal");
        }
        Table::open(clients, &created.tokens).await.play_out().await;
    }
    let mut records = Vec::new();
    for created in &set {
        records.push(check(clients, created, form, DealingKind::Shared).await);
    }
    let decks = |record: &Record| record.deals.iter().map(|deal| deal.deck).collect::<Vec<_>>();
    let both = records[0].deals.len().min(records[1].deals.len());
    assert!(decks(&records[0])[..both] == decks(&records[1])[..both], "{form:?}: the deals are the same");
    assert_eq!(records[0].dealer, records[1].dealer);
    set.len()
}

/// The record verifies, the reference agrees, and what was promised at the creation was kept.
async fn check(clients: &Clients, created: &Created, form: Form, kind: DealingKind) -> Record {
    let record = clients.verified_record(created.id()).await;
    check_by_reference(&record);
    assert_eq!(record.dealing.kind, kind, "{form:?}");
    assert_eq!(record.dealing.commitment.to_wire(), created.info.commitment, "{form:?}");
    assert_eq!(record.dealing.server_seed.commitment(), record.dealing.commitment, "{form:?}");
    assert_eq!(record.rules, form.preset.rules(form.players, Some(form.teams)).unwrap());
    record
}
