//! `Debug` for the messages that carry a secret: a token, a nonce, a seed, a hand or what gives one away, the address of a
//! webhook, which may have one in its path, whom a bot's owner wants to be told of its faults, and what a bot said when it panicked.
//! Whatever is logged by accident, those are not in it.

use std::fmt;

use crate::{journal::v1 as journal, v1};

/// Stands in place of what is not shown.
struct Redacted;

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Destructures the message whole: a new field must be put on one side or the other.
macro_rules! redact {
    ($($package:ident :: $message:ident { $($shown:ident),* } hides { $($hidden:ident),* })*) => {$(
        impl fmt::Debug for $package::$message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self { $($shown,)* $($hidden: _,)* } = self;
                f.debug_struct(stringify!($message))
                    $(.field(stringify!($shown), $shown))*
                    $(.field(stringify!($hidden), &Redacted))*
                    .finish()
            }
        }
    )*};
}

/// An action that is not played yet may name cards of a hand.
impl fmt::Debug for v1::act::Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Redacted.fmt(f)
    }
}

redact! {
    v1::Act { decision_number } hides { choice }
    v1::ActRequest { act, assigned } hides { seat_token }
    v1::Bot {
        name, owner, description, version, state, create_time, retire_time, quota
    } hides { fault_contact }
    v1::BotPanic {} hides { message }
    v1::CreateTokenResponse { token } hides { secret }
    v1::CreateWebhookRequest { request_id, owner, from } hides { url }
    v1::CreateWebhookResponse { webhook } hides { secret }
    v1::Dealing { commitment, kind } hides { server_seed }
    v1::Drew { seat, count } hides { cards }
    v1::FixedDeals {} hides { server_seed }
    v1::GiveNonce {} hides { nonce }
    v1::Join { nonce_hash, after_seq, views } hides { by }
    v1::JoinSeatRequest { nonce_hash, assigned } hides { seat_token }
    v1::LegalActions {} hides { discards, declarations }
    v1::ListFaultsRequest { match_id, page_size, page_token, bot } hides { seat_token }
    v1::ObserveSeat { after_seq, views, assigned } hides { seat_token }
    v1::RecordDeal { scores } hides { deck }
    v1::RegisterBotRequest { request_id, name, owner, description, version } hides { fault_contact }
    v1::RegisterBotResponse { bot } hides { secret }
    v1::RegisterOwnerResponse { owner } hides { secret }
    v1::ResignRequest { panic, assigned } hides { seat_token }
    v1::RotateTokenResponse { bot, old_tokens, void_time } hides { secret }
    v1::SeatToken { seat } hides { token }
    v1::SendNonceRequest { assigned } hides { seat_token, nonce }
    v1::UpdateBotRequest { name, description, version } hides { fault_contact }
    v1::View {
        viewer, deal, dealer, decision_number, phase, stock_count, tableau, zetemas, marriages, removed,
        assemblies, seats, sides, result
    } hides { hand }
    v1::Webhook {
        webhook_id, owner, create_time, settled_result_number, results_behind, dead_letters, trouble
    } hides { url }
    journal::Created {
        match_id, rules_revision, rules, seats, time_control, deals, visibility, client_reference, owner,
        deal_set_id, deal_set_match_ids, ladder, ladder_unrated
    } hides { server_seed }
    journal::NonceGiven { seat } hides { nonce }
    journal::Started { dealer } hides { nonces, deck, entrants }
}
