use prost::Message;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use zetema_proto::{RecordHeader, Visibility, record_from_wire, record_to_wire, v1};
use zetema_rules::{
    Action, Attendance, Cards, Charge, Clocks, Declaration, LedgerEntry, NamedTimeControl, Preset, Record,
    Rules, Step, TimeControl,
};

use super::super::record::read_record;
use super::with_mistakes;
use crate::bot::{Bot, Decision};
use crate::simulate::simulate;

/// Any legal action, by lot; and now and then one that is none, by which it forfeits.
struct Random(SmallRng);

impl Bot for Random {
    fn choose(&mut self, decision: &Decision) -> Action {
        if self.0.random_range(0..500) == 0 {
            return Action::Declare(Declaration::Sequence(Cards::EMPTY));
        }
        let index = self.0.random_range(0..decision.legal.len());
        decision.legal.get(index).unwrap()
    }
}

fn ledger_entry(decision: u32, rules: &Rules, random: &mut SmallRng) -> LedgerEntry {
    let players = rules.player_count().count();
    LedgerEntry {
        decision,
        seat: rules.seats().nth(random.random_range(0..players)).unwrap(),
        published_ms: random.random::<u64>() >> random.random_range(1..64),
        received_ms: random.random::<bool>().then(|| random.random::<u64>() >> random.random_range(1..64)),
        charge: Charge {
            credit_ms: random.random::<u32>() >> random.random_range(0..32),
            charged_ms: random.random::<u64>() >> random.random_range(1..64),
            bank_ms: random.random_range(0..3),
        },
        interrupted: random.random(),
        attendance: [None, Some(Attendance::Present), Some(Attendance::Absent)][random.random_range(0..3)],
    }
}

/// The answer with the record of a match that was played by lot.
fn answer(rules: Rules, random: &mut SmallRng) -> Vec<u8> {
    let mut seeds = SmallRng::seed_from_u64(random.random());
    let seeds = std::cell::RefCell::new(&mut seeds);
    let bot = |_: &_| Random(SmallRng::seed_from_u64(seeds.borrow_mut().random()));
    let mut record = simulate(rules, &crate::numbered_seed(random.random()), bot).unwrap().record().unwrap();
    record.clocks = random.random::<bool>().then(|| Clocks {
        control: TimeControl::named(NamedTimeControl::ALL[random.random_range(0..5)]),
        ledger: (0..random.random_range(0..50)).map(|i| ledger_entry(i, &rules, random)).collect(),
    });
    let header = RecordHeader {
        match_id: "m".to_owned(),
        visibility: Visibility::Public,
        client_reference: "a reference".to_owned(),
        created_at_ms: 1_700_000_000_000,
        ended_at_ms: 1_700_000_001_234,
        bots: rules.seats().map(|_| random.random::<bool>().then(|| "a bot".to_owned())).collect(),
        ladder: None,
        deal_set: None,
    };
    v1::GetRecordResponse { record: Some(record_to_wire(&record, &header).unwrap()) }.encode_to_vec()
}

fn decoded(bytes: &[u8]) -> Option<Record> {
    let v1::GetRecordResponse { record } = v1::GetRecordResponse::decode(bytes).ok()?;
    record_from_wire(&record?).ok().map(|(record, _)| record)
}

fn every_record(mut check: impl FnMut(&[u8], &mut SmallRng)) {
    let mut random = SmallRng::seed_from_u64(2);
    for preset in Preset::ALL {
        for players in 2..=6 {
            let Ok(rules) = preset.rules(players, None) else { continue };
            for _ in 0..5 {
                let bytes = answer(rules, &mut random);
                check(&bytes, &mut random);
            }
        }
    }
}

#[test]
fn what_is_read_of_a_record_is_what_is_decoded_and_all_without_faults_and_forfeits_are_read() {
    let (mut all, mut read) = (0, 0);
    every_record(|bytes, _| {
        let decoded = decoded(bytes).unwrap();
        let plain = decoded.steps.iter().all(|step| matches!(step, Step::Play { .. }));
        all += 1;
        read += u32::from(plain);
        assert!(read_record(bytes).map(|record| *record) == plain.then_some(decoded));
    });
    assert!((all / 2..all).contains(&read), "{read} of {all}");
}

#[test]
fn whatever_is_read_of_a_record_with_mistakes_is_what_is_decoded() {
    let mut read = 0;
    every_record(|bytes, random| {
        for _ in 0..200 {
            let bytes = with_mistakes(bytes, random);
            if let Some(record) = read_record(&bytes) {
                read += 1;
                assert!(decoded(&bytes) == Some(*record), "{bytes:?}");
            }
        }
    });
    assert!(read > 500, "{read} were read");
}
