//! Whatever is tried in a match by any rules: it is accepted exactly if it is listed, a refusal changes
//! nothing, and every invariant of a match holds in every state.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use zetema_rules::{
    Ace, Action, Assembly, AssemblyScores, Card, Cards, Deck, Declaration, Draw, Event, ExtraTurn,
    FlushSuits, Game, ImperialBonus, MarriageHandMin, MatchEnd, MeldSize, Options, Phase, Rank, RoyalZetema,
    Rules, Seat, Suit, Teams, Viewer,
};

fuzz_target!(|data: &[u8]| {
    // The end of the data ends the match.
    let _ = play(&mut Unstructured::new(data));
});

fn play(data: &mut Unstructured) -> Result<()> {
    let Ok(rules) = Rules::new(options(data)?) else { return Ok(()) };
    let mut deck = deck(data, &rules)?;
    let mut events = Vec::new();
    let Ok(mut game) = Game::new(rules, seat(data)?, &deck, &mut events) else { return Ok(()) };
    check(&game, &deck);
    while !data.is_empty() {
        let before = game.clone();
        events.clear();
        let accepted = match data.int_in_range(0..=15)? {
            0..=7 => listed(data, &mut game, &mut events)?,
            8..=12 => anything(data, &mut game, &mut events)?,
            13 => fault(data, &mut game, &mut events)?,
            14 => game.forfeit(seat(data)?, &mut events).is_ok(),
            _ => {
                let next = self::deck(data, &rules)?;
                let dealt = game.deal(&next, &mut events).is_ok();
                assert_eq!(dealt, before.public().phase == Phase::DealOver);
                if dealt {
                    deck = next;
                }
                dealt
            }
        };
        if accepted {
            assert!(!events.is_empty());
            check(&game, &deck);
        } else {
            assert!(game == before && events.is_empty(), "a refusal changed something");
        }
    }
    Ok(())
}

/// One of the legal actions, which must be accepted.
fn listed(data: &mut Unstructured, game: &mut Game, events: &mut Vec<Event>) -> Result<bool> {
    let Some(seat) = game.to_act() else { return Ok(false) };
    let legal = game.legal_actions();
    let action = legal.get(data.choose_index(legal.len())?);
    let action = action.unwrap_or_else(|| panic!("an index below the length has an action"));
    let decision = game.public().decision;
    game.play(seat, &action, events).unwrap_or_else(|error| panic!("a legal action is refused: {error}"));
    assert_eq!(game.public().decision, decision + 1);
    Ok(true)
}

/// Any action at all by any seat, accepted exactly if it is listed for the seat to act.
fn anything(data: &mut Unstructured, game: &mut Game, events: &mut Vec<Event>) -> Result<bool> {
    let (seat, action) = (seat(data)?, action(data)?);
    let legal = game.to_act() == Some(seat) && game.legal_actions().contains(&action);
    let accepted = game.play(seat, &action, events).is_ok();
    assert_eq!(accepted, legal, "{action}");
    Ok(accepted)
}

fn fault(data: &mut Unstructured, game: &mut Game, events: &mut Vec<Event>) -> Result<bool> {
    let (seat, card) = (seat(data)?, card(data)?);
    let possible = seat.index() < game.rules().player_count().count() && game.faults(seat).contains(card);
    let before = *game.public();
    let accepted = game.fault(seat, card, events).is_ok();
    assert_eq!(accepted, possible);
    assert_eq!((game.public().decision, game.public().phase), (before.decision, before.phase));
    Ok(accepted)
}

/// What holds in every state.
fn check(game: &Game, deck: &Deck) {
    let (public, rules) = (game.public(), game.rules());
    let hands: Vec<Cards> = rules.seats().map(|seat| game.view(Viewer::Seat(seat)).hand).collect();
    let stock = &deck.reveal()[65 - usize::from(public.stock_count)..];

    // The view's own check: hands, stock and the open cards are the pack, counts and known cards fit.
    let viewers = rules.seats().map(Viewer::Seat).chain([Viewer::Spectator]);
    for viewer in viewers {
        let completed = game.view(viewer).complete(&hands, stock);
        assert!(completed.unwrap_or_else(|error| panic!("{error}")) == *game);
    }
    let in_hands: usize = hands.iter().map(|hand| hand.len()).sum();
    let open = 5 * public.zetemas.len() + 5 * public.removed.len() + public.marriages.len();
    assert_eq!(open + public.tableau.len() + in_hands + stock.len(), 65);

    let legal = game.legal_actions();
    assert_eq!(legal.is_empty(), game.to_act().is_none());
    assert_eq!(legal.iter().count(), legal.len());
    if game.to_act().is_some() {
        assert!(!legal.discards.is_empty(), "a decision has a legal discard");
    }
    assert_eq!(public.result.is_some(), public.phase == Phase::MatchOver);
    if public.phase == Phase::DealOver {
        assert_eq!((in_hands, stock.len()), (0, 0));
    }
    for text in [format!("{game:?}"), format!("{public:?}"), format!("{legal:?}")] {
        assert!(!text.is_empty());
    }
}

fn options(data: &mut Unstructured) -> Result<Options> {
    let draws = [Draw::None, Draw::ToHandSize, Draw::ToHandSizePlusOne];
    let score = |data: &mut Unstructured| data.int_in_range(0..=151);
    Ok(Options {
        players: data.int_in_range(1..=7)?,
        teams: *data.choose(&Teams::ALL)?,
        hand_size: data.int_in_range(2..=11)?,
        imperial_suit: *data.choose(&Suit::ALL)?,
        draw_at_start: *data.choose(&draws)?,
        draw_at_end: *data.choose(&draws)?,
        sequence_score: score(data)?,
        flush_score: score(data)?,
        flush_sequence_score: score(data)?,
        assembly_scores: AssemblyScores {
            royal: score(data)?,
            jack: score(data)?,
            ace_and_five: score(data)?,
            other: score(data)?,
        },
        ace: *data.choose(&[Ace::Low, Ace::Either])?,
        flush_suits: *data.choose(&[FlushSuits::Any, FlushSuits::Plain])?,
        meld_size: *data.choose(&[MeldSize::Hand, MeldSize::Six])?,
        max_reused: if data.arbitrary()? { Some(data.int_in_range(0..=10)?) } else { None },
        assembly: *data.choose(&[Assembly::Keep, Assembly::Remove])?,
        imperial_bonus: *data.choose(&[ImperialBonus::None, ImperialBonus::Second, ImperialBonus::Every])?,
        marriage_hand_min: *data.choose(&[MarriageHandMin::Each, MarriageHandMin::Any])?,
        marriage_then_discard: data.arbitrary()?,
        royal_zetema: *data.choose(&[RoyalZetema::Normal, RoyalZetema::AfterAssembly])?,
        melds_after_stock: data.arbitrary()?,
        extra_turn: *data.choose(&[ExtraTurn::None, ExtraTurn::Discard, ExtraTurn::Full])?,
        target: if data.arbitrary()? { Some(data.int_in_range(0..=10_001)?) } else { None },
        match_end: *data.choose(&[MatchEnd::AtOnce, MatchEnd::AfterDeal])?,
        exposed_card_penalty: data.arbitrary()?,
    })
}

/// The pack, with as many swaps as the data asks for: few make hands full of flushes and marriages.
fn deck(data: &mut Unstructured, rules: &Rules) -> Result<Deck> {
    let mut order: Vec<Card> = Cards::pack(rules.imperial_suit).iter().collect();
    if data.arbitrary()? {
        order.sort_by_key(|card| std::cmp::Reverse(card.rank()));
    }
    for _ in 0..data.int_in_range(0..=64)? {
        order.swap(data.choose_index(65)?, data.choose_index(65)?);
    }
    Ok(Deck::new(&order, rules.imperial_suit).unwrap_or_else(|error| panic!("{error}")))
}

fn seat(data: &mut Unstructured) -> Result<Seat> {
    Ok(Seat::new(data.choose_index(Seat::MAX)?).unwrap_or_else(|| panic!("there are six seats")))
}

fn card(data: &mut Unstructured) -> Result<Card> {
    let index = data.choose_index(Card::FACES)?;
    Ok(Card::from_index(index).unwrap_or_else(|| panic!("there are 52 faces")))
}

fn cards(data: &mut Unstructured) -> Result<Cards> {
    let mut cards = Cards::EMPTY;
    for _ in 0..data.int_in_range(0..=11)? {
        cards.insert(card(data)?);
    }
    Ok(cards)
}

fn action(data: &mut Unstructured) -> Result<Action> {
    Ok(match data.int_in_range(0..=5)? {
        0 => Action::Discard(card(data)?),
        1 => Action::Declare(Declaration::Sequence(cards(data)?)),
        2 => Action::Declare(Declaration::Flush(cards(data)?)),
        3 => Action::Declare(Declaration::FlushSequence(cards(data)?)),
        4 => Action::Declare(Declaration::Assembly(*data.choose(&Rank::ALL)?)),
        _ => Action::Declare(Declaration::Marriages { hand: cards(data)?, tableau: cards(data)? }),
    })
}
