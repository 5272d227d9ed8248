//! How generators tell each other what they are.

use std::num::NonZeroU32;

use super::link::{Frames, Link, Lost, read, write};
use super::message::{Message, REVISION, VERSION};

/// Hears what somebody is who has connected, and lets a generator of the same version in.
///
/// # Errors
/// Why it is none, for people.
pub(super) async fn welcome(mut frames: Frames, generators: NonZeroU32) -> Result<Link, String> {
    let problem = match read(&mut frames).await {
        Ok(Message::Hello { revision: REVISION, version }) if version == VERSION => {
            write(&mut frames, &Message::Welcome { generators })
                .await
                .map_err(|lost| format!("it {lost}"))?;
            return Ok(Link::new(frames));
        }
        Ok(Message::Hello { version, .. }) => {
            let version = super::link::shown(&version);
            format!(
                "it is version {version} of zetema and this is version {VERSION}: run the same on all machines"
            )
        }
        Ok(_) => "it has not said what it is".to_owned(),
        Err(lost) => format!("it {lost}"),
    };
    // Whether it hears why does not matter here.
    let _ = write(&mut frames, &Message::Refused { problem: problem.clone() }).await;
    Err(problem)
}

/// Says what this is, and hears how many generators there are to be.
///
/// # Errors
/// Why it may not join.
pub(super) async fn greet(mut frames: Frames) -> Result<(NonZeroU32, Link), Unwelcome> {
    let hello = Message::Hello { revision: REVISION, version: VERSION.to_owned() };
    write(&mut frames, &hello).await?;
    match read(&mut frames).await? {
        Message::Welcome { generators } => Ok((generators, Link::new(frames))),
        Message::Refused { problem } => Err(Unwelcome::Refused(super::link::shown(&problem))),
        _ => Err(Lost::Garbage("no answer to who joins".to_owned()).into()),
    }
}

/// Why it may not join.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwelcome {
    /// As the first generator says.
    #[error("{0}")]
    Refused(String),
    /// What answers is no generator, or gone.
    #[error(transparent)]
    Lost(#[from] Lost),
}
