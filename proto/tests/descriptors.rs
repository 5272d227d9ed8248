//! The shape of the public package, as reflection shows it.

#![allow(clippy::expect_used)] // The whole file is tests.

use std::collections::BTreeSet;

use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto};
use zetema_proto::FILE_DESCRIPTOR_SET;

fn files() -> Vec<FileDescriptorProto> {
    FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the descriptors can be decoded").file
}

fn ours() -> Vec<FileDescriptorProto> {
    files().into_iter().filter(|file| file.package().starts_with("zetema")).collect()
}

fn messages() -> Vec<DescriptorProto> {
    ours().into_iter().flat_map(|file| file.message_type).collect()
}

#[test]
fn reflection_shows_the_public_package_alone() {
    let packages: BTreeSet<String> = files().iter().map(|file| file.package().to_owned()).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    assert_eq!(packages, ["google.protobuf", "zetema.v1"]);
}

#[test]
fn the_services_are_those_of_the_design() {
    let rpcs: Vec<String> = ours()
        .iter()
        .flat_map(|file| &file.service)
        .map(|service| {
            let methods: Vec<&str> = service.method.iter().map(MethodDescriptorProto::name).collect();
            format!("{}: {}", service.name(), methods.join(" "))
        })
        .collect();
    assert_eq!(
        rpcs,
        [
            "BotService: RegisterOwner RegisterBot GetBot ListBots UpdateBot RotateToken RetireBot",
            "LadderService: ListLadders GetStandings ListResults GetRatingHistory GetHeadToHead WatchStandings ReinstateBot \
             ListSuspicions",
            "MatchService: CreateMatch BatchCreateMatches GetMatch ListMatches CancelMatch WatchMatch WatchResults \
             GetRecord ListRecords RotateSeatToken",
            "PlayService: Play JoinSeat SendNonce Observe Act Resign ListFaults UpdateQueues",
            "RulesService: ListPresets GetPreset CheckRules ListTimeControls",
            "TokenService: CreateToken ListTokens RevokeToken",
            "WebhookService: CreateWebhook ListWebhooks DeleteWebhook ListDeadLetters ResendDeadLetters",
        ]
    );
}

/// Maps of strings have no schema, and a nested message hides from the list of nouns.
#[test]
fn no_message_has_a_map_or_a_nested_message() {
    for message in messages() {
        let nested: Vec<&str> = message.nested_type.iter().map(DescriptorProto::name).collect();
        assert_eq!(nested, [""; 0], "in {}", message.name());
    }
}

/// The numbers that later versions will use, or earlier ones used, can't be taken by another field.
#[test]
fn what_comes_later_or_was_there_has_its_numbers_kept_free() {
    let reserved: BTreeSet<String> = messages()
        .iter()
        .filter(|message| !message.reserved_range.is_empty())
        .map(|message| message.name().to_owned())
        .collect();
    let expected = ["Event", "Observation", "Record", "RecordSeat", "TimeControl"];
    assert_eq!(reserved.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
