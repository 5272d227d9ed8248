//! `zetema bot` with a bot's token, in processes of its own that die and are evicted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tonic::Request;
use tonic::metadata::MetadataValue;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::token_service_client::TokenServiceClient;

fn zetema() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    for name in ["ZETEMA_TOKEN", "ZETEMA_SERVER", "ZETEMA_DATA", "ZETEMA_LOG", "ZETEMA_NONCE_SECRET"] {
        command.env_remove(name);
    }
    command
}

/// A program that is killed when the test is over.
struct Running(Child);

impl Running {
    /// Its stdout, line by line.
    fn lines(&mut self) -> Lines<BufReader<ChildStdout>> {
        BufReader::new(self.0.stdout.take().unwrap()).lines()
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    fn interrupt(&self) {
        let sent = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server, with a bot that has a token.
struct Served {
    _server: Running,
    url: String,
    data: TempDir,
    admin: String,
    bot: String,
}

impl Served {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut server = zetema();
        server.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--data"]).arg(data.path());
        // A debug build on a busy machine is late all the time.
        server.args(["--max-late-ms", "60000"]);
        let mut server = Running(server.stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("serves at ")).expect("the server says where it serves");
        let url = line.split_once("serves at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        // What else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let admin = fs::read_to_string(data.path().join("admin-token")).unwrap().trim().to_owned();
        let scope = v1::token_scope::Kind::Bot(v1::BotScope { bot: "tester".to_owned() });
        let request = v1::CreateTokenRequest {
            scope: Some(v1::TokenScope { kind: Some(scope) }),
            ..v1::CreateTokenRequest::default()
        };
        let mut tokens = TokenServiceClient::connect(url.clone()).await.unwrap();
        let made = tokens.create_token(by(&admin, request)).await.unwrap().into_inner();
        Self { _server: server, url, data, admin, bot: made.secret }
    }

    /// Matches in which the bot has seat 0: their ids, and the tokens of seat 1.
    async fn matches(&self, count: usize) -> Vec<(String, String)> {
        let seat = |kind| v1::SeatSpec { kind: Some(kind) };
        let bot = v1::seat_spec::Kind::Bot(v1::BotSeat { name: "tester".to_owned() });
        let preset = v1::PresetRules { preset: v1::Preset::Fosdick.into(), teams: None, imperial_suit: None };
        let spec = v1::MatchSpec {
            rules: Some(v1::match_spec::Rules::Preset(preset)),
            seats: vec![seat(bot), seat(v1::seat_spec::Kind::Token(v1::TokenSeat {}))],
            ..v1::MatchSpec::default()
        };
        let matches = vec![spec; count];
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        let mut client = MatchServiceClient::connect(self.url.clone()).await.unwrap();
        let made = client.batch_create_matches(by(&self.admin, request)).await.unwrap().into_inner();
        let made = made.matches.into_iter();
        made.map(|made| {
            let [token] = &made.seat_tokens[..] else { panic!("seat 1 alone has a token") };
            (made.r#match.unwrap().match_id, token.token.clone())
        })
        .collect()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = zetema();
        command.args(args).args(["--format", "json", "--server", &self.url]);
        command.env("ZETEMA_DATA", self.data.path());
        command
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Plays as the bot.
    fn play(&self) -> Running {
        let mut command = self.command(&["bot", "greedy", "--token", &self.bot]);
        command.arg("--nonce-secret").arg(self.data.path().join("nonce-secret"));
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Plays the other seats.
    fn oppose<'a>(&self, tokens: impl Iterator<Item = &'a String>) -> Running {
        let mut command = self.command(&["bot", "random"]);
        for token in tokens {
            command.args(["--token", token]);
        }
        Running(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

fn by<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = MetadataValue::try_from(format!("Bearer {token}")).unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn output(mut running: Running) -> Output {
    let child = &mut running.0;
    let mut output = Output { status: child.wait().unwrap(), stdout: Vec::new(), stderr: Vec::new() };
    for (pipe, bytes) in [
        (child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read>), &mut output.stdout),
        (child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read>), &mut output.stderr),
    ] {
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(bytes).unwrap();
        }
    }
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_killed_in_the_middle_of_its_matches_finds_them_and_goes_on() {
    let served = Served::start().await;
    let created = served.matches(20).await;
    let mut first = served.play();
    let mut opponents = served.oppose(created.iter().map(|(_, token)| token));
    // The first match is over: the others are under way.
    let mut told = BTreeSet::new();
    let line: Value = serde_json::from_str(&first.lines().next().unwrap().unwrap()).unwrap();
    told.insert(line["match_id"].as_str().unwrap().to_owned());
    first.kill();
    let playing = served.json(&["match", "list", "--state", "playing"]);
    assert!(!playing.as_array().unwrap().is_empty(), "killed too late");

    let mut second = served.play();
    let mut lines = second.lines();
    assert!(opponents.0.wait().unwrap().success(), "every match came to its result");
    let lost = served.json(&["match", "faults", "--token", &served.bot]);
    assert!(lost.as_array().unwrap().iter().any(|fault| fault["kind"] == "lost"), "{lost}");
    // A match that is created now is played too.
    let later = served.matches(1).await;
    let mut opponents = served.oppose(later.iter().map(|(_, token)| token));
    assert!(opponents.0.wait().unwrap().success());
    // It comes after those that were under way, of which the opponent may have ended some on its own.
    let mut of_the_first = 0;
    loop {
        let seat: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((&seat["end"], &seat["verified"]), (&"result".into(), &true.into()), "{seat}");
        if seat["match_id"] == later[0].0.as_str() {
            break;
        }
        of_the_first += 1;
    }
    assert!(of_the_first > 0, "it went on with none of those that were under way");
    second.interrupt();
    assert_eq!(output(second).status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_programs_with_a_bots_token_the_first_exits_with_3() {
    let served = Served::start().await;
    let created = served.matches(3).await;
    let joined = |count: usize| {
        let joined =
            |(id, _): &(String, String)| served.json(&["match", "show", id])["seats"][0]["state"] == "joined";
        while created.iter().filter(|created| joined(created)).count() < count {}
    };
    let first = served.play();
    joined(3);
    let second = served.play();
    let evicted = output(first);
    assert_eq!(evicted.status.code(), Some(3), "{}", text(&evicted.stderr));
    assert!(text(&evicted.stderr).contains("another program took 3 of 3 seats"), "{}", text(&evicted.stderr));
    let mut opponents = served.oppose(created.iter().map(|(_, token)| token));
    assert!(opponents.0.wait().unwrap().success(), "the second plays on, with the nonces of the first");
    second.interrupt();
    assert_eq!(output(second).status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bots_token_that_is_not_valid_is_said_so() {
    let served = Served::start().await;
    let output = served.command(&["bot", "greedy", "--token", "ztb_nonsense"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("UNAUTHENTICATED"), "{}", text(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_whose_token_is_not_valid_any_more_exits_with_4() {
    let served = Served::start().await;
    let seat = served.json(&["match", "create"])["seat_tokens"].clone();
    let bot = served.play();
    let listed = served.json(&["token", "list"]);
    let of_bot = listed.as_array().unwrap().iter().find(|token| token["account"] == "tester").unwrap();
    served.json(&["token", "revoke", of_bot["token_id"].as_str().unwrap()]);
    // Whether it was connected already or not.
    let ended = output(bot);
    assert_eq!(ended.status.code(), Some(4), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("start again with another"), "{}", text(&ended.stderr));

    let forged = format!("{}x", seat[0]["token"].as_str().unwrap());
    for (tokens, code) in [(vec![forged.as_str()], 4), (vec![forged.as_str(); 2], 2)] {
        let mut bot = zetema();
        bot.args(["bot", "random", "--server", &served.url]);
        bot.args(tokens.iter().flat_map(|token| ["--token", token]));
        let ended = bot.output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
    }
}
