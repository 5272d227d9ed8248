//! A page shows the code that the tests run, and no other.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

/// Pages, and the files that each shows whole.
const PAGES: [(&str, &[&str]); 1] = [(
    "docs/embedding.md",
    &[
        "examples/backend-rust/Cargo.toml",
        "examples/backend-rust/src/main.rs",
        "examples/backend-python/requirements.txt",
        "examples/backend-python/backend.py",
        "examples/webhook-python/receiver.py",
    ],
)];

#[test]
fn a_page_shows_its_examples_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (page, files) in PAGES {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for file in files {
            let (_, rest) =
                text.split_once(&format!("<!-- {file} -->\n```")).expect("the page names the file");
            let (_, rest) = rest.split_once('\n').unwrap();
            let (shown, _) = rest.split_once("```\n").expect("the code ends");
            let code = fs::read_to_string(root.join(file)).unwrap();
            assert!(shown == code, "{page} shows {file} as it no longer is: copy it there again");
        }
    }
}
