//! By which commands this program does what a server names by its RPCs.

/// The RPCs that messages of servers name, and the command for each.
const COMMANDS: [(&str, &str); 12] = [
    ("BatchCreateMatches", "zetema match batch"),
    ("CreateMatch", "zetema match create"),
    ("CreateToken", "zetema token create"),
    ("GetBot", "zetema bot show"),
    ("ListFaults", "zetema bot faults"),
    ("ListLadders", "zetema ladder list"),
    ("RegisterBot", "zetema bot register"),
    ("ReinstateBot", "zetema ladder reinstate"),
    ("RevokeToken", "zetema token revoke"),
    ("RotateToken", "zetema bot rotate"),
    ("UpdateBot", "zetema bot update"),
    ("WatchResults", "zetema match results"),
];

/// A message, as a server wrote it, and after it the commands for the RPCs that it names.
pub(crate) fn with_commands(message: &str) -> String {
    let words: Vec<&str> = message.split(|c: char| !c.is_alphanumeric()).collect();
    let named = COMMANDS.iter().filter(|(rpc, command)| words.contains(rpc) && !message.contains(command));
    let commands: Vec<String> = named.map(|(rpc, command)| format!("{rpc} is `{command}`")).collect();
    if commands.is_empty() {
        return message.to_owned();
    }
    format!("{message} (here {})", commands.join(", "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn each_rpc_of_the_table_is_one_of_the_wire_and_each_command_one_of_this_program() {
        let wire = String::from_utf8_lossy(zetema_proto::FILE_DESCRIPTOR_SET);
        for (rpc, command) in COMMANDS {
            assert!(wire.contains(&format!("{rpc}Request")), "{rpc}");
            let mut at = &Cli::command();
            for word in command.split(' ').skip(1) {
                at = at.find_subcommand(word).unwrap_or_else(|| panic!("{command}"));
            }
        }
    }

    #[test]
    fn what_a_server_wrote_stays_and_the_commands_that_it_does_not_name_follow() {
        for (message, told) in [
            ("the server is gone", "the server is gone"),
            (
                "make one by RegisterBot or CreateToken first",
                "make one by RegisterBot or CreateToken first (here CreateToken is `zetema token create`, RegisterBot is \
                 `zetema bot register`)",
            ),
            // Part of another name is none.
            (
                "use BatchCreateMatches",
                "use BatchCreateMatches (here BatchCreateMatches is `zetema match batch`)",
            ),
            ("ListLadders has them: `zetema ladder list`", "ListLadders has them: `zetema ladder list`"),
        ] {
            assert_eq!(with_commands(message), told);
        }
    }
}
