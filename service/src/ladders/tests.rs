//! Ladders on matches in memory, on paused time.

mod archive;
mod broken;
mod capacity;
mod cheats;
mod conduct;
mod filter;
mod honesty;
mod keeper;
mod log;
mod luck;
mod places;
mod settings;

use std::collections::HashMap;
use std::num::{NonZeroU16, NonZeroUsize};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;
use zetema_ladder::quota::Quota;
use zetema_rules::Preset;

use super::*;
use crate::config::Config as ServerConfig;
use crate::journal::{BotToken, MatchId, Owner, UnixMillis};
use crate::limits;
use crate::matches::tests::fake::{FakeJournal, Fate};
use crate::matches::{self, SystemClock, SystemEntropy};
use crate::table::{Command as Ask, FairShuffler, Moment};

/// A wall clock that goes with tokio's own time, and may be put back by so many milliseconds.
struct Wall(SystemClock, tokio::time::Instant, AtomicU64);

impl Clock for Wall {
    fn now(&self) -> Moment {
        self.0.now()
    }

    fn wall(&self) -> UnixMillis {
        let back = self.2.load(Ordering::Relaxed);
        UnixMillis::new(1_700_000_000_000 + u64::try_from(self.1.elapsed().as_millis()).unwrap() - back)
    }
}

/// Accounts, and whether asking for one panics.
#[derive(Default)]
struct Registered(Mutex<HashMap<BotName, Account>>, AtomicBool);

impl Registered {
    fn panic_once(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    fn panics(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

impl Accounts for Registered {
    fn account(&self, bot: &BotName) -> Option<Account> {
        assert!(!self.1.swap(false, Ordering::Relaxed), "as told");
        self.0.lock().unwrap().get(bot).cloned()
    }
}

pub(crate) struct Scene {
    specs: LadderSpecs,
    /// For the results of each ladder.
    room: Room,
    journal: FakeJournal,
    matches: Matches,
    accounts: Arc<Registered>,
    clock: Arc<Wall>,
    pub(crate) pressure: Arc<Pressure>,
    disk_room: Arc<DiskRoom>,
    /// Where the luck of results is kept.
    folder: TempDir,
    pub(crate) ladders: Ladders,
    tasks: TaskTracker,
    stop: CancellationToken,
}

pub(crate) const LADDER: &str = "quick-2";

pub(crate) fn bot(name: &str) -> BotName {
    BotName::new(name).unwrap()
}

fn specs() -> LadderSpecs {
    ServerConfig::default().ladders
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(specs()).await
    }

    async fn with(specs: LadderSpecs) -> Self {
        Self::with_room(specs, usual_room()).await
    }

    async fn with_room(specs: LadderSpecs, room: Room) -> Self {
        let journal = FakeJournal::new();
        let clock = Arc::new(Wall(SystemClock::new(), tokio::time::Instant::now(), AtomicU64::new(0)));
        Self::on(specs, room, journal, Arc::default(), clock, tempfile::tempdir().unwrap(), 0).await
    }

    /// A server on this journal, of which it can't read results for so many times.
    async fn on(
        specs: LadderSpecs,
        room: Room,
        journal: FakeJournal,
        accounts: Arc<Registered>,
        clock: Arc<Wall>,
        folder: TempDir,
        blind: usize,
    ) -> Self {
        let config = matches::Config {
            journal: Arc::new(journal.clone()),
            clock: Arc::<Wall>::clone(&clock),
            entropy: Arc::new(SystemEntropy),
            shuffler: Arc::new(FairShuffler),
            limits: matches::Limits::default(),
            faults: None,
        };
        let (matches, _) = Matches::open(config).await.unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        journal.blind(blind);
        let (pressure, disk_room) = (Arc::new(Pressure::new()), Arc::new(DiskRoom::new(1)));
        let config = Config {
            specs: specs.clone(),
            matches: matches.clone(),
            accounts: Arc::<Registered>::clone(&accounts),
            house_bots: HouseBots::default(),
            store: Arc::new(journal.clone()),
            stored_every: Duration::from_secs(5),
            clock: Arc::<Wall>::clone(&clock),
            luck: folder.path().join("luck"),
            results: folder.path().join("results"),
            results_in_memory: limits::DEFAULT_LADDER_RESULTS_IN_MEMORY,
            pressure: Arc::clone(&pressure),
            disk_room: Arc::clone(&disk_room),
        };
        let ladders = Ladders::open_with(config, room, &tasks, stop.clone());
        if blind == 0 {
            ladders.caught_up().await.unwrap();
        }
        Self {
            specs,
            room,
            journal,
            matches,
            accounts,
            clock,
            pressure,
            disk_room,
            folder,
            ladders,
            tasks,
            stop,
        }
    }

    /// The same server after a stop and a start.
    async fn restart(self) -> Self {
        let specs = self.specs.clone();
        self.restart_as(specs, 0).await
    }

    /// The same with these ladders, on a journal of which it can't read results for so many times.
    async fn restart_as(self, specs: LadderSpecs, blind: usize) -> Self {
        let Self { room, journal, matches, accounts, clock, folder, ladders, tasks, stop, .. } = self;
        drop(ladders);
        stop.cancel();
        tasks.close();
        tasks.wait().await;
        matches.stop().await;
        Self::on(specs, room, journal, accounts, clock, folder, blind).await
    }

    pub(crate) fn register(&self, name: &str, owner: &str, quota: Quota) {
        let owner = Owner::new(owner).unwrap();
        let account = Account { owner, quota, standing: AccountStanding::Active };
        self.accounts.0.lock().unwrap().insert(bot(name), account);
    }

    /// A bot of an owner of its own, which waits with one place.
    pub(crate) async fn comes(&self, name: &str) -> Presence {
        self.register(name, name, Quota::new(10, 1_000).unwrap());
        self.waits(name, 1).await
    }

    async fn waits(&self, name: &str, places: u16) -> Presence {
        let mut presence = self.ladders.enter(bot(name));
        presence.wait_on(queue(LADDER, places).into()).await.unwrap();
        presence
    }

    fn seats(&self, name: &str) -> Vec<(MatchId, zetema_rules::Seat)> {
        let seats = self.matches.bot_seats(&bot(name), BotToken::FIRST, None, 100).seats;
        seats.into_iter().map(|seat| (seat.match_id, seat.seat)).collect()
    }

    /// Waits until a bot has this many live seats.
    pub(crate) async fn seated(&self, name: &str, count: usize) -> Vec<(MatchId, zetema_rules::Seat)> {
        let seats = async {
            loop {
                let seats = self.seats(name);
                if seats.len() == count {
                    return seats;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_mins(5), seats).await.expect("the bot is paired")
    }

    pub(crate) async fn join(&self, name: &str, (match_id, seat): (MatchId, zetema_rules::Seat)) {
        let access = self.matches.bot_access(match_id, seat, &bot(name), BotToken::FIRST).await.unwrap();
        self.matches.join(match_id, access, None).await.unwrap();
    }

    pub(crate) async fn resign(&self, name: &str, (match_id, seat): (MatchId, zetema_rules::Seat)) {
        let access = self.matches.bot_access(match_id, seat, &bot(name), BotToken::FIRST).await.unwrap();
        let arrival = self.matches.arrival(None);
        self.matches.command(match_id, Ask::Resign { access }, arrival).await.unwrap();
    }

    /// Plays the next match of two bots: the loser resigns.
    async fn play(&self, winner: &str, loser: &str) {
        let seats = [self.seated(winner, 1).await[0], self.seated(loser, 1).await[0]];
        self.join(winner, seats[0]).await;
        self.join(loser, seats[1]).await;
        self.resign(loser, seats[1]).await;
    }

    /// What is shown once it is so.
    pub(crate) async fn shows(&self, wanted: impl Fn(&Picture) -> bool) -> Arc<Picture> {
        let (_, mut picture) = self.ladders.picture(LADDER).unwrap();
        let shown = picture.wait_for(|picture| wanted(picture));
        if let Ok(shown) = timeout(Duration::from_hours(12), shown).await {
            return Arc::clone(&*shown.unwrap());
        }
        let (_, picture) = self.ladders.picture(LADDER).unwrap();
        panic!("it is not shown, but {:?}", picture.borrow())
    }
}

pub(crate) fn queue(ladder: &str, places: u16) -> Vec<(LadderName, NonZeroU16)> {
    vec![(LadderName::new(ladder).unwrap(), NonZeroU16::new(places).unwrap())]
}

fn names(picture: &Picture) -> Vec<(usize, &str)> {
    picture.rows.iter().map(|row| (row.rank, row.bot.as_str())).collect()
}

#[tokio::test(start_paused = true)]
async fn two_who_wait_play_are_rated_and_wait_again() {
    let scene = Scene::new().await;
    let (_ann, _bob) = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    let picture = scene.shows(|picture| picture.rated_matches == 1).await;
    assert_eq!(names(&picture), [(1, "ann"), (2, "bob")]);
    assert_eq!(picture.rows[1].entry.tally.forfeits, 1);
    let (match_id, _) = scene.seated("ann", 1).await[0];
    let info = scene.matches.get(match_id).await.unwrap();
    assert_eq!(info.ladder.as_ref().map(LadderName::as_str), Some(LADDER));
    assert_eq!((info.owner, info.rules), (None, Preset::Quick.rules(2, None).unwrap()));
    let results = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
    let [result] = &results.items[..] else { panic!("{results:?}") };
    assert_eq!(result.reason, Reason::Forfeit);
    let lost = result.seats.iter().find(|seat| seat.end == SeatEnd::Forfeited).unwrap();
    assert_eq!((lost.bot.as_str(), lost.rank), ("bob", 2));
    let (before, after) = lost.rating.unwrap();
    assert!(after.mu < before.mu);
    let history = scene.ladders.history(LADDER, &bot("bob"), &first(10)).await.unwrap();
    assert_eq!(history.items[0].rating, after);
    let met = scene.ladders.head_to_head(LADDER, &bot("bob"), None, &first(10)).await.unwrap();
    assert_eq!((met.items[0].opponent.as_str(), met.items[0].between.behind), ("ann", 1));
}

const fn first<C>(most: usize) -> PageFrom<C> {
    PageFrom { after: None, most }
}

#[tokio::test(start_paused = true)]
async fn a_restart_gives_the_same_ratings_and_counts_what_ended_meanwhile_once() {
    let scene = Scene::new().await;
    let (ann, bob) = (scene.comes("ann").await, scene.comes("bob").await);
    // Who forfeits three times is benched.
    for (winner, loser) in [("ann", "bob"), ("bob", "ann"), ("ann", "bob")] {
        scene.play(winner, loser).await;
    }
    let before = scene.shows(|picture| picture.rated_matches == 3).await;
    // A match that goes on over the restart.
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    drop((ann, bob));
    let scene = scene.restart().await;
    let after = scene.shows(|picture| picture.rated_matches == 3).await;
    assert_eq!(after.rows, before.rows);
    assert_eq!((after.live, after.queued), (1, 0));
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.seats("ann").len(), 1, "its place is taken by the match that goes on");
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    scene.resign("ann", seats[0]).await;
    let now = scene.shows(|picture| picture.rated_matches == 4).await;
    assert_eq!(now.rows.iter().map(|row| row.entry.tally.matches).collect::<Vec<_>>(), [4, 4]);
    assert!(scene.seated("ann", 1).await[0] != seats[0]);
}

#[tokio::test(start_paused = true)]
async fn bots_of_one_owner_never_meet_and_a_quota_bounds_how_many_matches_are_played_at_once() {
    let scene = Scene::new().await;
    for name in ["ann-1", "ann-2"] {
        scene.register(name, "ann", Quota::new(10, 1_000).unwrap());
    }
    let _waiting = [scene.waits("ann-1", 5).await, scene.waits("ann-2", 5).await];
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!((scene.seats("ann-1").len(), scene.seats("ann-2").len()), (0, 0));
    scene.register("bob", "bob", Quota::new(3, 1_000).unwrap());
    let _bob = scene.waits("bob", 5).await;
    scene.seated("bob", 3).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(scene.seats("bob").len(), 3, "its quota is three");
}

#[tokio::test(start_paused = true)]
async fn who_may_not_wait_is_told_why_and_waits_where_it_did() {
    let scene = Scene::new().await;
    let mut ann = scene.comes("ann").await;
    let mut stranger = scene.ladders.enter(bot("stranger"));
    let refused = stranger.wait_on(queue(LADDER, 1).into()).await.unwrap_err();
    assert_eq!(refused, (0, QueueRefused::NotRegistered(bot("stranger"))));
    let nowhere = [queue(LADDER, 1), queue("nowhere", 1)].concat();
    let (at, refused) = ann.wait_on(nowhere.into()).await.unwrap_err();
    assert_eq!(at, 1);
    assert!(refused.to_string().contains("no ladder nowhere"), "{refused}");
    let _bob = scene.comes("bob").await;
    scene.seated("ann", 1).await;
    // It leaves, and its match goes on.
    assert_eq!(ann.wait_on(Vec::new().into()).await, Ok(Vec::new()));
    scene.play("bob", "ann").await;
    scene.shows(|picture| picture.rated_matches == 1 && picture.queued == 1).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.seats("ann").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_match_that_may_have_been_made_is_made_once() {
    for fate in [Fate::WrittenUnknown, Fate::LostUnknown, Fate::Fails] {
        let scene = Scene::new().await;
        scene.journal.doom(&[fate]);
        let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
        let seat = scene.seated("ann", 1).await[0];
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(scene.seats("ann"), [seat], "{fate:?}");
        scene.play("ann", "bob").await;
        let picture = scene.shows(|picture| picture.rated_matches == 1).await;
        assert_eq!(picture.rows.iter().map(|row| row.entry.tally.matches).collect::<Vec<_>>(), [1, 1]);
        // Its place is free again, and no more than that.
        scene.seated("ann", 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_all_the_time_holds_up_no_result_however_long_it_takes_to_read() {
    let slow = Duration::from_millis(200);
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let mut presence = scene.ladders.enter(bot("ann"));
    scene.journal.delay_page(slow);
    scene.play("ann", "bob").await;
    for _ in 0..100 {
        scene.journal.delay_page(slow);
        presence.wait_on(Vec::new().into()).await.unwrap();
        scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
        tokio::time::sleep(slow / 4).await;
    }
    assert_eq!(scene.shows(|_| true).await.rated_matches, 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_looks_at_a_bounded_number_of_results_and_says_where_it_goes_on() {
    let archive = in_memory(usize::MAX);
    let count = 2 * limits::LADDER_RESULTS_LOOKED_AT as u64;
    for number in 1..=count {
        archive.keep(aborted(2 * number, if number == 1 { "ann" } else { "bob" }));
    }
    let of_ann = ResultsFilter { bot: Some(bot("ann")), ..ResultsFilter::default() };
    let first_page = archive.results(&of_ann, &first(10)).await.unwrap();
    assert_eq!(
        (first_page.items.len(), first_page.next.as_deref()),
        (0, Some((count + 2).to_string().as_str()))
    );
    let after = Some(first_page.next.unwrap().parse().unwrap());
    let second = archive.results(&of_ann, &PageFrom { after, most: 10 }).await.unwrap();
    assert_eq!((second.items[0].number.get(), second.next), (2, None));
    let two = archive.results(&ResultsFilter::default(), &first(2)).await.unwrap();
    assert_eq!((two.items.len(), two.next.as_deref()), (2, Some((2 * count - 2).to_string().as_str())));

    // The oldest first, none is left out and none comes twice, wherever the pages end.
    let number = ResultNumber::new;
    let all = ResultsFilter::default();
    for most in [999, 1_000, limits::LADDER_RESULTS_LOOKED_AT] {
        let (mut told, mut after) = (Vec::new(), Some(number(0)));
        while let Some(from) = after {
            let onward = archive.results_after(&all, from, most).await.unwrap();
            assert!(onward.items.len() <= most && onward.left_out_to.is_none());
            told.extend(onward.items.iter().map(|result| result.number.get()));
            assert_eq!(onward.looked_to.get(), *told.last().unwrap());
            after = onward.next;
        }
        assert_eq!(told, (1..=count).map(|number| 2 * number).collect::<Vec<_>>());
    }
    let onward = async |after: u64| archive.results_after(&of_ann, number(after), 10).await.unwrap();
    let (begin, middle, end) = (onward(0).await, onward(3).await, onward(2 * count).await);
    assert_eq!(
        (begin.items.len(), begin.looked_to, begin.next),
        (1, begin.next.unwrap(), Some(number(count)))
    );
    assert_eq!((middle.items.len(), middle.next), (0, Some(number(count + 2))));
    assert_eq!((end.items.len(), end.looked_to, end.next), (0, number(2 * count), None));
}

#[tokio::test]
async fn who_begins_before_the_results_that_are_kept_is_told_up_to_where_they_are_not() {
    let archive = in_memory(limits::MAX_LADDER_RESULTS);
    let number = ResultNumber::new;
    for given in 1..=limits::MAX_LADDER_RESULTS as u64 + 2 {
        archive.keep(LoggedResult {
            number: number(10 * given),
            match_id: MatchId::from_bytes([0; 16]),
            ended_at: UnixMillis::new(given),
            reason: Reason::Aborted,
            seats: Vec::new(),
        });
    }
    for (after, left_out_to) in [(0, Some(20)), (15, Some(20)), (19, Some(20)), (20, None), (500, None)] {
        let onward = archive.results_after(&ResultsFilter::default(), number(after), 1).await.unwrap();
        assert_eq!(onward.left_out_to, left_out_to.map(number), "after {after}");
    }
}

#[test]
fn many_ladders_share_the_memory_for_results() {
    const USUAL: usize = limits::DEFAULT_LADDER_RESULTS_IN_MEMORY;
    for (ladders, of_all, most) in [
        (1, USUAL, USUAL),
        (3, USUAL, USUAL / 3),
        (limits::MAX_LADDERS, USUAL, limits::LADDER_BLOCK_RESULTS),
        (2, 20_000, 10_000),
        (2, 1_024, limits::LADDER_BLOCK_RESULTS),
        (64, 10_000_000, 156_250),
        (2, 10_000_000, limits::MAX_LADDER_RESULTS),
    ] {
        let Room { memory, block, .. } = Room::of_one_of(NonZeroUsize::new(ladders).unwrap(), of_all);
        assert_eq!(memory + block, most, "{ladders} ladders, {of_all} results of all");
    }
}

/// That of a ladder alone, as it is unless configured.
fn usual_room() -> Room {
    Room::of_one_of(NonZeroUsize::MIN, limits::DEFAULT_LADDER_RESULTS_IN_MEMORY)
}

/// One with room for so many results, of which none is written.
fn in_memory(memory: usize) -> Archive {
    Archive::new(Room { memory, block: 0, unwritten: 0 }, PathBuf::new(), Arc::default())
}

/// A result of one seat.
fn aborted(number: u64, name: &str) -> LoggedResult {
    LoggedResult {
        number: ResultNumber::new(number),
        match_id: MatchId::from_bytes([0; 16]),
        ended_at: UnixMillis::new(number),
        reason: Reason::Aborted,
        seats: vec![LoggedSeat {
            bot: bot(name),
            side: zetema_rules::Side::new(0).unwrap(),
            rank: 0,
            total: 0,
            end: SeatEnd::NoShow,
            rating: None,
        }],
    }
}
