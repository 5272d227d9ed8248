//! Rules, their options and presets.

use zetema_rules::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd,
    MeldSize, Options, Preset, RoyalZetema, Rules,
};

use super::{FieldError, Wire, narrow, required, value, wire_enum};
use crate::v1;

wire_enum! {
    Preset = Preset { Victorian, Sackson, Fosdick, Quick, Akagiri, Parlett }
    Draw = Draw { None, ToHandSize, ToHandSizePlusOne }
    Ace = Ace { Low, Either }
    FlushSuits = FlushSuits { Any, Plain }
    MeldSize = MeldSize { Hand, Six }
    Assembly = Assembly { Keep, Remove }
    ImperialBonus = ImperialBonus { None, Second, Every }
    MarriageHandMin = MarriageHandMin { Each, Any }
    RoyalZetema = RoyalZetema { Normal, AfterAssembly }
    ExtraTurn = ExtraTurn { None, Discard, Full }
    MatchEnd = MatchEnd { AtOnce, AfterDeal }
}

impl Wire for AssemblyScores {
    type Message = v1::AssemblyScores;

    fn to_wire(&self) -> v1::AssemblyScores {
        let Self { royal, jack, ace_and_five, other } = *self;
        v1::AssemblyScores {
            royal: royal.into(),
            jack: jack.into(),
            ace_and_five: ace_and_five.into(),
            other: other.into(),
        }
    }

    fn from_wire(message: &v1::AssemblyScores) -> Result<Self, FieldError> {
        let v1::AssemblyScores { royal, jack, ace_and_five, other } = *message;
        Ok(Self {
            royal: narrow("royal", royal)?,
            jack: narrow("jack", jack)?,
            ace_and_five: narrow("ace_and_five", ace_and_five)?,
            other: narrow("other", other)?,
        })
    }
}

impl Wire for Rules {
    type Message = v1::Rules;

    fn to_wire(&self) -> v1::Rules {
        let Options {
            players,
            teams,
            hand_size,
            imperial_suit,
            draw_at_start,
            draw_at_end,
            sequence_score,
            flush_score,
            flush_sequence_score,
            assembly_scores,
            ace,
            flush_suits,
            meld_size,
            max_reused,
            assembly,
            imperial_bonus,
            marriage_hand_min,
            marriage_then_discard,
            royal_zetema,
            melds_after_stock,
            extra_turn,
            target,
            match_end,
            exposed_card_penalty,
        } = **self;
        v1::Rules {
            players: players.into(),
            teams: teams.to_wire(),
            hand_size: hand_size.into(),
            imperial_suit: imperial_suit.to_wire(),
            draw_at_start: draw_at_start.to_wire(),
            draw_at_end: draw_at_end.to_wire(),
            sequence_score: sequence_score.into(),
            flush_score: flush_score.into(),
            flush_sequence_score: flush_sequence_score.into(),
            assembly_scores: Some(assembly_scores.to_wire()),
            ace: ace.to_wire(),
            flush_suits: flush_suits.to_wire(),
            meld_size: meld_size.to_wire(),
            max_reused: max_reused.map(u32::from),
            assembly: assembly.to_wire(),
            imperial_bonus: imperial_bonus.to_wire(),
            marriage_hand_min: marriage_hand_min.to_wire(),
            marriage_then_discard,
            royal_zetema: royal_zetema.to_wire(),
            melds_after_stock,
            extra_turn: extra_turn.to_wire(),
            target: target.map(u32::from),
            match_end: match_end.to_wire(),
            exposed_card_penalty,
        }
    }

    fn from_wire(message: &v1::Rules) -> Result<Self, FieldError> {
        let v1::Rules {
            players,
            teams,
            hand_size,
            imperial_suit,
            draw_at_start,
            draw_at_end,
            sequence_score,
            flush_score,
            flush_sequence_score,
            assembly_scores,
            ace,
            flush_suits,
            meld_size,
            max_reused,
            assembly,
            imperial_bonus,
            marriage_hand_min,
            marriage_then_discard,
            royal_zetema,
            melds_after_stock,
            extra_turn,
            target,
            match_end,
            exposed_card_penalty,
        } = message;
        Self::new(Options {
            players: narrow("players", *players)?,
            teams: value("teams", teams)?,
            hand_size: narrow("hand_size", *hand_size)?,
            imperial_suit: value("imperial_suit", imperial_suit)?,
            draw_at_start: value("draw_at_start", draw_at_start)?,
            draw_at_end: value("draw_at_end", draw_at_end)?,
            sequence_score: narrow("sequence_score", *sequence_score)?,
            flush_score: narrow("flush_score", *flush_score)?,
            flush_sequence_score: narrow("flush_sequence_score", *flush_sequence_score)?,
            assembly_scores: required("assembly_scores", assembly_scores.as_ref())?,
            ace: value("ace", ace)?,
            flush_suits: value("flush_suits", flush_suits)?,
            meld_size: value("meld_size", meld_size)?,
            max_reused: max_reused.map(|most| narrow("max_reused", most)).transpose()?,
            assembly: value("assembly", assembly)?,
            imperial_bonus: value("imperial_bonus", imperial_bonus)?,
            marriage_hand_min: value("marriage_hand_min", marriage_hand_min)?,
            marriage_then_discard: *marriage_then_discard,
            royal_zetema: value("royal_zetema", royal_zetema)?,
            melds_after_stock: *melds_after_stock,
            extra_turn: value("extra_turn", extra_turn)?,
            target: target.map(|target| narrow("target", target)).transpose()?,
            match_end: value("match_end", match_end)?,
            exposed_card_penalty: *exposed_card_penalty,
        })
        .map_err(FieldError::rules)
    }
}
