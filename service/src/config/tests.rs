use std::ffi::OsString;

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn with_file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zetema.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let (_folder, path) = with_file("max_connections = 1\nmax_live_matches = 1\nping_interval_ms = 101\n");
    let flags = Flags::new().with(Setting::MaxConnections, "3");
    let environment = variables(&[("ZETEMA_MAX_CONNECTIONS", "2"), ("ZETEMA_MAX_LIVE_MATCHES", "2")]);
    let config = Config::load(&flags, environment, Some(&path)).unwrap();
    assert_eq!(config.max_connections, 3);
    assert_eq!(config.max_live_matches, 2);
    assert_eq!(config.ping_interval, Duration::from_millis(101));
    assert_eq!(config.log, "info");
}

#[test]
fn variables_of_other_programs_and_of_other_commands_are_left_alone() {
    let environment = variables(&[("PATH", "/bin"), ("ZETEMA_TOKEN", "secret"), ("ZETEMA_CONFIG", "x.toml")]);
    assert_eq!(Config::load(&Flags::new(), environment, None).unwrap(), Config::default());
}

#[test]
fn a_wrong_setting_says_where_it_is_and_what_to_write() {
    let check = |flags: Flags, environment: &[(&str, &str)], file: &str, message: &str| {
        let (_folder, path) = with_file(file);
        let error = Config::load(&flags, variables(environment), Some(&path)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(message), "{text}");
    };
    let none = Flags::new;
    check(none(), &[], "listne = \"127.0.0.1:1\"", "unknown key `listne`: did you mean `listen`?");
    check(none(), &[], "zzz = 1", "unknown key `zzz`");
    check(none(), &[], "[server]\nlisten = 1", "unknown key `server`");
    check(
        none(),
        &[],
        "log_format = 3",
        "the file's key log_format: \"3\" is not valid: expected `text` or `json`",
    );
    check(none(), &[], "max_connections = 0", "expected a number, 1 to 1000000");
    check(none(), &[], "listen = ", "is not valid TOML");
    check(none(), &[("ZETEMA_LISTENN", "x")], "", "`ZETEMA_LISTENN`: did you mean `ZETEMA_LISTEN`?");
    check(none(), &[("ZETEMA_LISTEN", "x")], "", "the variable ZETEMA_LISTEN: \"x\" is not valid");
    check(none().with(Setting::PingIntervalMs, "1"), &[], "", "the flag --ping-interval-ms");
    check(none().with(Setting::Listen, "0.0.0.0:1"), &[], "", "allow it by --plaintext anywhere");
    check(
        none(),
        &[("ZETEMA_TLS_CERT", "a.pem")],
        "",
        "tls_cert is given without tls_key: set it too, by --tls-key",
    );
    check(none(), &[], "tls_key = \"k.pem\"", "tls_key is given without tls_cert");
    check(none().with(Setting::TlsClientCa, "c.pem"), &[], "", "tls_client_ca is given without tls_cert");
    check(none().with(Setting::TlsCert, ""), &[], "", "the flag --tls-cert: \"\" is not valid");
    check(
        none().with(Setting::Plaintext, "anywhere"),
        &[("ZETEMA_TLS_CERT", "a.pem")],
        "tls_key = \"k.pem\"",
        "with TLS there is no plaintext",
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = Config::load(&Flags::new(), [], Some(Path::new("/does/not/exist.toml"))).unwrap_err();
    assert!(matches!(error, ConfigError::File { .. }));
}

#[test]
fn plaintext_leaves_the_machine_when_told() {
    let flags = Flags::new().with(Setting::Listen, "0.0.0.0:1").with(Setting::Plaintext, "anywhere");
    assert_eq!(Config::load(&flags, [], None).unwrap().plaintext, Plaintext::Anywhere);
}

#[test]
fn tls_leaves_the_machine_untold() {
    let flags = Flags::new().with(Setting::Listen, "0.0.0.0:1").with(Setting::TlsCert, "a.pem");
    let (_folder, path) = with_file("tls_key = \"k.pem\"\n");
    let config = Config::load(&flags, variables(&[("ZETEMA_TLS_CLIENT_CA", "c.pem")]), Some(&path)).unwrap();
    let files = TlsFiles { cert: "a.pem".into(), key: "k.pem".into(), client_ca: Some("c.pem".into()) };
    assert_eq!(config.tls, Some(files));
}
