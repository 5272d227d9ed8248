//! The verifiers, and what they are given.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use zetema_rules::Record;

/// Each verifier: what runs it, what to install if that is missing, and the file.
const VERIFIERS: [(&str, &str, &str); 2] = [
    ("python3", "Python 3.8 or later (apt-get install python3)", "verify.py"),
    ("node", "Node 18 or later (apt-get install nodejs, or nodejs.org)", "verify.mjs"),
];

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/verify")
}

/// Runs both verifiers at once over this file. They print the same and exit with the same code.
pub(crate) fn verify(file: &Path) -> (i32, String) {
    let running = VERIFIERS.map(|(program, install, script)| {
        let started = Command::new(program)
            .arg(examples().join(script))
            .arg(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        match started {
            Ok(child) => (script, child),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                panic!("{program} is not there, and this test needs it: install {install}")
            }
            Err(error) => panic!("{program}: {error}"),
        }
    });
    // Each is read by a thread of its own, as what it prints may fill its pipe.
    let ended =
        running.map(|(script, child)| (script, std::thread::spawn(|| child.wait_with_output().unwrap())));
    let [python, javascript] = ended.map(|(script, thread)| {
        let Output { status, stdout, stderr } = thread.join().unwrap();
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        let code = status.code().unwrap();
        assert_eq!(code == 2, stderr.contains("can't be read"), "{script}: {code}\n{stdout}\n{stderr}");
        assert_eq!(code != 2, stderr.is_empty(), "{script}: {code}\n{stdout}\n{stderr}");
        (code, stdout)
    });
    assert_eq!(python, javascript, "the verifiers differ");
    python
}

/// The records as `zetema record export --format json-lines` writes them.
pub(crate) fn exported(records: &[Record]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (number, record) in records.iter().enumerate() {
        fs::write(folder.path().join(format!("{number}.txt")), record.to_string()).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_zetema"))
        .current_dir(folder.path())
        .args(["record", "export", "--format", "json-lines"])
        .args((0..records.len()).map(|number| format!("{number}.txt")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs both verifiers over this text.
pub(crate) fn verify_text(text: impl AsRef<[u8]>) -> (i32, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    verify(file.path())
}

#[test]
fn a_verifier_has_fewer_than_200_lines() {
    for (_, _, script) in VERIFIERS {
        let lines = fs::read_to_string(examples().join(script)).unwrap().lines().count();
        assert!(lines < 200, "{script} has {lines} lines");
    }
}
