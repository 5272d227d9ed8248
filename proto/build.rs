//! Compiles the `.proto` files by protox, which needs no protoc, and generates messages, clients and servers.

use std::{env, error::Error, fs, path::PathBuf};

/// Messages with a token, a nonce, a seed or a hand in them: `src/redacted.rs` writes their `Debug`.
const REDACTED: [&str; 16] = [
    "zetema.v1.Act",
    "zetema.v1.ActRequest",
    "zetema.v1.Drew",
    "zetema.v1.FixedDeals",
    "zetema.v1.GiveNonce",
    "zetema.v1.Join",
    "zetema.v1.JoinSeatRequest",
    "zetema.v1.LegalActions",
    "zetema.v1.ObserveSeat",
    "zetema.v1.ResignRequest",
    "zetema.v1.SeatToken",
    "zetema.v1.SendNonceRequest",
    "zetema.v1.View",
    "zetema.journal.v1.Created",
    "zetema.journal.v1.NonceGiven",
    "zetema.journal.v1.Started",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=zetema");

    let mut files = Vec::new();
    for folder in ["zetema/v1", "zetema/journal/v1"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "proto") {
                files.push(path);
            }
        }
    }
    files.sort();

    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_files(&files)?;
    fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;

    tonic_prost_build::configure()
        .codec_path("crate::codec::WireCodec")
        .skip_debug(REDACTED)
        // The list above takes the oneofs along: this one hides nothing.
        .type_attribute("zetema.v1.View.viewer", "#[derive(Debug)]")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
