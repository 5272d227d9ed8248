//! Filters, pages and page tokens, and the turns in which large answers are made.

use tonic::{Request, Response};
use zetema_proto::{FieldError, v1};

use super::{caller, fault::Fault, wire};
use crate::{
    access::Bearer,
    admission::{Share, Turn},
    journal::{ClientReference, PagePosition, PageSize},
    limits,
    matches::{EndedMatch, ListCursor, ListFilter},
    table::MatchStage,
};

/// The turn of a request whose answer is large, behind others of its address; `None` where no connection is behind it.
pub(super) async fn turn<T>(request: &Request<T>) -> Result<Option<Turn>, Fault> {
    match request.extensions().get::<Share>() {
        Some(share) => share.list().await.map(Some).map_err(|_| Fault::crowded()),
        None => Ok(None),
    }
}

/// An answer that takes its turn along, until what is sent of it is counted.
pub(super) fn in_turn<T>(answer: T, turn: Option<Turn>) -> Response<T> {
    let mut response = Response::new(answer);
    if let Some(turn) = turn {
        response.extensions_mut().insert(turn);
    }
    response
}

/// Which stages a list may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stages {
    /// All.
    Any,
    /// Those of matches that are over.
    Over,
}

/// The filter of a list, for what the caller may see.
pub(super) fn filter(
    bearer: &Bearer,
    filter: Option<&v1::MatchFilter>,
    allowed: Stages,
) -> Result<ListFilter, Fault> {
    let reader = caller::reader(bearer);
    let Some(v1::MatchFilter { states, client_reference }) = filter else {
        return Ok(ListFilter { reader, stages: Vec::new(), client_reference: None });
    };
    let within = |error: FieldError| Fault::from(error.within("filter"));
    let stage =
        |(i, &value): (usize, &i32)| stage(value, allowed).map_err(|error| error.at(i).within("states"));
    let stages = states.iter().enumerate().map(stage);
    let stages = each_once(stages).map_err(within)?;
    let client_reference = reference(client_reference.as_deref()).map_err(within)?;
    Ok(ListFilter { reader, stages, client_reference })
}

/// What a filter names, each once: a request has room for a million, and every match is held against all of them.
pub(super) fn each_once<T: PartialEq>(
    named: impl Iterator<Item = Result<T, FieldError>>,
) -> Result<Vec<T>, FieldError> {
    let mut once = Vec::new();
    for value in named {
        let value = value?;
        if !once.contains(&value) {
            once.push(value);
        }
    }
    Ok(once)
}

/// The client reference that a filter names, if it names one.
pub(super) fn reference(text: Option<&str>) -> Result<Option<ClientReference>, FieldError> {
    match text.map(wire::reference).transpose()? {
        Some(None) => Err(FieldError::invalid(
            "client_reference",
            "is empty: give a reference, or leave it out for any",
        )),
        reference => Ok(reference.flatten()),
    }
}

fn stage(value: i32, allowed: Stages) -> Result<MatchStage, FieldError> {
    use v1::MatchState as S;
    let stage = match S::try_from(value) {
        Ok(S::Unspecified) => return Err(FieldError::missing("")),
        Ok(S::WaitingForSeats) => MatchStage::WaitingForSeats,
        Ok(S::WaitingForNonces) => MatchStage::WaitingForNonces,
        Ok(S::Playing) => MatchStage::Playing,
        Ok(S::Finished) => MatchStage::Finished,
        Ok(S::Aborted) => MatchStage::Aborted,
        Err(_) => {
            let problem = format!("{value} is no value of this enum that this version knows");
            return Err(FieldError::invalid("", problem));
        }
    };
    match (allowed, stage) {
        (Stages::Any, _) | (Stages::Over, MatchStage::Finished | MatchStage::Aborted) => Ok(stage),
        (Stages::Over, _) => Err(FieldError::invalid("", "has no records: give FINISHED or ABORTED")),
    }
}

/// The size of a page: the default for 0, cut to the largest.
pub(super) fn page_size(size: u32) -> Result<PageSize, Fault> {
    let size = match size {
        0 => limits::DEFAULT_PAGE_SIZE,
        size => u16::try_from(size).unwrap_or(u16::MAX).min(limits::MAX_PAGE_SIZE),
    };
    PageSize::new(size).map_err(|error| Fault::internal(&error))
}

/// The number in the page token of a list that is in memory.
pub(super) fn place(page_token: &str) -> Result<Option<u64>, Fault> {
    if page_token.is_empty() {
        return Ok(None);
    }
    let only_digits = page_token.bytes().all(|byte| byte.is_ascii_digit());
    page_token.parse().ok().filter(|_| only_digits).map(Some).ok_or_else(wrong_token)
}

/// Where a page of matches begins.
pub(super) fn cursor(page_token: &str) -> Result<Option<ListCursor>, Fault> {
    match page_token {
        "" => Ok(None),
        token => token.parse().map(Some).map_err(|_| wrong_token()),
    }
}

/// Where a page of records begins.
pub(super) fn position(page_token: &str) -> Result<Option<PagePosition>, Fault> {
    match cursor(page_token)? {
        None => Ok(None),
        Some(ListCursor::Over(position @ Some(_))) => Ok(position),
        Some(ListCursor::Over(None) | ListCursor::Running(..)) => Err(wrong_token()),
    }
}

/// A page token that the list has not given.
pub(super) fn wrong_token() -> Fault {
    Fault::field("page_token", "is none of this list: give the next_page_token of the page before, or none")
}

/// A record as a list shows it.
pub(super) fn record_summary(ended: &EndedMatch, is_held: bool) -> v1::RecordSummary {
    let v1::Match { match_id, rules, client_reference, create_time, end_time, outcome, .. } =
        (&ended.info).into();
    v1::RecordSummary {
        match_id,
        rules,
        client_reference,
        create_time,
        end_time,
        outcome,
        revealed: !is_held,
        result_number: ended.number.get(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
pub(in crate::grpc) mod tests;
