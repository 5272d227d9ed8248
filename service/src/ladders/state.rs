//! One ladder: who waits, who plays whom, and what came of it. It knows no clock and no matches: times and results are told.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU16;
use std::sync::Arc;

use zetema_ladder::conduct::{Conduct, Status, Until};
use zetema_ladder::pairing::{Entrant, Member, Pairing, Queue, Strength};
use zetema_ladder::quota::{QuotaReached, Usage};
use zetema_ladder::{Counted, Ladder, Unrated};
use zetema_rules::AbortReason;

use super::accounts::Accounts;
use super::archive::Archive;
use super::ended::Ended;
use super::names::Names;
use super::picture::{Picture, Row};
use super::presence::Word;
use super::results::{LoggedResult, LoggedSeat, SeatEnd};
use super::spec::LadderSpec;
use super::time::Now;
use crate::journal::{BotName, MatchId, ResultNumber, UnixMillis, Visibility};
use crate::matches::EndedMatch;
use crate::table::{DealSpec, Dealt, LadderRates, MatchInfo, MatchSpec, SeatSpec};

/// The bots whose last match, of those at once or of the day's pace, is for another ladder.
pub(super) type Kept = BTreeSet<BotName>;

/// How much each bot has used of its quota, on all ladders together.
pub(super) type Usages = HashMap<BotName, Usage>;

/// One ladder.
pub(super) struct State {
    pub(super) spec: Arc<LadderSpec>,
    names: Names,
    queue: Queue,
    /// Who wants to play, and how many matches at once, by what each is there by.
    wanted: BTreeMap<BotName, BTreeMap<u64, NonZeroU16>>,
    ratings: Ladder<BotName>,
    conduct: BTreeMap<BotName, Conduct>,
    /// The matches that are not over.
    live: HashMap<MatchId, Playing>,
    archive: Arc<Archive>,
    rated_matches: u64,
    /// How many of them were played by other rules than the ladder has now.
    by_other_rules: u64,
    seen: ResultNumber,
    /// How many results up to there are lost.
    lost: u64,
}

/// A match that is not over.
struct Playing {
    pairing: Pairing,
    /// When it was counted in the quotas of its bots.
    made: Now,
}

/// What came of a result: what its bots' authors are told.
pub(super) type Told = Vec<(BotName, Word)>;

impl State {
    pub(super) fn new(spec: Arc<LadderSpec>, archive: Arc<Archive>) -> Self {
        Self {
            names: Names::default(),
            queue: Queue::new(spec.pairing),
            wanted: BTreeMap::new(),
            ratings: Ladder::new(spec.rating),
            conduct: BTreeMap::new(),
            live: HashMap::new(),
            archive,
            rated_matches: 0,
            by_other_rules: 0,
            seen: ResultNumber::ZERO,
            lost: 0,
            spec,
        }
    }

    /// The same ladder without a result, and with nobody who waits.
    pub(super) fn anew(&self) -> Self {
        self.archive.clear();
        Self::new(Arc::clone(&self.spec), Arc::clone(&self.archive))
    }

    /// A bot wants so many matches at once by this way of being there, or none any more.
    pub(super) fn want(&mut self, bot: &BotName, by: u64, places: Option<NonZeroU16>) {
        if let Some(places) = places {
            self.wanted.entry(bot.clone()).or_default().insert(by, places);
            return;
        }
        let Some(ways) = self.wanted.get_mut(bot) else { return };
        ways.remove(&by);
        if ways.is_empty() {
            self.wanted.remove(bot);
            let id = self.names.bot(bot);
            self.queue.leave(id);
        }
    }

    /// How many matches at once a bot wants here.
    pub(super) fn places(&self, bot: &BotName) -> u32 {
        self.wanted.get(bot).map_or(0, |ways| ways.values().map(|places| u32::from(places.get())).sum())
    }

    /// What everyone may look up.
    pub(super) const fn archive(&self) -> &Arc<Archive> {
        &self.archive
    }

    /// Whether a bot is known here: it has played, or it waits.
    pub(super) fn knows(&self, bot: &BotName) -> bool {
        self.ratings.bots().contains_key(bot)
            || self.conduct.contains_key(bot)
            || self.wanted.contains_key(bot)
    }

    /// Whether a bot is paired.
    pub(super) fn status(&self, bot: &BotName, now: UnixMillis) -> Status {
        self.conduct.get(bot).map_or(Status::Free, |conduct| conduct.status(now.get()))
    }

    /// Since when the one waits whom the others hold up for too long, if there is one.
    pub(super) fn starves_since(&self, now: Now) -> Option<u64> {
        self.queue.starves_since(now.steady_ms)
    }

    /// Whether a match could be made of all who wait here, whatever else they play.
    pub(super) fn could_pair(&self) -> bool {
        self.queue.could_pair()
    }

    /// The bots that wait here and have places left, whether they could be paired now or not.
    pub(super) fn with_room(&mut self) -> Kept {
        let Self { names, queue, wanted, .. } = self;
        wanted.keys().filter(|bot| queue.has_room(names.bot(bot))).cloned().collect()
    }

    /// Makes the matches of this moment: each with what is asked of the server, and what bots' authors are told. Those that are kept
    /// don't play the last match of their quota here.
    pub(super) fn pair(
        &mut self,
        accounts: &dyn Accounts,
        usages: &mut Usages,
        kept: &Kept,
        now: Now,
    ) -> (Vec<(Pairing, MatchSpec)>, Told) {
        let told = self.line_up(accounts, usages, kept, now);
        let pairings = self.queue.pair(now.steady_ms);
        let mut made = Vec::with_capacity(pairings.len());
        for pairing in pairings {
            let bots: Option<Vec<BotName>> =
                pairing.members().iter().map(|member| self.names.name(member.bot).cloned()).collect();
            let Some(bots) = bots else { continue };
            for bot in &bots {
                // It was checked as it lined up, and has one match more since.
                usages.entry(bot.clone()).or_default().resume(now.wall.get());
            }
            let spec = MatchSpec {
                rules: self.spec.rules,
                seats: bots.into_iter().map(SeatSpec::Bot).collect(),
                deals: DealSpec::Joint,
                time_control: self.spec.time_control,
                visibility: Visibility::Public,
                client_reference: None,
                owner: None,
                ladder: Some(self.spec.name.clone()),
                ladder_rates: if self.spec.is_rated() { LadderRates::Yes } else { LadderRates::No },
            };
            made.push((pairing, spec));
        }
        (made, told)
    }

    /// Takes those into the queue who may be paired now, and the others out of it. Who stays in it has waited on.
    fn line_up(&mut self, accounts: &dyn Accounts, usages: &mut Usages, kept: &Kept, now: Now) -> Told {
        let Self { spec, names, queue, wanted, ratings, conduct, .. } = self;
        let (wall_ms, mut told) = (now.wall.get(), Told::new());
        for (bot, ways) in wanted {
            let id = names.bot(bot);
            let account = accounts.account(bot).filter(|account| spec.admit(bot, Some(account)).is_ok());
            let is_free = conduct.get(bot).is_none_or(|conduct| conduct.status(wall_ms) == Status::Free);
            let Some(account) = account.filter(|_| is_free) else {
                queue.leave(id);
                continue;
            };
            let rating = ratings.entry(bot).rating;
            let Ok(strength) = Strength::new(rating.mu.get(), rating.sigma.get()) else { continue };
            let places: u32 = ways.values().map(|places| u32::from(places.get())).sum();
            let places =
                NonZeroU16::new(u16::try_from(places).unwrap_or(u16::MAX)).unwrap_or(NonZeroU16::MIN);
            let owner = names.owner(bot, Some(&account.owner));
            queue.join(Entrant { bot: id, owner, strength, places }, now.steady_ms);
            let usage = usages.entry(bot.clone()).or_default();
            let reached = usage.check(account.quota, wall_ms).err();
            let is_last = usage.playing() + 1 >= account.quota.matches_at_once();
            let is_kept = kept.contains(bot) && (is_last || usage.is_paced(account.quota));
            if matches!(reached, Some(QuotaReached::AtOnce { .. })) {
                queue.pass_over_busy(id);
            } else if reached.is_some() || is_kept {
                queue.pass_over(id);
            }
            if let Some(notice) = usage.notice(account.quota, wall_ms) {
                let (ladder, conduct) = (spec.name.clone(), Status::Free);
                let quota_until = usage.not_before_ms(account.quota, wall_ms).map(UnixMillis::new);
                told.push((bot.clone(), Word { ladder, match_id: None, notice, conduct, quota_until }));
            }
        }
        told
    }

    /// Whether anybody could be paired.
    pub(super) fn has_anybody(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The match of a pairing begins, which was made at that time.
    pub(super) fn begun(&mut self, match_id: MatchId, pairing: Pairing, made: Now) {
        self.live.insert(match_id, Playing { pairing, made });
    }

    /// No match came of a pairing that was made at that time: its members wait on.
    pub(super) fn not_begun(&mut self, pairing: &Pairing, usages: &mut Usages, made: Now) {
        self.give_back(pairing, usages, made);
        if let Err(error) = self.queue.abandon(pairing, made.steady_ms) {
            tracing::error!(%error, "a pairing can't be given up");
        }
    }

    /// The matches that are not over.
    pub(super) fn live(&self) -> impl Iterator<Item = MatchId> {
        self.live.keys().copied()
    }

    /// A match is not played, by no fault of its bots: it is as if it had never been made.
    pub(super) fn withdraw(&mut self, match_id: MatchId, usages: &mut Usages) {
        if let Some(Playing { pairing, made }) = self.live.remove(&match_id) {
            self.not_begun(&pairing, usages, made);
        }
    }

    fn give_back(&self, pairing: &Pairing, usages: &mut Usages, made: Now) {
        for member in pairing.members() {
            let Some(bot) = self.names.name(member.bot) else { continue };
            if let Some(usage) = usages.get_mut(bot)
                && let Err(error) = usage.take_back(made.wall.get())
            {
                tracing::error!(%bot, %error, "a match can't be taken back from a quota");
            }
        }
    }

    /// A match that was made before the server was started, and goes on.
    pub(super) fn resume(
        &mut self,
        info: &MatchInfo,
        accounts: &dyn Accounts,
        usages: &mut Usages,
        now: Now,
    ) {
        let made = now.of_stored(info.created_at);
        let Some(pairing) = self.pairing_of(info, accounts, made) else { return };
        for seat in &info.seats {
            if let Some(bot) = &seat.bot {
                usages.entry(bot.clone()).or_default().resume(made.wall.get());
            }
        }
        self.queue.resume(&pairing);
        self.begun(info.match_id, pairing, made);
    }

    fn pairing_of(&mut self, info: &MatchInfo, accounts: &dyn Accounts, made: Now) -> Option<Pairing> {
        let mut members = Vec::with_capacity(info.seats.len());
        for seat in &info.seats {
            let bot = seat.bot.as_ref()?;
            let owner = accounts.account(bot).map(|account| account.owner);
            members.push(Member {
                bot: self.names.bot(bot),
                owner: self.names.owner(bot, owner.as_ref()),
                since_ms: made.steady_ms,
            });
        }
        Pairing::new(info.rules.teams, members)
            .inspect_err(|error| tracing::error!(match_id = %info.match_id, %error, "a match has no pairing"))
            .ok()
    }

    /// The last result that was looked at.
    pub(super) const fn seen(&self) -> ResultNumber {
        self.seen
    }

    /// This result was looked at, after all before that there are.
    pub(super) fn saw(&mut self, number: ResultNumber) {
        self.passed(ResultNumber::new(number.get().saturating_sub(1)));
        self.seen = self.seen.max(number);
    }

    /// There is no other result up to this one: numbers are given without a gap, so those between are lost.
    pub(super) fn passed(&mut self, number: ResultNumber) {
        self.lost += number.get().saturating_sub(self.seen.get());
        self.seen = self.seen.max(number);
    }

    /// Counts a result of this ladder, which comes after all that were counted.
    pub(super) fn count(
        &mut self,
        ended: &EndedMatch,
        accounts: &dyn Accounts,
        usages: &mut Usages,
        now: Now,
    ) -> Told {
        let Some(over) = Ended::of(&self.spec, ended) else {
            self.withdraw(ended.info.match_id, usages);
            return Told::new();
        };
        let changes = match self.ratings.count(&over.result) {
            Ok(changes) => changes,
            Err(error) => {
                tracing::error!(match_id = %ended.info.match_id, %error, "a result is not counted");
                self.withdraw(ended.info.match_id, usages);
                return Told::new();
            }
        };
        if let Counted::Rated(played) = &over.result.counted {
            self.archive.rated(played);
            self.rated_matches += 1;
            self.by_other_rules += u64::from(ended.info.rules != self.spec.rules);
        }
        let rating = |seat: usize| {
            let change = changes.iter().find(|change| change.seat.index() == seat)?;
            Some((change.before.rating, change.after.rating))
        };
        let info = &ended.info;
        let score = |side: zetema_rules::Side| match &info.outcome {
            Some(zetema_rules::Outcome::Result(result)) => {
                (result.ranks[side.index()], u32::from(result.totals[side.index()]))
            }
            _ => (0, 0),
        };
        let seats = info.seats.iter().zip(&over.bots).zip(&over.ends).map(|((seat, bot), end)| {
            let (rank, total) = score(seat.side);
            let rating = rating(seat.seat.index());
            LoggedSeat { bot: bot.clone(), side: seat.side, rank, total, end: *end, rating }
        });
        let ended_at = info.ended_at.unwrap_or(info.created_at);
        self.archive.keep(LoggedResult {
            number: ended.number,
            match_id: info.match_id,
            ended_at,
            reason: over.reason,
            seats: seats.collect(),
        });
        let told = self.judge(&over, info, now.of_stored(ended_at), now);
        self.free(&over, info, accounts, usages, now);
        told
    }

    /// What the match says of how its bots behave.
    fn judge(&mut self, over: &Ended, info: &MatchInfo, ended: Now, now: Now) -> Told {
        let settings = &self.spec.conduct;
        // What was stored when the clock had been put back is before what was stored before.
        let paired = match self.live.get(&info.match_id) {
            Some(playing) => playing.made.wall.max(info.created_at),
            None => now.of_stored(info.created_at).wall,
        };
        let (paired_ms, ended_ms) = (paired.get(), ended.wall.get());
        let missing = Unrated::Aborted(AbortReason::NonceMissing);
        let no_nonce = matches!(&over.result.counted, Counted::Unrated(why) if *why == missing);
        let is_result = over.reason != super::query::Reason::Aborted;
        let mut told = Told::new();
        for (bot, end) in over.bots.iter().zip(&over.ends) {
            let conduct = self.conduct.entry(bot.clone()).or_default();
            let notice = match end {
                SeatEnd::NoShow if no_nonce => conduct.no_nonce(settings, paired_ms, ended_ms),
                SeatEnd::NoShow => conduct.no_show(settings, paired_ms, ended_ms),
                SeatEnd::Forfeited => {
                    conduct.came(settings, paired_ms);
                    conduct.forfeited(settings, paired_ms, ended_ms)
                }
                SeatEnd::Played if is_result => {
                    conduct.came(settings, paired_ms);
                    conduct.finished();
                    None
                }
                SeatEnd::Played => None,
            };
            if let Some(notice) = notice {
                let (ladder, conduct) = (self.spec.name.clone(), conduct.status(now.wall.get()));
                let match_id = Some(info.match_id);
                told.push((bot.clone(), Word { ladder, match_id, notice, conduct, quota_until: None }));
            }
        }
        told
    }

    /// The match takes no places any more.
    fn free(
        &mut self,
        over: &Ended,
        info: &MatchInfo,
        accounts: &dyn Accounts,
        usages: &mut Usages,
        now: Now,
    ) {
        let Some(Playing { pairing, made }) = self.live.remove(&info.match_id) else {
            // It was over before the server was started, or could not go on.
            let made = now.of_stored(info.created_at);
            if info.dealt == Dealt::Yes
                && let Some(pairing) = self.pairing_of(info, accounts, made)
            {
                self.queue.remember(&pairing);
                for bot in &over.bots {
                    usages.entry(bot.clone()).or_default().remember(made.wall.get());
                }
            }
            return;
        };
        let ended = if info.dealt == Dealt::Yes {
            for bot in &over.bots {
                if let Some(Err(error)) = usages.get_mut(bot).map(Usage::end) {
                    tracing::error!(%bot, %error, "a match can't be taken off a quota");
                }
            }
            self.queue.finish(&pairing, now.steady_ms)
        } else {
            self.give_back(&pairing, usages, made);
            for (bot, end) in over.bots.iter().zip(&over.ends) {
                if *end == SeatEnd::NoShow {
                    let id = self.names.bot(bot);
                    self.queue.leave(id);
                }
            }
            self.queue.abandon(&pairing, now.steady_ms)
        };
        if let Err(error) = ended {
            tracing::error!(match_id = %info.match_id, %error, "a match does not end for who waits");
        }
    }

    /// How a bot behaved until now.
    pub(super) fn conduct_of(&self, bot: &BotName) -> Conduct {
        self.conduct.get(bot).copied().unwrap_or_default()
    }

    /// A bot is put back.
    pub(super) fn reinstate(
        &mut self,
        bot: &BotName,
        at: UnixMillis,
    ) -> Result<Status, zetema_ladder::conduct::ReinstateError> {
        let conduct = self.conduct.entry(bot.clone()).or_default();
        conduct.reinstate(at.get())?;
        Ok(conduct.status(at.get()))
    }

    /// Whether what is shown of anybody's conduct changes by itself.
    pub(super) fn anybody_waits_for_time(&self, now: UnixMillis) -> bool {
        // A bench until its author acts is ended by no time.
        let waits = |status| matches!(status, Status::CoolingDown { .. } | Status::Benched(Until::Time(_)));
        self.conduct.values().any(|conduct| waits(conduct.status(now.get())))
    }

    /// Tells the log of results that were played by other rules than the ladder has now, if there are any.
    pub(super) fn warn_of_other_rules(&self) {
        let Self { spec, rated_matches, by_other_rules, .. } = self;
        if *by_other_rules > 0 {
            tracing::warn!(
                ladder = %spec.name, results = by_other_rules, of = rated_matches,
                "results of a ladder were played by other rules, or another number of players, than it has now, and count in the \
                 same ratings: if that is another game, give it a ladder with a name of its own"
            );
        }
    }

    /// The ratings after the last result that was counted.
    pub(super) const fn ratings(&self) -> &Ladder<BotName> {
        &self.ratings
    }

    /// The standings, the best first.
    pub(super) fn rows(&self, now: UnixMillis) -> Arc<[Row]> {
        let rows = self.ratings.standings().into_iter().map(|standing| Row {
            rank: standing.rank,
            bot: standing.bot.clone(),
            entry: standing.entry,
            certainty: standing.certainty,
            conduct: self.status(standing.bot, now),
        });
        rows.collect()
    }

    /// What everyone may read, with these standings.
    pub(super) fn picture(&self, rows: Arc<[Row]>) -> Picture {
        Picture {
            result_number: self.seen,
            lost_results: self.lost,
            queued: self.wanted.len(),
            live: self.live.len(),
            rated_matches: self.rated_matches,
            rows,
        }
    }
}
