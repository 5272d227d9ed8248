//! The file of a nonce secret.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;

use zetema_sdk::{Error, NonceSecret};

#[test]
fn the_file_is_made_once_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let made = NonceSecret::from_file(&path).unwrap();
    assert_eq!(NonceSecret::from_file(&path).unwrap(), made);
    assert_eq!(fs::read_to_string(&path).unwrap().trim().len(), 64);
    let other = NonceSecret::from_file(folder.path().join("other")).unwrap();
    assert!(other != made, "another file has another secret");
    assert_eq!(format!("{made:?}"), "NonceSecret(hidden)");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_file_with_anything_else_in_it_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    for text in ["", "secret", &"g".repeat(64), &"0".repeat(63), &"0".repeat(66), &"ä".repeat(32)] {
        fs::write(&path, text).unwrap();
        let error = NonceSecret::from_file(&path).unwrap_err();
        let Error::NonceSecretFile { path: named, .. } = &error else { panic!("{error}") };
        assert_eq!(*named, path);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it was");
    }
    let nowhere = folder.path().join("nowhere").join("secret");
    assert!(matches!(NonceSecret::from_file(nowhere), Err(Error::NonceSecretFile { .. })));
    assert!(matches!(NonceSecret::from_file(folder.path()), Err(Error::NonceSecretFile { .. })));
}
