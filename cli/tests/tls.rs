//! The commands against a server with TLS that demands client certificates.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::Value;
use tempfile::TempDir;

/// In a folder with a CA (`ca.pem`), a server's certificate (`cert.pem`, `key.pem`) and a client's.
fn zetema(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ZETEMA_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).args(args);
    command
}

fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_key = KeyPair::generate().unwrap();
    write("ca.pem", ca.self_signed(&ca_key).unwrap().pem());
    let issuer = Issuer::new(ca, ca_key);
    for (cert, key_file, name, usage) in [
        ("cert.pem", "key.pem", "zetema.example", ExtendedKeyUsagePurpose::ServerAuth),
        ("bot.pem", "bot-key.pem", "bot", ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        write(cert, params.signed_by(&key, &issuer).unwrap().pem());
        write(key_file, key.serialize_pem());
    }
    folder
}

/// A `zetema serve` of its own, stopped when it is dropped.
struct Served {
    child: Child,
    url: String,
    folder: TempDir,
}

impl Served {
    fn start() -> Self {
        Self::start_with(&[])
    }

    /// With these flags too, and with what a client of it needs in the environment.
    fn start_with(more: &[&str]) -> Self {
        let folder = certificates();
        let flags = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-client-ca", "ca.pem"];
        let mut child = zetema(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--log", "warn"])
            .args(flags)
            .args(more)
            .envs(BY_ENVIRONMENT)
            // A debug build on a busy machine is late all the time.
            .args(["--max-late-ms", "60000"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("serves at ")).expect("the server says where it serves");
        let url = line.split_once("serves at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url, folder }
    }

    /// What a command against this server gives.
    fn output(&self, args: &[&str]) -> Output {
        zetema(self.folder.path(), args).env("ZETEMA_SERVER", &self.url).output().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TLS: [&str; 8] = [
    "--ca",
    "ca.pem",
    "--server-name",
    "zetema.example",
    "--client-cert",
    "bot.pem",
    "--client-key",
    "bot-key.pem",
];

const BY_ENVIRONMENT: [(&str, &str); 4] = [
    ("ZETEMA_CA", "ca.pem"),
    ("ZETEMA_SERVER_NAME", "zetema.example"),
    ("ZETEMA_CLIENT_CERT", "bot.pem"),
    ("ZETEMA_CLIENT_KEY", "bot-key.pem"),
];

#[test]
fn house_bots_come_over_tls() {
    let served = Served::start_with(&["--house-bots", "greedy"]);
    let mut listed = (0..10_000)
        .map(|_| served.output(&[&["ladder", "list", "--format", "json"][..], &TLS].concat()))
        .map(|listed| serde_json::from_slice::<Value>(&listed.stdout).unwrap());
    let waits = |ladder: &Value| ladder["queued_bots"] == 1;
    assert!(
        listed.any(|ladders| ladders.as_array().unwrap().iter().all(waits)),
        "greedy waits on all of them"
    );
}

#[test]
fn a_match_is_created_played_and_exported_over_tls() {
    let served = Served::start();
    assert!(served.url.starts_with("https://"), "{}", served.url);
    let created =
        served.output(&[&["match", "create", "--preset", "quick", "--format", "json"][..], &TLS].concat());
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    let mut args = vec!["bot", "greedy"];
    for seat in created["seat_tokens"].as_array().unwrap() {
        args.extend(["--token", seat["token"].as_str().unwrap()]);
    }
    let played = served.output(&[&args[..], &TLS].concat());
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));

    // The same by the environment.
    let id = created["match"]["match_id"].as_str().unwrap();
    let verified = zetema(served.folder.path(), &["record", "verify", id])
        .env("ZETEMA_SERVER", &served.url)
        .envs(BY_ENVIRONMENT)
        .output()
        .unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_server_that_is_not_trusted_or_does_not_trust_is_an_error_that_says_what_to_give() {
    let served = Served::start();
    let check = |flags: &[&str], says: &str| {
        for command in [&["match", "list"][..], &["bot", "greedy", "--token", "x"]] {
            let output = served.output(&[command, flags].concat());
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!output.status.success() && text.contains(says), "{flags:?}: {text}");
        }
    };
    check(&[], "--ca");
    check(&TLS[..2], "--server-name");
    check(&TLS[..4], "--client-cert and --client-key");
    check(&TLS[..6], "--client-key");
    check(&["--ca", "none.pem"], "the CA file none.pem: it can't be read");
    check(&["--ca", "key.pem"], "there is no certificate in PEM form in it");
    check(
        &["--client-cert", "bot.pem", "--client-key", "key.pem"],
        "it is not the key of the client certificate bot.pem",
    );
    check(&["--server-name", "a:1"], "the server name \"a:1\"");
    check(&["--server", "http://127.0.0.1:1", "--ca", "ca.pem"], "https://");
    let plaintext = served.url.replace("https", "http");
    check(&["--server", &plaintext], "give its address with https://");
}

#[test]
fn a_server_with_half_of_its_settings_does_not_start() {
    let folder = certificates();
    let check = |flags: &[&str], says: &str| {
        let output = zetema(folder.path(), &["serve"])
            .env("ZETEMA_LISTEN", "127.0.0.1:0")
            .args(flags)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(says), "{flags:?}: {text}");
    };
    check(&["--tls-cert", "cert.pem"], "tls_cert is given without tls_key");
    check(&["--tls-key", "key.pem"], "tls_key is given without tls_cert");
    check(&["--tls-client-ca", "ca.pem"], "tls_client_ca is given without tls_cert");
    check(&["--tls-cert", "cert.pem", "--tls-key", "bot-key.pem"], "the key in bot-key.pem is not that of");
    check(
        &["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--plaintext", "anywhere"],
        "there is no plaintext",
    );
    check(&["--listen", "0.0.0.0:0"], "give --tls-cert and --tls-key");
}

#[test]
fn a_check_of_the_configuration_reads_the_files_as_a_start_does() {
    let folder = certificates();
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    let check = |flags: &[&str], code: i32, says: &str| {
        let output = zetema(folder.path(), &["serve", "--check-config"]).args(flags).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{flags:?}: {text}");
        assert!(text.contains(says) && output.stdout.is_empty() == (code != 0), "{flags:?}: {text}");
    };
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    check(&[&tls[..], &["--tls-client-ca", "ca.pem", "--webhook-ca", "ca.pem"]].concat(), 0, "");
    check(&["--log", "loud=louder"], 2, "is no filter of a log");
    check(&["--tls-cert", "no.pem", "--tls-key", "key.pem"], 1, "tls_cert: no.pem can't be read");
    check(&["--tls-cert", "cert.pem", "--tls-key", "no.pem"], 1, "tls_key: no.pem can't be read");
    for (cert, key) in [("cert.pem", "bot-key.pem"), ("empty.pem", "key.pem"), ("cert.pem", "empty.pem")] {
        let says = format!("{cert} is no certificate in PEM form with its key in {key}");
        check(&["--tls-cert", cert, "--tls-key", key], 1, &says);
    }
    check(&[&tls[..], &["--tls-client-ca", "no.pem"]].concat(), 1, "tls_client_ca: the CA file no.pem");
    check(&[&tls[..], &["--tls-client-ca", "key.pem"]].concat(), 1, "tls_client_ca: the CA file key.pem");
    check(&["--webhook-ca", "no.pem"], 1, "webhook_ca: the CA file no.pem");
    check(&["--webhook-ca", "empty.pem"], 1, "webhook_ca: the CA file empty.pem");
}
