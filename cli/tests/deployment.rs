//! What is shipped beside the program says what the program does.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use zetema_service::limits;

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
    let file = deploy("zetema.toml");
    let arguments = arguments
        .replace("/etc/zetema/zetema.toml", file.to_str().unwrap())
        .replace("${STATE_DIRECTORY}", "/var/lib/zetema");
    let config = check_config(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(config["data"], "/var/lib/zetema");
    assert_eq!(config["tls_key"], "/etc/zetema/privkey.pem");
}

#[test]
fn the_unit_gives_the_program_the_time_and_the_files_that_it_needs() {
    let config = check_config(&["serve", "--config", deploy("zetema.toml").to_str().unwrap()]);
    let number = |key: &str| config[key].as_u64().unwrap_or_else(|| panic!("no {key}"));
    let stop = Duration::from_secs(unit("TimeoutStopSec").parse().unwrap());
    let drain = Duration::from_millis(number("drain_timeout_ms"));
    assert!(stop > drain + limits::CLOSING_TIMEOUT, "{stop:?}");
    let files: u64 = unit("LimitNOFILE").parse().unwrap();
    assert!(files >= 2 * number("max_connections"), "{files}");
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
