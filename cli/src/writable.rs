//! Whether something can be written in the end, asked before the work that it is to hold.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use anyhow::{Result, anyhow};

/// Refuses a file that this flag names and that can't be written. What is in it stays.
pub(crate) fn file(flag: &str, path: &Path) -> Result<()> {
    probe(path).map_err(|error| {
        anyhow!(
            "{flag} {} can't be written: {error}: give a file in a folder that is there and that you may write to",
            path.display()
        )
    })
}

/// The same of a folder in which there are to be files. It is made if it is not there.
pub(crate) fn folder(flag: &str, path: &Path) -> Result<()> {
    let probed = fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path));
    probed.map(drop).map_err(|error| {
        anyhow!(
            "{flag} {} can't be written to: {error}: give a folder that you may write to, or may make",
            path.display()
        )
    })
}

fn probe(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // A pipe, which would end for its reader, or a device.
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{file, folder};

    #[test]
    fn what_is_there_stays_and_what_is_not_is_not_made() {
        let at = tempfile::tempdir().unwrap();
        let [page, new] = ["page.html", "new.html"].map(|name| at.path().join(name));
        fs::write(&page, "before").unwrap();
        file("--html", &page).unwrap();
        file("--html", &new).unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "before");
        assert!(!new.exists());
        folder("--hdr", &at.path().join("one").join("more")).unwrap();
    }

    #[test]
    fn what_can_t_be_written_is_refused_with_its_flag() {
        let at = tempfile::tempdir().unwrap();
        let page = at.path().join("page.html");
        fs::write(&page, "").unwrap();
        for refused in [
            file("--html", &at.path().join("none").join("page.html")),
            file("--html", at.path()),
            file("--html", &page.join("page.html")),
        ] {
            let said = refused.unwrap_err().to_string();
            assert!(said.starts_with("--html ") && said.contains("give a file in a folder"), "{said}");
        }
        let said = folder("--hdr", &page).unwrap_err().to_string();
        assert!(said.starts_with("--hdr ") && said.contains("give a folder"), "{said}");
    }
}
