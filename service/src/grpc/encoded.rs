//! Observations as the bytes of their messages, which are never made: [`wire`](super::wire) has what these would be.

use std::cell::RefCell;

use zetema_proto::{Fields, encode_legal_actions, encode_seat_event, encode_view};
use zetema_rules::{LegalActions, Rules};

use super::wire;
use crate::table::{ClockReading, Observation, TableEvent};

/// Most observations have fewer bytes, and all of plain play.
const MOST_BYTES: usize = 1_024;

thread_local! {
    /// Where observations are written before it is known how long they are: memory that is near, as each is written there.
    static DESK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of an observation, behind room for so many that are sent before it, in no more memory than they need.
pub(super) fn observation(observation: &Observation, rules: &Rules, room_before: usize) -> Vec<u8> {
    DESK.with_borrow_mut(|desk| {
        desk.clear();
        desk.shrink_to(MOST_BYTES);
        desk.resize(room_before, 0);
        write(desk, observation, rules);
        desk.as_slice().to_vec()
    })
}

fn write(bytes: &mut Vec<u8>, observation: &Observation, rules: &Rules) {
    let Observation { seq, decision, events, view, to_decide, clock, receipt } = observation;
    let mut fields = Fields::of(bytes);
    fields.unless_zero(1, *seq);
    if let Some(decision) = *decision {
        fields.number(2, decision);
    }
    for event in events {
        fields.message(3, |fields| match event {
            TableEvent::Game(event) => encode_seat_event(fields, event, rules),
            event => fields.made(&wire::table_event(event, rules)),
        });
    }
    if let Some(view) = view {
        fields.message(4, |fields| encode_view(fields, view));
    }
    if let Some(legal) = to_decide {
        fields.message(5, |fields| decision_of(fields, legal, *clock));
    }
    if let Some(receipt) = receipt {
        fields.number(7, receipt.decision);
    }
}

fn decision_of(fields: &mut Fields<'_>, legal: &LegalActions, clock: Option<ClockReading>) {
    fields.message(1, |fields| encode_legal_actions(fields, legal));
    if let Some(ClockReading { budget_ms, bank_ms, elapsed_ms, strikes_left }) = clock {
        fields.message(2, |clock| {
            clock.unless_zero(1, budget_ms);
            clock.unless_zero(2, bank_ms);
            clock.unless_zero(3, elapsed_ms);
            clock.unless_zero(4, strikes_left);
        });
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use zetema_proto::Views;
    use zetema_rules::{NamedTimeControl, Preset, SeatEvent, TimeControl};

    use super::*;
    use crate::{
        matches::{
            Audience,
            tests::{
                fake::FakeJournal,
                harness::{create_one, drain, open, play_all, spec},
            },
        },
        table::{DealSpec, MatchSpec},
    };

    fn check(observed: &Observation, rules: &Rules) {
        let expected = wire::observation(observed, rules).encode_to_vec();
        for room_before in [0, 22] {
            let bytes = [vec![0; room_before], expected.clone()].concat();
            assert_eq!(observation(observed, rules, room_before), bytes, "{observed:?}");
        }
    }

    /// Matches of this preset, by these clocks, as all look on: that each kind of thing is among what they see.
    async fn check_matches(preset: Preset, players: usize, control: NamedTimeControl) {
        let matches = open(&FakeJournal::new()).await;
        let time_control = TimeControl::named(control);
        let spec = MatchSpec { time_control, ..spec(preset, players, DealSpec::Joint) };
        let info = create_one(&matches, spec).await;
        let mut watching =
            matches.subscribe(info.match_id, Audience::Spectator, None, Views::EveryDecision).await.unwrap();
        let mut all = play_all(&matches, &info).await.concat();
        let has_clock = all.iter().any(|observed| observed.clock.is_some());
        assert_eq!(has_clock, control != NamedTimeControl::None);
        all.extend(drain(&mut watching).await.0);
        assert!(all.iter().any(|observed| observed.receipt.is_some()));
        let happened = |wanted: fn(&TableEvent) -> bool| all.iter().any(|o| o.events.iter().any(wanted));
        assert!(happened(|event| matches!(event, TableEvent::NoncesWanted { .. })));
        assert!(happened(|event| matches!(event, TableEvent::Revealed { .. })));
        assert!(happened(|event| matches!(event, TableEvent::Game(SeatEvent::Declared { .. }))));
        for observed in all {
            check(&observed, &info.rules);
            check(&Observation { view: None, ..observed }, &info.rules);
        }
    }

    #[tokio::test]
    async fn what_is_seen_of_whole_matches_is_encoded_as_its_messages_are() {
        for preset in Preset::ALL {
            let players = preset.players().first().copied().unwrap();
            check_matches(preset, players.into(), NamedTimeControl::None).await;
        }
        check_matches(Preset::Sackson, 4, NamedTimeControl::Blitz).await;
    }
}
