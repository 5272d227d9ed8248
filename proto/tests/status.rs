//! Errors as statuses, and back.

#![allow(clippy::expect_used, clippy::panic)] // The whole file is tests.

use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::{Code, Status};
use zetema_proto::v1::{Error, ErrorReason, FieldViolation};
use zetema_proto::{ERROR_DOMAIN, FILE_DESCRIPTOR_SET, FieldError};

/// Every reason but the first, which is never sent.
fn reasons() -> Vec<ErrorReason> {
    let reasons: Vec<_> = (1..1000).filter_map(|number| ErrorReason::try_from(number).ok()).collect();
    assert!(reasons.contains(&ErrorReason::Internal), "the last one is among them");
    reasons
}

#[test]
fn every_reason_comes_back_from_its_status() {
    for reason in reasons() {
        let plain = Error::new(reason, "what was wrong, and what to do");
        let full = Error {
            violations: vec![FieldViolation { field: "seats[1].kind".into(), description: "missing".into() }],
            decision_number: Some(41),
            retry_after_ms: Some(1_500),
            ..plain.clone()
        };
        for error in [plain, full] {
            let status = Status::from(error.clone());
            assert_eq!(status.code(), reason.code());
            assert_eq!(status.message(), error.message);
            assert_eq!(Error::from_status(&status), Some(error));
        }
    }
}

/// The comment of each reason in `error.proto` begins with its status.
#[test]
fn every_reason_has_the_status_that_its_comment_states() {
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the descriptors can be decoded").file;
    let file =
        files.iter().find(|file| file.name() == "zetema/v1/error.proto").expect("error.proto is there");
    let at = file.enum_type.iter().position(|of| of.name() == "ErrorReason").expect("the enum is there");
    let comments = file.source_code_info.as_ref().expect("the comments are there");
    for (i, value) in file.enum_type[at].value.iter().enumerate().skip(1) {
        let path = [5, at, 2, i].map(|part| i32::try_from(part).expect("a small number"));
        let location = comments.location.iter().find(|location| location.path == path).expect("a location");
        let reason = ErrorReason::try_from(value.number()).expect("the value is generated");
        let stated = location.leading_comments().trim().split(':').next().expect("a first word").to_owned();
        let code = format!("{:?}", reason.code()).to_uppercase();
        assert_eq!(stated.replace('_', ""), code, "{}", value.name());
    }
}

#[test]
fn names_have_no_prefix() {
    assert_eq!(ErrorReason::NotYourTurn.name(), "NOT_YOUR_TURN");
    for reason in reasons() {
        assert_eq!(ErrorReason::from_name(reason.name()), Some(reason));
    }
    assert_eq!(ErrorReason::from_name("OF_A_LATER_VERSION"), None);
}

#[test]
fn a_status_from_elsewhere_is_no_error_of_ours() {
    assert_eq!(Error::from_status(&Status::unavailable("connection refused")), None);
    assert_eq!(ERROR_DOMAIN, "zetema");
}

#[test]
fn a_field_that_is_wrong_is_named_in_the_error() {
    let error = Error::from(FieldError::missing("kind").at(1).within("seats").within("match"));
    assert_eq!(error.reason(), ErrorReason::InvalidField);
    assert_eq!(error.violations[0].field, "match.seats[1].kind");
    assert_eq!(Status::from(error).code(), Code::InvalidArgument);
}
