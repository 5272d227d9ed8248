//! What the fake journal is told, and what a test sees of it.

use super::{FakeJournal, Fate};
use crate::journal::{MatchId, MetaKey, Payload, RecordBytes, ResultNumber, Summary};

impl FakeJournal {
    /// The next appends and ends meet these fates, the first one first.
    pub(crate) fn doom(&self, fates: &[Fate]) {
        self.inner.lock().unwrap().fates = fates.to_vec();
    }

    /// The next append takes so long.
    pub(in crate::matches::tests) fn delay(&self, time: std::time::Duration) {
        self.inner.lock().unwrap().delay = Some(time);
    }

    /// The next page of results takes so long.
    pub(crate) fn delay_page(&self, time: std::time::Duration) {
        self.inner.lock().unwrap().page_delay = Some(time);
    }

    /// How often all of a match was read.
    pub(in crate::matches::tests) fn reads(&self) -> usize {
        self.inner.lock().unwrap().reads
    }

    /// Damage was found in this match.
    pub(in crate::matches::tests) fn quarantine(&self, match_id: MatchId) {
        self.inner.lock().unwrap().quarantined.push(match_id);
    }

    /// The next reads fail.
    pub(crate) fn blind(&self, reads: usize) {
        self.inner.lock().unwrap().unreadable = reads;
    }

    /// The next reads of the first record of a match fail.
    pub(in crate::matches::tests) fn blind_to_first(&self, reads: usize) {
        self.inner.lock().unwrap().first_unreadable = reads;
    }

    /// The first record of a running match is this.
    pub(in crate::matches::tests) fn replace_first(&self, match_id: MatchId, payload: Payload) {
        self.inner.lock().unwrap().running.get_mut(&match_id).unwrap()[0] = payload;
    }

    /// What lists and results show of this result can't be read any more.
    pub(crate) fn damage(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let damaged = inner.finished.iter_mut().find(|finished| finished.result.number == number).unwrap();
        damaged.result.summary = Summary::new(vec![0xff; 3]).unwrap();
    }

    /// The record of this result can't be read any more.
    pub(crate) fn damage_record(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let damaged = inner.finished.iter_mut().find(|finished| finished.result.number == number).unwrap();
        damaged.record = RecordBytes::new(vec![0xff; 3]).unwrap();
    }

    /// From now on what is stored of the match of this result can't be read, and may be later.
    pub(crate) fn hide_record(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let hidden = inner.finished.iter().find(|finished| finished.result.number == number).unwrap();
        let hidden = hidden.result.match_id;
        inner.hidden.push(hidden);
    }

    /// What was hidden can be read again.
    pub(in crate::matches::tests) fn show_records(&self) {
        self.inner.lock().unwrap().hidden.clear();
    }

    /// This result is not there any more.
    pub(crate) fn lose(&self, number: ResultNumber) {
        self.inner.lock().unwrap().lost.push(number);
    }

    /// The keys of all values.
    pub(crate) fn meta_keys(&self) -> Vec<MetaKey> {
        self.inner.lock().unwrap().meta.keys().cloned().collect()
    }

    /// How many pages of results were read.
    pub(crate) fn result_pages(&self) -> usize {
        self.inner.lock().unwrap().result_pages
    }

    /// Another journal that holds what this one does with the last records of a running match cut off.
    pub(crate) fn cut(&self, match_id: MatchId, records: usize) -> Self {
        let other = Self::new();
        let (mut running, meta) = {
            let inner = self.inner.lock().unwrap();
            (inner.running.clone(), inner.meta.clone())
        };
        if let Some(kept) = running.get_mut(&match_id) {
            kept.truncate(records);
        }
        {
            let mut inner = other.inner.lock().unwrap();
            (inner.running, inner.meta) = (running, meta);
        }
        other
    }

    /// Appends a record that no table has asked for.
    pub(crate) fn sneak(&self, match_id: MatchId, payload: Payload) {
        self.inner.lock().unwrap().running.get_mut(&match_id).unwrap().push(payload);
    }

    pub(crate) fn records(&self, match_id: MatchId) -> Vec<Payload> {
        self.inner.lock().unwrap().running.get(&match_id).cloned().unwrap_or_default()
    }
}
