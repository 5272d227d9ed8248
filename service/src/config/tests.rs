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
    let flags = Flags::new().with(Setting::Number(Number::MaxConnections), "3");
    let environment = variables(&[("ZETEMA_MAX_CONNECTIONS", "2"), ("ZETEMA_MAX_LIVE_MATCHES", "2")]);
    let config = Config::load(&flags, environment, Some(&path)).unwrap();
    let numbers = [Number::MaxConnections, Number::MaxLiveMatches, Number::PingIntervalMs];
    assert_eq!(numbers.map(|number| config.numbers.get(number)), [3, 2, 101]);
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
    check(none(), &[], "max_connections = 0", "expected a number (connections), 1 to 1000000");
    check(none(), &[], "listen = ", "is not valid TOML");
    check(none(), &[("ZETEMA_LISTENN", "x")], "", "`ZETEMA_LISTENN`: did you mean `ZETEMA_LISTEN`?");
    check(none(), &[("ZETEMA_LISTEN", "x")], "", "the variable ZETEMA_LISTEN: \"x\" is not valid");
    check(none().with(Setting::Number(Number::PingIntervalMs), "1"), &[], "", "the flag --ping-interval-ms");
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

#[test]
fn a_number_is_what_its_range_allows_and_never_without_an_end() {
    for &number in Number::ALL {
        let setting = Setting::Number(number);
        let range = number.range();
        assert!(range.contains(&number.default_value()), "{setting:?}");
        assert!(*range.end() < u64::from(u32::MAX) * 32, "{setting:?} can't be as good as infinite");
        let check = |text: &str, valid| {
            for config in [
                Config::load(&Flags::new().with(setting, text), [], None),
                Config::load(&Flags::new(), variables(&[(&setting.variable(), text)]), None),
            ] {
                assert_eq!(config.is_ok(), valid, "{setting:?} as {text}");
                let value = config.ok().map(|config| config.numbers.get(number).to_string());
                assert_eq!(value.is_some_and(|value| value == text), valid, "{setting:?}");
            }
        };
        check(&range.start().to_string(), true);
        check(&range.end().to_string(), true);
        check(&(range.end() + 1).to_string(), false);
        if let Some(below) = range.start().checked_sub(1) {
            check(&below.to_string(), false);
        }
        for text in ["", "-1", "1.5", "inf", "unlimited", "18446744073709551616"] {
            check(text, false);
        }
        assert!(Config::default().with(number, range.end() + 1).is_err());
    }
}

#[test]
fn the_documentation_lists_every_setting_with_its_default() {
    let page = include_str!("../../../docs/server.md");
    let line = |setting: Setting| {
        let range = match setting {
            Setting::Number(number) => format!(", {} to {}", number.range().start(), number.range().end()),
            _ => String::new(),
        };
        let default = match setting.default_text().as_str() {
            "none" => "none".to_owned(),
            text => format!("`{text}`"),
        };
        format!("| `{}` | {}{range} | {default} | {} |", setting.key(), setting.value(), setting.what())
    };
    let expected: Vec<String> = Setting::all().map(line).collect();
    let missing: Vec<&str> =
        expected.iter().map(String::as_str).filter(|line| !page.lines().any(|have| have == *line)).collect();
    assert!(missing.is_empty(), "docs/server.md should have:\n{}", missing.join("\n"));
    for setting in Setting::all() {
        // What the page says the default is, is what an empty configuration gives.
        let given = Config::default().text(setting).unwrap_or_else(|| "none".to_owned());
        assert_eq!(given, setting.default_text(), "{setting:?}");
    }
}

#[test]
fn owners_that_a_ladder_names_are_nobodys_who_registers() {
    let check = |text: &str, expected: &[&str]| {
        let (_folder, path) = with_file(text);
        let config = Config::load(&Flags::new(), variables(&[]), Some(&path)).unwrap();
        let named = config.account_settings().unwrap().named_owners;
        assert_eq!(named.iter().map(Owner::as_str).collect::<Vec<_>>(), expected, "{text}");
    };
    let ladder = |name: &str, owners: &str| {
        format!("[[ladder]]\nname = \"{name}\"\npreset = \"quick\"\nplayers = 2\n{owners}\n")
    };
    check("", &[]);
    check(&ladder("a", ""), &[]);
    let two =
        [ladder("a", "owners = [\"bob\", \"ada\"]"), ladder("b", "owners = [\"cyd\", \"ada\"]")].concat();
    check(&two, &["ada", "bob", "cyd"]);
}
