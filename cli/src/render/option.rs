//! What the options of the rules mean, in a line each.

/// The clause of the rules and the meaning of the option with this name.
pub(crate) fn meaning(name: &str) -> (&'static str, &'static str) {
    match name {
        "players" => ("R4", "number of players"),
        "teams" => ("R4", "who plays with whom"),
        "hand_size" => ("R5", "H: cards dealt to each player"),
        "imperial_suit" => ("R1", "the suit that is there twice"),
        "draw_at_start" => ("R9", "the draw at the start of a turn, up to H or H + 1 cards"),
        "draw_at_end" => ("R9", "the draw at the end of a turn, up to H or H + 1 cards"),
        "sequence_score" => ("R18", "points for cards of consecutive ranks"),
        "flush_score" => ("R18", "points for cards of one suit"),
        "flush_sequence_score" => ("R18", "points for both at once"),
        "assembly_scores.royal" => ("R18", "points for five kings or queens"),
        "assembly_scores.jack" => ("R18", "points for five jacks"),
        "assembly_scores.ace_and_five" => ("R18", "points for five aces or fives"),
        "assembly_scores.other" => ("R18", "points for five of another rank"),
        "ace" => ("R11", "where an ace stands in a sequence: below the two, or above the king too"),
        "flush_suits" => ("R12", "suits of a flush: any, or all but the imperial one"),
        "meld_size" => ("R11", "cards of a sequence or flush: as many as a hand, or six"),
        "max_reused" => ("R13", "cards that a meld may share with the player's last one"),
        "assembly" => ("R14", "what becomes of five of a rank: kept in hand, or removed"),
        "imperial_bonus" => ("R19", "what imperial marriages add"),
        "marriage_hand_min" => ("R15", "from hand: a card of each marriage, or of any"),
        "marriage_then_discard" => ("R15", "whether a discard follows marriages"),
        "royal_zetema" => ("R16", "whether five kings or queens score only after the other's assembly"),
        "melds_after_stock" => ("R20", "whether declarations go on when the stock is gone"),
        "extra_turn" => ("R22", "what a zetema earns when the stock is gone, two players only"),
        "target" => ("R24", "the total that ends the match; none for one deal"),
        "match_end" => ("R24", "when reaching the target ends the match"),
        "exposed_card_penalty" => ("R28", "whether a discard offered out of turn is a fault that stands"),
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::Preset;

    use super::meaning;

    #[test]
    fn every_option_has_its_meaning() {
        for (name, _) in Preset::default().rules(2, None).unwrap().as_text() {
            assert_ne!(meaning(name), ("", ""), "{name}");
        }
    }
}
