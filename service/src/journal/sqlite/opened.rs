//! Opening a journal: what is looked at before anything is changed, and then its threads.

use std::path::Path;
use std::sync::Arc;
use std::{io, thread};

use tokio::sync::{mpsc, watch};

use super::clean::Cleaning;
use super::committing::Failing;
use super::folder::{Folder, Purpose};
use super::hand_out::hand_out;
use super::inbox::Inbox;
use super::pending::Pending;
use super::readers::Readers;
use super::stats::Stats;
use super::verify::{self, Depth};
use super::writer::{Unseen, Wal, Writer};
use super::{
    OpenError, Options, Quarantine, Recovery, SqliteJournal, fold, limits, live, probe, recover, schema,
    settling,
};
use crate::journal::redo::{FrameBuilder, RedoLog};
use crate::journal::{Epoch, Health, ResultNumber};

/// A journal that was read, before its threads run.
pub(super) struct Opened {
    folder: Folder,
    conn: rusqlite::Connection,
    redo: Option<RedoLog>,
    epoch: Epoch,
    live: live::Live,
    recovery: Recovery,
    readers: Vec<rusqlite::Connection>,
}

impl Opened {
    pub(super) fn new(path: &Path, options: &Options, purpose: Purpose) -> Result<Self, OpenError> {
        let folder = Folder::open(path, purpose)?;
        let found = schema::look(&folder.database())?;
        verify::is_there(&found, &folder)?;
        verify::database(&found, Depth::Start)?;
        let redo = fold::look(&found, folder.path())?;
        redo.ends_are_stored(&found.conn)?;
        fold::begin(&found.conn, &redo, options.segment_rows)?;
        let (mut live, mut recovery) = recover::scan(&found.conn, found.schema)?;
        verify::results(&found, Depth::Start, &mut recovery)?;
        recovery.redo_commits = redo.commits();
        fold::take_back(&found.conn)?;
        // All was read, and nothing changed. From here on it is.
        let (mut conn, epoch) = schema::open_writer(found, options, live.segments())?;
        let redo = fold::for_good(&conn, &redo, options, folder.path())?;
        if redo.is_some() {
            live.may_have_copies();
        }
        recover::quarantine(&mut conn, &recovery.quarantined)?;
        for Quarantine { match_id, intact, damage } in &recovery.quarantined {
            tracing::error!(%match_id, %intact, %damage, "a match is damaged and quarantined");
        }
        for damage in &recovery.stray {
            tracing::error!(%damage, "the journal is damaged");
        }
        let readers: Result<_, _> =
            (0..limits::READERS).map(|_| schema::open_reader(&folder.database())).collect();
        Ok(Self { readers: readers?, folder, conn, redo, epoch, live, recovery })
    }

    pub(super) fn start(self, options: Options) -> io::Result<(SqliteJournal, Recovery)> {
        let Self { folder, conn, redo, epoch, live, recovery, readers } = self;
        let (requests, waiting) = mpsc::channel(limits::WAITING_REQUESTS);
        let (batches, handed_back) = mpsc::channel(limits::WAITING_BATCHES);
        let (latest, latest_result) = watch::channel(ResultNumber::new(live.next_result() - 1));
        let (healthy, health) = watch::channel(Health::Writing);
        let stats = Arc::new(Stats::default());
        let writer = Writer {
            in_use: folder.in_use()?,
            conn,
            live,
            options,
            batches,
            health: healthy,
            stats: stats.clone(),
            folder,
            row: Vec::new(),
            frame: FrameBuilder::default(),
            pending: Pending::default(),
            redo,
            wal: Wal::Clean,
            unseen: Unseen::default(),
            failing: Failing::default(),
            cleaning: Cleaning::default(),
        };
        let readers = Readers::start(readers)?;
        thread::Builder::new()
            .name("journal writer".to_owned())
            .spawn(move || writer.run(Inbox::new(waiting)))?;
        tokio::spawn(hand_out(handed_back, latest));
        tokio::spawn(probe::while_failing(requests.downgrade(), health.clone(), epoch));
        tokio::spawn(settling::now_and_then(requests.downgrade(), stats.clone()));
        Ok((SqliteJournal { epoch, requests, readers, latest_result, health, stats }, recovery))
    }
}
