#!/usr/bin/env python3
"""Checks the deals of Zetema matches that are over. It needs SHA-256 and nothing else.

    zetema record export MATCH_ID --format json | python3 verify.py [FILE...]

reads records as JSON or JSON Lines and prints a line for each. Exit code: 0 all hold, 1 one does not, 2 one can't be read."""

import hashlib
import json
import re
import sys

RECORD = ["rules_revision", "rules", "dealing", "dealer", "deals", "steps", "outcome", "match", "time_control", "ledger"]
DRAWS = ["none", "hand-size", "hand-size-plus-one"]
# The rules that say where cards go, and the others.
MOVING = {"players": [*range(2, 7)], "hand_size": [*range(3, 11)], "imperial_suit": [*"CDHS"], "draw_at_start": DRAWS,
          "draw_at_end": DRAWS, "assembly": ["keep", "remove"], "marriage_then_discard": [True, False],
          "royal_zetema": ["normal", "after-assembly"], "extra_turn": ["none", "full", "discard"],
          "exposed_card_penalty": [True, False]}
OTHERS = ["teams", "sequence_score", "flush_score", "flush_sequence_score", "assembly_scores", "ace", "flush_suits", "meld_size",
          "max_reused", "imperial_bonus", "marriage_hand_min", "melds_after_stock", "target", "match_end"]


class Differs(Exception):
    """Where a record is wrong, and how."""


def need(holds, problem):
    if not holds:
        raise Differs(problem)


def text(where, value, pattern="(?s:.*)", what="text"):
    need(isinstance(value, str) and re.fullmatch(pattern, value), f"{where} is no {what}")
    return value


def fields(where, value, names, optional=()):  # The values of an object that has these fields and no other.
    need(isinstance(value, dict), f"{where} is no object")
    wrong = [f"{name} is unknown" for name in sorted(value) if name not in names]
    wrong += [f"{name} is missing" for name in names if name not in value and name not in optional]
    need(not wrong, f"{where}.{''.join(wrong[:1])}")
    return [value.get(name) for name in names]


def kind_of(where, value, kinds):  # The kind and the content of an object of one of these kinds.
    fields(where, value, kinds, kinds)
    need(len(value) == 1, f"{where} is not of one kind")
    return next(iter(value.items()))


def rows(where, value):  # The entries of a list, each with its place.
    need(isinstance(value, list), f"{where} is no list")
    return [(f"{where}[{i}]", entry) for i, entry in enumerate(value)]


def unhex(where, value, size):
    return bytes.fromhex(text(where, value, "([0-9a-f]{2}){%s}" % size, f"text of {size} hexadecimal bytes"))


def sha256(label, *parts):
    return hashlib.sha256(b"zetema/v1/" + label + b"".join(parts)).digest()


def chooser(key):  # The function below(n) of words(key).
    blocks = (sha256(b"words", key, counter.to_bytes(8, "big")) for counter in range(2**64))
    words = (int.from_bytes(block[i:i + 4], "big") for block in blocks for i in range(0, 32, 4))
    return lambda n: next(word for word in words if word < 2**32 // n * n) % n


def deck_of(match_seed, deal, imperial):
    cards = [rank + suit for suit in "CDHS" + imperial for rank in "A23456789TJQK"]
    below = chooser(sha256(b"deal", match_seed, deal.to_bytes(4, "big")))
    for i in range(64, 0, -1):
        j = below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def seed_of(dealing, players, dealt):  # The match seed and a word on who made it, if commitment and nonces hold.
    kind, commitment, server_seed, entrants = fields("dealing", dealing, ["kind", "commitment", "server_seed", "entrants"])
    need(kind in ["joint", "shared", "fixed"], "dealing.kind is unknown")
    server_seed, nonces = unhex("dealing.server_seed", server_seed, "32"), []
    need(commitment == sha256(b"commit", server_seed).hex(), "dealing.commitment is not the hash of the server seed")
    for where, entrant in rows("dealing.entrants", entrants):
        nonce_hash, nonce = fields(where, entrant, ["nonce_hash", "nonce"])
        need(nonce is not None or not dealt, f"{where}.nonce is missing")
        nonces.append(unhex(f"{where}.nonce", "" if nonce is None else nonce, "0,32"))
        hashed = None if nonce_hash is None and nonce == "" else sha256(b"nonce", nonces[-1]).hex()
        need(nonce is None or nonce_hash == hashed, f"{where}.nonce_hash is not the hash of the nonce")
    fits = {"joint": len(nonces) == players, "shared": len(nonces) >= players, "fixed": not nonces}[kind]
    need(fits or not (dealt or nonces), f"dealing.entrants are {len(nonces)}, for {kind} deals of {players} seats")
    given = ", ".join(str(i) for i, nonce in enumerate(nonces) if nonce)
    parts = [len(nonce).to_bytes(4, "big") + nonce for nonce in nonces or [b""] * players]
    return sha256(b"match", server_seed, *parts), f"{kind}, nonces: {given or 'none'}, commitment: {commitment}"


def play_deal(rules, dealer, deck, steps):  # Moves the cards, and says how far the deal came. R-numbers are the rules' clauses.
    players, size, suits, seat, state = rules["players"], rules["hand_size"], "CDHS" + rules["imperial_suit"], dealer, "untouched"
    stock, tableau, assemblies, exposed, faults = deck[:players * size - 1:-1], [], [], {}, [0] * players
    hands = {(dealer + 1 + i) % players: deck[i:players * size:players] for i in range(players)}

    def draw(when):  # R9, R28
        while rules[when] != "none" and stock and len(hands[seat]) < max(size + DRAWS.index(rules[when]) - 1 - faults[seat], 1):
            hands[seat].append(stock.pop())

    def take(cards, place, name):
        for _, card in rows(f"{where}: what is taken", cards):
            need(text(where, card) in place, f"{where}: {card} is not in the {name}")
            place.remove(card)

    while True:
        turns = [(seat + 1 + i) % players for i in range(players)]
        seat = next((one for one in turns if hands[one] or (stock and rules["draw_at_start"] != "none")), None)
        if seat is None:  # R21, R23
            return "over"
        hand, bound = hands[seat], exposed.pop(seat, None)
        faults[seat] += bound is not None
        draw("draw_at_start")
        for where, step in steps:
            state, (kind, what) = "open", kind_of(where, step, ["play", "fault", "forfeit"])
            if kind == "forfeit":  # It moves no card, so whatever it says is passed over.
                continue
            who, what = fields(where, what, ["seat", "action", "points", "by"] if kind == "play" else ["seat", "card"])[:2]
            need(type(who) is int and who in hands, f"{where}.seat is none")
            if kind == "fault":
                may = rules["exposed_card_penalty"] and who not in [seat, *exposed] and text(where, what) in hands[who]
                need(may, f"{where}: {text(where, what)} can't be exposed")
                exposed[who] = what
                continue
            need(who == seat, f"{where}: seat {seat} is to act")
            kind, what = kind_of(where, what, ["discard", "sequence", "flush", "flush_sequence", "assembly", "marriages"])
            need(bound in [None, what], f"{where}: {bound} is exposed and must be discarded")
            from_hand, from_tableau = fields(where, what, ["hand", "tableau"]) if kind == "marriages" else [what, []]
            from_hand = [what] if kind == "discard" else [text(where, what) + s for s in suits] if kind == "assembly" else from_hand
            assemblies += [what] if kind == "assembly" else []
            bound, leave = None, kind in ["discard", "marriages"] or (kind == "assembly" and rules["assembly"] == "remove")
            take(from_hand, hand if leave else hand[:], "hand")
            take(from_tableau, tableau, "tableau")
            goes_on = not leave or (kind == "marriages" and rules["marriage_then_discard"])
            if kind == "discard":
                tableau.append(what)
                others = [card for card in tableau if card[0] != what[0]]
                royal = {"K": "Q", "Q": "K"}.get(what[0]) if rules["royal_zetema"] == "after-assembly" else None
                if len(tableau) - len(others) == 5 and royal in [None, *assemblies]:  # R16, R22
                    tableau, goes_on = others, rules["extra_turn"] != "none" and players == 2 and not stock
            if not (goes_on and hand):
                break
        else:
            return state
        draw("draw_at_end")


def verify(record):  # What there is to say of a record that holds. Raises `Differs` for one that does not.
    revision, rules, dealing, dealer, deals, steps, outcome, *_ = fields("record", record, RECORD, RECORD[7:])
    need(repr(revision) == "1", "rules_revision is unknown")  # To Python, True is 1 too.
    fields("rules", rules, [*MOVING, *OTHERS])
    for name, known in MOVING.items():
        need(repr(rules[name]) in map(repr, known), f"rules.{name} is unknown")
    kind, ending = kind_of("outcome", outcome, ["result", "aborted"])
    reason = text("outcome.reason", fields("outcome", ending, ["reason", "sides" if kind == "result" else "seats"])[0])
    match_seed, summary = seed_of(dealing, rules["players"], dealer is not None)
    right = None if dealer is None and kind == "aborted" else chooser(sha256(b"dealer", match_seed))(rules["players"])
    need(repr(dealer) == repr(right), "dealer does not follow from the seed")
    steps, state = iter(rows("steps", steps)), "missing"
    for k, (where, deal) in enumerate(rows("deals", deals)):
        deck, right = fields(where, deal, ["deck", "scores"])[0], deck_of(match_seed, k, rules["imperial_suit"])
        need(dealer is not None and state in ["over", "missing"], f"{where} comes too early")
        need(deck == right, f"{where}.deck does not follow from the seed and the imperial suit")
        state = play_deal(rules, (dealer + k) % rules["players"], deck, steps)
    needed = ["open", "untouched"] if kind == "aborted" else ["over"] if reason == "deal-over" else ["over", "open"]
    need(deals and state in needed or dealer is None and not deals, f"the last deal is {state} and the match {kind}")
    need(not [*steps], "steps are left and no deal")
    return f"{summary}, deals: {len(deals)}"


if __name__ == "__main__":
    count = code = 0
    for path in sys.argv[1:] or ["-"]:
        try:
            with open(0 if path == "-" else path, encoding="utf-8", newline="") as file:
                texts = [one for one in re.split(r"^(?=\{)", file.read(), flags=re.M) if one.strip(" \t\r\n")]
            need(texts, "no record is in it")
        except (OSError, ValueError, Differs) as error:
            print(f"{path} can't be read: {error}", file=sys.stderr)
            texts, code = [], 2
        for count, one in enumerate(texts, count + 1):
            name = re.search(r'"match_id":[ \t\r\n]*"([0-9A-Za-z_-]+)"|$', one)[1] or f"record {count}"
            try:  # As JavaScript reads it: 2.0 is 2, and NaN is no JSON (nor an int).
                record = json.loads(one, parse_float=lambda n: int(float(n)) if float(n) % 1 == 0 else float(n), parse_constant=int)
                line = f"ok {name}: {verify(record)}"
            except Differs as error:
                line, code = f"DIFFERS {name}: {error}", max(code, 1)
            except Exception as error:  # Whatever it is, the next ones are checked.
                line, code = f"UNREADABLE {name}", 2
                print(f"{path}: {name} can't be read: {error}", file=sys.stderr)
            print(re.sub("[^ -~]", "?", line))
    sys.exit(code)
