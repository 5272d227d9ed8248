//! Whether matches may have the seats that they name bots for: what the caller's own are for it to say, what others' are to accept.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use zetema_proto::v1::ErrorReason;
use zetema_rules::TimeControl;

use super::{backend::Backend, fault::Fault};
use crate::{
    bots::BotState,
    journal::{BotName, Owner},
    ladders::{Challenge, Taken},
    limits,
    table::{DealSpec, MatchSpec, SeatSpec},
};

/// Takes the seats that these matches have for bots, match by match. A bot that is retired, or that no token was ever made for, gets
/// none; one of another owner than the caller gets none that it does not accept. The admin (`None`) may name all. `path` names a match
/// of the request.
///
/// Of a name that is not registered an owner learns no more than that it takes no challenge: whether there is a token for it is the
/// admin's to know.
pub(super) fn take(
    backend: &Backend,
    owner: Option<&Owner>,
    specs: &[MatchSpec],
    path: fn(usize) -> String,
) -> Result<Vec<Taken>, Fault> {
    let field = |at: usize, seat: usize| format!("{}.seats[{seat}].bot.name", path(at));
    let mut own = BTreeSet::new();
    let mut challenged: Vec<BTreeMap<BotName, Challenge>> = vec![BTreeMap::new(); specs.len()];
    let mut first: BTreeMap<&BotName, (usize, usize)> = BTreeMap::new();
    for ((at, spec), challenged) in specs.iter().enumerate().zip(&mut challenged) {
        for (seat, named) in spec.seats.iter().enumerate() {
            let SeatSpec::Bot(bot) = named else { continue };
            if own.contains(bot) {
                continue;
            }
            if let Some(challenge) = challenged.get_mut(bot) {
                challenge.seats += 1;
                continue;
            }
            match naming(backend, owner, bot).map_err(|problem| Fault::field(field(at, seat), problem))? {
                None => {
                    own.insert(bot);
                }
                Some(challenge) => {
                    check_deals(&spec.deals)
                        .map_err(|problem| Fault::field(format!("{}.deals.shared", path(at)), problem))?;
                    check_time(&spec.time_control).map_err(|(field, problem)| {
                        Fault::field(format!("{}.time_control{field}", path(at)), problem)
                    })?;
                    first.entry(bot).or_insert((at, seat));
                    challenged.insert(bot.clone(), challenge);
                }
            }
        }
    }
    // The admin challenges nobody.
    let Some(owner) = owner.filter(|_| !first.is_empty()) else { return Ok(Vec::new()) };
    let playing = |bot: &BotName| backend.matches.seats_of_no_ladder(bot, owner);
    let now = backend.matches.since_start();
    backend.ladders.challenges().take(owner, &challenged, now, playing).map_err(|bot| {
        let (at, seat) = first.get(&bot).copied().unwrap_or_default();
        refused(&bot, field(at, seat))
    })
}

/// The usual time to join is as long as it may be at most where a match challenges a bot.
pub(super) fn shorten(backend: &Backend, owner: Option<&Owner>, specs: &mut [MatchSpec]) {
    let Some(owner) = owner else { return };
    let is_others = |seat: &SeatSpec| {
        let SeatSpec::Bot(bot) = seat else { return false };
        backend.bots.get(bot).is_none_or(|account| account.owner != *owner)
    };
    for spec in specs.iter_mut().filter(|spec| spec.seats.iter().any(&is_others)) {
        let control = spec.time_control;
        if control.join_timeout_ms() == TimeControl::DEFAULT_JOIN_TIMEOUT_MS
            && let Ok(shorter) = TimeControl::new(ms(limits::MAX_CHALLENGE_JOIN_TIMEOUT), control.decisions())
        {
            spec.time_control = shorter;
        }
    }
}

fn ms(most: Duration) -> u32 {
    u32::try_from(most.as_millis()).unwrap_or(u32::MAX)
}

/// Before its deal a match waits for all matches of its deal set, which may give their seats far more time than a challenge does.
fn check_deals(deals: &DealSpec) -> Result<(), &'static str> {
    match deals {
        DealSpec::Shared(_) => Err(
            "are shared: give a match with a bot of another owner deals of its own, as it would have the bot wait for the others of the \
             deal set",
        ),
        DealSpec::Joint | DealSpec::Fixed(_) => Ok(()),
    }
}

/// Whoever challenges a bot has its places no longer than it takes to play. An error has the field within the time control.
fn check_time(control: &TimeControl) -> Result<(), (&'static str, String)> {
    let join = ms(limits::MAX_CHALLENGE_JOIN_TIMEOUT);
    let given = control.join_timeout_ms();
    if given > join {
        let problem = format!("is {given}: give at most {join} for a match with a bot of another owner");
        return Err((".join_timeout_ms", problem));
    }
    let Some(clock) = control.clock() else {
        let problem = "has no clock: give one for a match with a bot of another owner, such as standard";
        return Err(("", problem.to_owned()));
    };
    let most = ms(limits::MAX_CHALLENGE_CLOCK);
    let longest = clock.budget_ms.max(clock.first_budget_ms).max(clock.bank_ms).max(clock.increment_ms);
    if longest > most {
        let problem = format!(
            "has a clock of {longest} ms: give at most {most} for each of its budgets, its bank and its increment, for a match with a \
             bot of another owner"
        );
        return Err(("", problem));
    }
    Ok(())
}

/// Names a bot for one seat. `None`: the caller may, whatever the bot accepts.
fn naming(backend: &Backend, owner: Option<&Owner>, bot: &BotName) -> Result<Option<Challenge>, String> {
    let account = backend.bots.get(bot);
    if let Some(BotState::Retired(_)) = account.as_ref().map(|account| account.state) {
        return Err(format!("the bot `{bot}` is retired, and plays no more"));
    }
    let Some(owner) = owner else {
        let is_known = account.is_some() || backend.access.tokens().know_bot(bot);
        return is_known.then_some(None).ok_or_else(|| {
            format!("no token was ever made for a bot `{bot}`: make one by RegisterBot or CreateToken first")
        });
    };
    if account.as_ref().is_some_and(|account| account.owner == *owner) {
        return Ok(None);
    }
    Ok(Some(Challenge { seats: 1, quota: account.map(|account| account.quota) }))
}

/// One answer for all causes: whether a bot is there, and how much it plays, is for its owner to know.
fn refused(bot: &BotName, field: String) -> Fault {
    let message = format!(
        "the bot `{bot}` takes no challenge of yours now: it is not there, or accepts none, or has as many as it accepts, in all \
         or of you, or had some of you lately that nobody came to; name another bot, try again later, or ask its owner, whom GetBot names, to start it so that it accepts challenges"
    );
    Fault::new(ErrorReason::ChallengeRefused, message).about(field, "takes no challenge of the caller's now")
}
