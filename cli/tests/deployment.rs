//! What is shipped beside the program says what the program does.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use zetema_service::config::Config;
use zetema_service::limits;
use zetema_service::server::Server;

/// A file of the folder `deploy`.
fn deploy(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "deploy", file].iter().collect()
}

/// The value of a key of the systemd unit that is there once.
fn unit(key: &str) -> String {
    let unit = std::fs::read_to_string(deploy("systemd/zetema.service")).unwrap();
    let mut values = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let value = values.next().unwrap_or_else(|| panic!("the unit says no {key}")).to_owned();
    assert_eq!(values.next(), None, "the unit says {key} twice");
    value
}

/// The configuration that is shipped as it is installed, in a folder with the certificate and the key that it names.
fn installed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["zetema.example".to_owned()]).unwrap();
    place("fullchain.pem", made.cert.pem());
    place("privkey.pem", made.signing_key.serialize_pem());
    let config = std::fs::read_to_string(deploy("zetema.toml")).unwrap();
    place("zetema.toml", config.replace("/etc/zetema", folder.path().to_str().unwrap()));
    folder
}

/// What the program says of a command line that starts a server, without starting it.
fn check_config(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    let checked = command.args(arguments).args(["--check-config", "--format", "json"]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    serde_json::from_slice(&checked.stdout).unwrap()
}

#[test]
fn the_unit_starts_the_program_with_the_file_beside_it() {
    let start = unit("ExecStart");
    let arguments = start.strip_prefix("/usr/local/bin/zetema ").unwrap();
    let folder = installed();
    let arguments = arguments
        .replace("/etc/zetema", folder.path().to_str().unwrap())
        .replace("${STATE_DIRECTORY}", "/var/lib/zetema");
    let config = check_config(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(config["data"], "/var/lib/zetema");
    assert_eq!(config["tls_key"], folder.path().join("privkey.pem").to_str().unwrap());
}

#[test]
fn the_unit_gives_the_program_the_time_and_the_files_that_it_needs() {
    let folder = installed();
    let config = check_config(&["serve", "--config", folder.path().join("zetema.toml").to_str().unwrap()]);
    let number = |key: &str| config[key].as_u64().unwrap_or_else(|| panic!("no {key}"));
    let stop = Duration::from_secs(unit("TimeoutStopSec").parse().unwrap());
    let drain = Duration::from_millis(number("drain_timeout_ms"));
    let rest = limits::CLOSING_TIMEOUT + limits::TRACES_STOP_TIMEOUT;
    assert!(stop > drain + rest, "{stop:?}");
    let drain = Duration::from_millis(limits::DEFAULT_DRAIN_TIMEOUT_MS.into());
    assert!(drain + rest < Duration::from_secs(30), "what Kubernetes gives a container unless told");
    let files: u64 = unit("LimitNOFILE").parse().unwrap();
    assert!(files >= 2 * number("max_connections"), "{files}");
}

/// The exit codes of a server after which its page says not to start it again, but that of one that was told to stop.
fn not_again() -> Vec<String> {
    let page: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "docs", "production.md"].iter().collect();
    let page = std::fs::read_to_string(page).unwrap();
    let (_, codes) = page.split_once("| exit code |").unwrap();
    let rows = codes.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[code, _, again] = cells.as_slice() else { panic!("{line}") };
        (again == "no" && code != "0").then(|| code.to_owned())
    };
    rows.filter_map(row).collect()
}

#[tokio::test]
async fn the_unit_does_not_start_again_what_would_fail_again() {
    assert_eq!(unit("RestartPreventExitStatus").split(' ').collect::<Vec<_>>(), not_again());
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let made_elsewhere = folder.path().join("made elsewhere");
    for data in [&made, &made_elsewhere] {
        Server::start(Config::embedded(data)).await.unwrap().shutdown().await;
    }
    // As if it had been killed, and somebody had deleted its write-ahead log.
    std::fs::write(made.join("journal.lock"), "open\n").unwrap();
    // As if it were another program's: of SQLite's header these bytes say whose the file is.
    let database = made_elsewhere.join("journal.sqlite3");
    let mut bytes = std::fs::read(&database).unwrap();
    bytes[68..72].fill(1);
    std::fs::write(&database, bytes).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let cases = [
        (5, "127.0.0.1:0", &made),
        (5, "127.0.0.1:0", &made_elsewhere),
        (1, taken.as_str(), &folder.path().join("new")),
        (1, "127.0.0.1:0", &file),
        (2, "nowhere", &made),
    ];
    for (code, listen, data) in cases {
        for form in ["text", "json"] {
            let mut server = Command::new(env!("CARGO_BIN_EXE_zetema"));
            server.args(["serve", "--listen", listen, "--log-format", form, "--data"]).arg(data);
            let ended = server.output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(code), "{listen} {data:?}: {said}");
        }
    }
}

#[test]
fn the_container_serves_where_its_file_says() {
    let file = std::fs::read_to_string(deploy("container/Containerfile")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    command.args(["serve", "--check-config", "--format", "json"]).env("ZETEMA_PLAINTEXT", "anywhere");
    for word in file.split_whitespace() {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| name.starts_with("ZETEMA_")) {
            command.env(name, value);
        }
    }
    let checked = command.output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let config: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let listen = config["listen"].as_str().unwrap();
    assert!(file.contains(&format!("EXPOSE {}", listen.rsplit(':').next().unwrap())), "{listen}");
    assert!(file.contains(&format!("VOLUME {}", config["data"].as_str().unwrap())), "{config}");
}

#[cfg(unix)]
#[test]
fn a_service_manager_is_told_when_the_server_serves_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let socket = std::os::unix::net::UnixDatagram::bind(folder.path().join("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let told = || {
        let mut said = [0; 256];
        let length = socket.recv(&mut said).unwrap();
        String::from_utf8(said[..length].to_vec()).unwrap()
    };
    let mut server = Command::new(env!("CARGO_BIN_EXE_zetema"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"))
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .spawn()
        .unwrap();
    let ready = told();
    assert!(ready.starts_with("READY=1\nSTATUS=serves at http://127.0.0.1:"), "{ready}");
    let kill = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert_eq!(told(), "STOPPING=1\nSTATUS=drains\n");
    assert!(server.wait().unwrap().success());
}
