//! Compiles the `.proto` files by protox, which needs no protoc, and generates messages, clients and servers.

use std::{env, error::Error, fs, path::PathBuf};

/// Messages with a token, a nonce, a seed, a hand, the address of a webhook or of a bot's owner in them: `src/redacted.rs` writes their `Debug`.
const REDACTED: [&str; 30] = [
    "zetema.v1.Act",
    "zetema.v1.ActRequest",
    "zetema.v1.Bot",
    "zetema.v1.BotPanic",
    "zetema.v1.CreateTokenResponse",
    "zetema.v1.CreateWebhookRequest",
    "zetema.v1.CreateWebhookResponse",
    "zetema.v1.Dealing",
    "zetema.v1.Drew",
    "zetema.v1.FixedDeals",
    "zetema.v1.GiveNonce",
    "zetema.v1.Join",
    "zetema.v1.JoinSeatRequest",
    "zetema.v1.LegalActions",
    "zetema.v1.ListFaultsRequest",
    "zetema.v1.ObserveSeat",
    "zetema.v1.RecordDeal",
    "zetema.v1.RegisterBotRequest",
    "zetema.v1.RegisterBotResponse",
    "zetema.v1.RegisterOwnerResponse",
    "zetema.v1.ResignRequest",
    "zetema.v1.RotateTokenResponse",
    "zetema.v1.SeatToken",
    "zetema.v1.SendNonceRequest",
    "zetema.v1.UpdateBotRequest",
    "zetema.v1.View",
    "zetema.v1.Webhook",
    "zetema.journal.v1.Created",
    "zetema.journal.v1.NonceGiven",
    "zetema.journal.v1.Started",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=zetema");

    // Reflection serves the public package alone.
    let public = files("zetema/v1")?;
    fs::write(out.join("descriptors.bin"), compiler(&public)?.encode_file_descriptor_set())?;

    let all = [public, files("zetema/journal/v1")?].concat();
    tonic_prost_build::configure()
        .codec_path("crate::codec::WireCodec")
        .skip_debug(REDACTED)
        // What few messages have would make all of them large, and they are moved from hand to hand.
        .boxed(".zetema.v1.Observation.view")
        .boxed(".zetema.v1.ObserveResponse.kind.start")
        .boxed(".zetema.v1.PlayResponse.kind.joined")
        .boxed(".zetema.v1.PlayResponse.kind.welcome")
        // The list above takes the oneofs along: these hide nothing.
        .type_attribute("zetema.v1.CreateWebhookRequest.from", "#[derive(Debug)]")
        .type_attribute("zetema.v1.Dealing.kind", "#[derive(Debug)]")
        .type_attribute("zetema.v1.View.viewer", "#[derive(Debug)]")
        .compile_fds(compiler(&all)?.file_descriptor_set())?;
    Ok(())
}

/// The `.proto` files of a folder, in order.
fn files(folder: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The files compiled, with comments and imports.
fn compiler(files: &[PathBuf]) -> Result<protox::Compiler, Box<dyn Error>> {
    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_files(files)?;
    Ok(compiler)
}
