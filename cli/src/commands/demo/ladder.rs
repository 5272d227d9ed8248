//! A ladder: house bots that play rated matches against each other, and their standings.

use std::num::NonZeroU16;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::time::{Instant as TokioInstant, MissedTickBehavior, interval, interval_at, sleep};
use zetema_bots::House;
use zetema_proto::v1;
use zetema_sdk::{NonceSecret, Records, Tls};
use zetema_service::server::Terminations;

use crate::client::{Client, patiently};
use crate::commands::ladder::standings::{Columns, Following, Latest, table};
use crate::embedded::Embedded;
use crate::house::{Account, Challenged, Crew, Failure, Open, Opening};
use crate::json::StandingJson;
use crate::json::demo::LadderDemoJson;
use crate::output::{self, Format};
use crate::render::counted;
use crate::screen::Screen;

/// The fastest of the usual ladders: one deal for two.
const LADDER: &str = "quick-2";
/// How many bots it needs.
const OF_A_MATCH: usize = 2;
/// Where the program is told to stop before it has something to show.
const NOT_BEGUN: &str = "stopped before the bots played";
/// How many bots play.
const BOTS: usize = 6;
/// How many matches each plays at once at most: as many as its account allows.
const PLACES: NonZeroU16 = NonZeroU16::MIN.saturating_add(3);
/// The file in a folder that stays from which the bots' nonces follow.
const NONCE_SECRET_FILE: &str = "demo.nonce-secret";
/// Lines of the picture: the heading, the table with its borders and heads.
const LINES: usize = BOTS + 5;
/// How often it is told how far it is, where there is no terminal.
const TOLD_EVERY: Duration = Duration::from_secs(10);
/// How long matches that run at the end may take to be over, and to be rated.
const OVER_WITHIN: Duration = Duration::from_secs(30);
const LOOKED_AT_EVERY: Duration = Duration::from_millis(100);

/// Has house bots play so many rated matches at least, or until the program is told to stop, and prints the standings.
pub(super) async fn play(matches: Option<u64>, data: Option<&Path>, format: Format) -> Result<()> {
    let mut signals = Terminations::listen().context("signals can't be had")?;
    // Opening a large journal may take minutes. What is cut off then is as after a crash: nothing is lost.
    let server = tokio::select! {
        server = Embedded::start_with_ladders(data) => server?,
        () = signals.next() => bail!(NOT_BEGUN),
    };
    let played = Demo { server: &server, matches, format, signals, began: Instant::now() }.run().await;
    let kept = server.kept().map(Path::to_owned);
    server.stop().await;
    let (played, show) = played?;
    match format {
        Format::Json => output::print_json(&played)?,
        Format::Table => {
            show.close(&played)?;
            output::print(summary(&played))?;
        }
    }
    if let Some(folder) = kept {
        output::note(format!(
            "Go on with the same bots: {} demo --ladder --data {}",
            output::program(),
            folder.display()
        ));
    }
    if !played.failures.is_empty() {
        bail!("not all was played as it should be: {}", told(&played.failures));
    }
    Ok(())
}

/// What went wrong, bot by bot.
fn told(failures: &[Failure]) -> String {
    let each = failures.iter().map(|Failure { bot, problem }| format!("{bot}: {problem}"));
    each.collect::<Vec<_>>().join("; ")
}

/// The bots' accounts. Each is another owner's, as bots of one owner do not meet.
fn accounts() -> impl Iterator<Item = Account> {
    let kinds = House::ALL.len();
    House::ALL.into_iter().cycle().take(BOTS).enumerate().map(move |(at, house)| {
        let name = match at / kinds {
            0 => house.to_string(),
            again => format!("{house}-{}", again + 1),
        };
        Account::named(house, name)
    })
}

struct Demo<'a> {
    server: &'a Embedded,
    /// How many rated matches at least.
    matches: Option<u64>,
    format: Format,
    signals: Terminations,
    began: Instant,
}

/// The bots, and the standings that are followed.
struct Begun {
    client: Client,
    following: Following,
    latest: Latest,
    /// How many matches were rated before.
    before: u64,
    crew: Crew,
}

impl Demo<'_> {
    async fn run(mut self) -> Result<(LadderDemoJson, Show)> {
        let begun = tokio::select! {
            begun = begin(self.server) => begun?,
            () = self.signals.next() => bail!(NOT_BEGUN),
        };
        let Begun { client, mut following, mut latest, before, crew } = begun;
        output::note(format!("{BOTS} house bots play on the ladder {LADDER} at {}", self.server.url()));
        let mut show = Show::new(self.format);
        let goal = self.matches.map(|matches| before.saturating_add(matches));
        tokio::select! {
            shown = follow(&client, &mut following, &mut latest, &mut show, goal) => shown?,
            () = self.signals.next() => {}
            () = crew.fewer_than(OF_A_MATCH) => {
                bail!("fewer bots are left than a match needs: {}", told(&crew.failures()))
            }
        }
        let over = async {
            crew.leave().await;
            crew.played_out().await;
            rated(&client).await
        };
        // What is not over in time, or is not waited for, is told.
        tokio::select! {
            over = over => over?,
            () = self.signals.next() => {}
            () = sleep(OVER_WITHIN) => {}
        }
        let v1::Ladder { rated_matches, live_matches, .. } = ladder(&client).await?;
        let request =
            v1::GetStandingsRequest { ladder: LADDER.to_owned(), page_size: 0, page_token: String::new() };
        let standings = client.get_standings(request).await?.standings;
        let played = LadderDemoJson {
            ladder: LADDER,
            matches: rated_matches.saturating_sub(before),
            rated_matches,
            unfinished: live_matches,
            failures: crew.failures(),
            duration_ms: self.began.elapsed().as_millis(),
            standings: standings.iter().map(StandingJson::new).collect::<Result<_>>()?,
        };
        Ok((played, show))
    }
}

/// Has the bots come to the ladder, when the results of earlier runs are counted.
async fn begin(server: &Embedded) -> Result<Begun> {
    let client = server.client().await?;
    let mut following = patiently(async || Following::start(&client, LADDER).await).await?;
    let mut latest = Latest::default();
    latest.take(following.next().await?);
    let before = ladder(&client).await?.rated_matches;
    let crew = Crew::new()?;
    let nonce_secret = server.kept().map(|folder| folder.join(NONCE_SECRET_FILE));
    let opening = Opening {
        server: server.url().to_owned(),
        tls: Tls::default(),
        records: Records::Checked,
        nonce_secret: nonce_secret.map(NonceSecret::from_file).transpose()?,
        challenged: Challenged::ByNobody,
    };
    for mut account in accounts() {
        let joined = async {
            let token = account.token(&client).await?;
            crew.add(&opening, &account, token, PLACES)
        };
        joined.await.with_context(|| format!("the bot {} can't play", account.name))?;
    }
    crew.wait_on(vec![Open::to_all(LADDER)]);
    Ok(Begun { client, following, latest, before, crew })
}

/// Shows the standings as they change, until so many matches of the ladder are rated.
async fn follow(
    client: &Client,
    following: &mut Following,
    latest: &mut Latest,
    show: &mut Show,
    goal: Option<u64>,
) -> Result<()> {
    let mut tick = interval_at(TokioInstant::now() + TOLD_EVERY, TOLD_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let now = ladder(client).await?;
        show.draw(&now, &latest.best(BOTS))?;
        if goal.is_some_and(|goal| now.rated_matches >= goal) {
            return Ok(());
        }
        tokio::select! {
            standings = following.next() => latest.take(standings?),
            _ = tick.tick() => show.tell(&ladder(client).await?, &latest.best(BOTS)),
        }
    }
}

/// Waits until no match of the ladder runs: all that were are rated then.
async fn rated(client: &Client) -> Result<()> {
    let mut tick = interval(LOOKED_AT_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        if ladder(client).await?.live_matches == 0 {
            return Ok(());
        }
    }
}

async fn ladder(client: &Client) -> Result<v1::Ladder> {
    let ladders = patiently(async || client.list_ladders(v1::ListLaddersRequest {}).await).await?.ladders;
    ladders.into_iter().find(|ladder| ladder.name == LADDER).context("the server has lost its ladder")
}

/// Where the standings are shown meanwhile.
enum Show {
    /// On the terminal, in one place.
    Screen(Screen),
    /// As a line on stderr now and then.
    Lines,
    Nowhere,
}

impl Show {
    fn new(format: Format) -> Self {
        match (format, Screen::with_room_for(LINES)) {
            (Format::Json, _) => Self::Nowhere,
            (Format::Table, Some(screen)) => Self::Screen(screen),
            (Format::Table, None) => Self::Lines,
        }
    }

    /// Draws the standings, if there is where.
    fn draw(&mut self, ladder: &v1::Ladder, standings: &[StandingJson]) -> Result<()> {
        let Self::Screen(screen) = self else { return Ok(()) };
        screen.draw(&format!("{}. Ctrl-C ends it\n{}", heading(ladder), table(standings, Columns::Usual)))
    }

    /// Tells on a line how far it is, if the standings are not drawn.
    fn tell(&self, ladder: &v1::Ladder, standings: &[StandingJson]) {
        if let Self::Lines = self {
            let leader = standings.first().map(|first| format!(", {} leads", first.bot));
            output::note(format!("{}{}", heading(ladder), leader.unwrap_or_default()));
        }
    }

    /// Shows the standings at the end, in the place of those before.
    fn close(self, played: &LadderDemoJson) -> Result<()> {
        let table = table(&played.standings, Columns::Usual);
        match self {
            Self::Screen(mut screen) => screen.draw(&format!("{LADDER}, at the end\n{table}")),
            Self::Lines | Self::Nowhere => output::print(table),
        }
    }
}

fn heading(ladder: &v1::Ladder) -> String {
    let rated = counted(usize::try_from(ladder.rated_matches).unwrap_or(usize::MAX), "rated match");
    format!("{LADDER}: {rated}, {} running", ladder.live_matches)
}

fn summary(played: &LadderDemoJson) -> String {
    let LadderDemoJson { matches, rated_matches, unfinished, duration_ms, .. } = played;
    let rated = counted(usize::try_from(*matches).unwrap_or(usize::MAX), "rated match");
    let mut text = format!("{rated} in {}.{} s", duration_ms / 1_000, duration_ms % 1_000 / 100);
    if rated_matches > matches {
        text = format!("{text}, {rated_matches} with those of earlier runs");
    }
    match *unfinished {
        0 => text,
        unfinished => {
            let unfinished = counted(usize::try_from(unfinished).unwrap_or(usize::MAX), "match");
            format!("{text}; {unfinished} not over, and not rated")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn six_bots_have_names_and_owners_of_their_own() {
        let all: Vec<Account> = accounts().collect();
        let names: BTreeSet<&str> = all.iter().map(|account| account.name.as_str()).collect();
        let owners: BTreeSet<&str> = all.iter().map(|account| account.owner.as_str()).collect();
        assert_eq!((all.len(), names.len(), owners.len()), (BOTS, BOTS, BOTS));
        assert!(House::ALL.into_iter().take(BOTS).all(|house| names.contains(house.name())));
    }

    #[test]
    fn the_summary_tells_of_earlier_runs_and_of_what_is_not_over() {
        let check = |matches, rated_matches, unfinished, expected: &str| {
            let (ladder, duration_ms, standings, failures) = (LADDER, 2_345, Vec::new(), Vec::new());
            let played = LadderDemoJson {
                ladder,
                matches,
                rated_matches,
                unfinished,
                failures,
                duration_ms,
                standings,
            };
            assert_eq!(summary(&played), expected);
        };
        check(12, 12, 0, "12 rated matches in 2.3 s");
        check(1, 13, 0, "1 rated match in 2.3 s, 13 with those of earlier runs");
        check(0, 0, 2, "0 rated matches in 2.3 s; 2 matches not over, and not rated");
    }
}
