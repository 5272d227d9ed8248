#!/usr/bin/env node
// Checks the deals of Zetema matches that are over. It needs SHA-256 and nothing else.
//
//     zetema record export MATCH_ID --format json | node verify.mjs [FILE...]
//
// reads records as JSON or JSON Lines and prints a line for each. Exit code: 0 all hold, 1 one does not, 2 one can't be read.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

const RECORD = ["rules_revision", "rules", "dealing", "dealer", "deals", "steps", "outcome", "match", "time_control", "ledger"];
const DRAWS = ["none", "hand-size", "hand-size-plus-one"];
// The rules that say where cards go, and the others.
const MOVING = { players: [2, 3, 4, 5, 6], hand_size: [3, 4, 5, 6, 7, 8, 9, 10], imperial_suit: ["C", "D", "H", "S"],
  draw_at_start: DRAWS, draw_at_end: DRAWS, assembly: ["keep", "remove"], marriage_then_discard: [true, false],
  royal_zetema: ["normal", "after-assembly"], extra_turn: ["none", "full", "discard"], exposed_card_penalty: [true, false] };
const OTHERS = ["teams", "sequence_score", "flush_score", "flush_sequence_score", "assembly_scores", "ace", "flush_suits",
  "meld_size", "max_reused", "imperial_bonus", "marriage_hand_min", "melds_after_stock", "target", "match_end"];

export class Differs extends Error {} // Where a record is wrong, and how.
const need = (holds, problem) => { if (!holds) throw new Differs(problem); };

function text(where, value, pattern = /^/, what = "text") {
  need(typeof value === "string" && pattern.test(value), `${where} is no ${what}`);
  return value;
}

function fields(where, value, names, optional = []) { // The values of an object that has these fields and no other.
  need(value !== null && typeof value === "object" && !Array.isArray(value), `${where} is no object`);
  for (const name of [...Object.keys(value).sort(), ...names]) {
    need(names.includes(name), `${where}.${name} is unknown`);
    need(Object.hasOwn(value, name) || optional.includes(name), `${where}.${name} is missing`);
  }
  return names.map((name) => value[name]);
}

function kindOf(where, value, kinds) { // The kind and the content of an object of one of these kinds.
  need(fields(where, value, kinds, kinds) && Object.keys(value).length === 1, `${where} is not of one kind`);
  return Object.entries(value)[0];
}

function rows(where, value) { // The entries of a list, each with its place.
  need(Array.isArray(value), `${where} is no list`);
  return value.map((entry, i) => [`${where}[${i}]`, entry]);
}

const unhex = (where, value, size) =>
  Buffer.from(text(where, value, new RegExp(`^([0-9a-f]{2}){${size}}$`), `text of ${size} hexadecimal bytes`), "hex");
const u32 = (number) => Buffer.from(number.toString(16).padStart(8, "0"), "hex");
const sha256 = (label, ...parts) => createHash("sha256").update(Buffer.concat([Buffer.from(`zetema/v1/${label}`), ...parts])).digest();

function chooser(key) { // The function below(n) of words(key).
  let [block, next] = [null, 0];
  return function below(n) {
    if (next % 32 === 0) block = sha256("words", key, u32(0), u32(next / 32));
    const word = block.readUInt32BE(next % 32);
    next += 4;
    return word < Math.floor(2 ** 32 / n) * n ? word % n : below(n);
  };
}

function deckOf(matchSeed, deal, imperial) {
  const cards = [..."CDHS", imperial].flatMap((suit) => [..."A23456789TJQK"].map((rank) => rank + suit));
  const below = chooser(sha256("deal", matchSeed, u32(deal)));
  for (let i = 64; i >= 1; i -= 1) {
    const j = below(i + 1);
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}

function seedOf(dealing, players, dealt) { // The match seed and a word on who made it, if commitment and nonces hold.
  const [kind, commitment, seedText, entrants] = fields("dealing", dealing, ["kind", "commitment", "server_seed", "entrants"]);
  need(["joint", "shared", "fixed"].includes(kind), "dealing.kind is unknown");
  const serverSeed = unhex("dealing.server_seed", seedText, "32");
  need(commitment === sha256("commit", serverSeed).toString("hex"), "dealing.commitment is not the hash of the server seed");
  const nonces = rows("dealing.entrants", entrants).map(([where, entrant]) => {
    const [nonceHash, nonce] = fields(where, entrant, ["nonce_hash", "nonce"]);
    need(nonce !== null || !dealt, `${where}.nonce is missing`);
    const bytes = unhex(`${where}.nonce`, nonce ?? "", "0,32");
    const hashed = nonceHash === null && nonce === "" ? null : sha256("nonce", bytes).toString("hex");
    need(nonce === null || nonceHash === hashed, `${where}.nonce_hash is not the hash of the nonce`);
    return bytes;
  });
  const fits = { joint: nonces.length === players, shared: nonces.length >= players, fixed: nonces.length === 0 }[kind];
  need(fits || !(dealt || nonces.length), `dealing.entrants are ${nonces.length}, for ${kind} deals of ${players} seats`);
  const given = nonces.flatMap((nonce, i) => (nonce.length ? [i] : [])).join(", ");
  const parts = (nonces.length ? nonces : Array(players).fill(Buffer.alloc(0))).flatMap((nonce) => [u32(nonce.length), nonce]);
  return [sha256("match", serverSeed, ...parts), `${kind}, nonces: ${given || "none"}, commitment: ${commitment}`];
}

function playDeal(rules, dealer, deck, steps) { // Moves the cards, and says how far the deal came. R-numbers are the rules' clauses.
  const [players, size, suits] = [rules.players, rules.hand_size, [..."CDHS", rules.imperial_suit]];
  const [stock, assemblies, exposed, faults] = [deck.slice(players * size), [], new Map(), Array(players).fill(0)];
  const hands = faults.map((_, i) => deck.filter((_, at) => at < players * size && (dealer + 1 + at) % players === i));
  let [seat, state, tableau] = [dealer, "untouched", []];
  function draw(when) { // R9, R28
    const full = rules[when] === "none" ? 0 : Math.max(size + DRAWS.indexOf(rules[when]) - 1 - faults[seat], 1);
    while (stock.length && hands[seat].length < full) hands[seat].push(stock.shift());
  }
  function take(where, cards, place, name) {
    for (const [, card] of rows(`${where}: what is taken`, cards)) {
      need(place.includes(text(where, card)), `${where}: ${card} is not in the ${name}`);
      place.splice(place.indexOf(card), 1);
    }
  }
  turns: for (;;) {
    const draws = stock.length && rules.draw_at_start !== "none";
    seat = hands.map((_, i) => (seat + 1 + i) % players).find((one) => hands[one].length || draws);
    if (seat === undefined) return "over"; // R21, R23
    let [hand, bound] = [hands[seat], exposed.get(seat)];
    if (exposed.delete(seat)) faults[seat] += 1;
    draw("draw_at_start");
    for (const [where, step] of steps) {
      state = "open";
      const [stepKind, content] = kindOf(where, step, ["play", "fault", "forfeit"]);
      if (stepKind === "forfeit") continue; // It moves no card, so whatever it says is passed over.
      const [who, done] = fields(where, content, stepKind === "play" ? ["seat", "action", "points", "by"] : ["seat", "card"]);
      need([...hands.keys()].includes(who), `${where}.seat is none`);
      if (stepKind === "fault") {
        const free = rules.exposed_card_penalty && who !== seat && !exposed.has(who);
        need(free && hands[who].includes(text(where, done)), `${where}: ${text(where, done)} can't be exposed`);
        exposed.set(who, done);
        continue;
      }
      need(who === seat, `${where}: seat ${seat} is to act`);
      const [kind, what] = kindOf(where, done, ["discard", "sequence", "flush", "flush_sequence", "assembly", "marriages"]);
      need(bound === undefined || bound === what, `${where}: ${bound} is exposed and must be discarded`);
      bound = undefined;
      const cards = kind === "discard" ? [what] : kind === "assembly" ? suits.map((suit) => text(where, what) + suit) : what;
      const [fromHand, fromTableau] = kind === "marriages" ? fields(where, what, ["hand", "tableau"]) : [cards, []];
      if (kind === "assembly") assemblies.push(what);
      const leave = kind === "discard" || kind === "marriages" || (kind === "assembly" && rules.assembly === "remove");
      take(where, fromHand, leave ? hand : [...hand], "hand");
      take(where, fromTableau, tableau, "tableau");
      let goesOn = !leave || (kind === "marriages" && rules.marriage_then_discard);
      if (kind === "discard") {
        tableau.push(what);
        const others = tableau.filter((card) => card[0] !== what[0]);
        const royal = rules.royal_zetema === "after-assembly" ? { K: "Q", Q: "K" }[what[0]] : undefined;
        const zetema = tableau.length - others.length === 5 && (royal === undefined || assemblies.includes(royal)); // R16, R22
        if (zetema) [tableau, goesOn] = [others, rules.extra_turn !== "none" && players === 2 && stock.length === 0];
      }
      if (goesOn && hand.length) continue;
      draw("draw_at_end");
      continue turns;
    }
    return state;
  }
}

export function verify(record) { // What there is to say of a record that holds. Throws `Differs` for one that does not.
  const [revision, rules, dealing, dealer, deals, allSteps, outcome] = fields("record", record, RECORD, RECORD.slice(7));
  need(revision === 1, "rules_revision is unknown");
  fields("rules", rules, [...Object.keys(MOVING), ...OTHERS]);
  for (const [name, known] of Object.entries(MOVING)) need(known.includes(rules[name]), `rules.${name} is unknown`);
  const [kind, ending] = kindOf("outcome", outcome, ["result", "aborted"]);
  const reason = text("outcome.reason", fields("outcome", ending, ["reason", kind === "result" ? "sides" : "seats"])[0]);
  const [matchSeed, summary] = seedOf(dealing, rules.players, dealer !== null);
  const drawn = dealer === null && kind === "aborted" ? null : chooser(sha256("dealer", matchSeed))(rules.players);
  need(dealer === drawn, "dealer does not follow from the seed");
  let [state, steps] = ["missing", rows("steps", allSteps).values()];
  for (const [k, [where, deal]] of rows("deals", deals).entries()) {
    const [[deck], right] = [fields(where, deal, ["deck", "scores"]), deckOf(matchSeed, k, rules.imperial_suit)];
    need(dealer !== null && ["over", "missing"].includes(state), `${where} comes too early`);
    const same = Array.isArray(deck) && deck.length === right.length && right.every((card, i) => card === deck[i]);
    need(same, `${where}.deck does not follow from the seed and the imperial suit`);
    state = playDeal(rules, (dealer + k) % rules.players, deck, steps);
  }
  const needed = kind === "aborted" ? ["open", "untouched"] : reason === "deal-over" ? ["over"] : ["over", "open"];
  need((deals.length && needed.includes(state)) || (dealer === null && !deals.length), `the last deal is ${state} and the match ${kind}`);
  need(steps.next().done, "steps are left and no deal");
  return `${summary}, deals: ${deals.length}`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  let [count, code] = [0, 0];
  const unreadable = (what, error) => { code = 2; console.error(`${what} can't be read: ${error.message}`); };
  for (const path of process.argv.length > 2 ? process.argv.slice(2) : ["-"]) {
    let texts = [];
    try {
      const all = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path === "-" ? 0 : path));
      texts = all.split(/(?<![^\n])(?=\{)/).filter((one) => /[^ \t\r\n]/.test(one));
      need(texts.length, "no record is in it");
    } catch (error) { unreadable(path, error); }
    for (const one of texts) {
      count += 1;
      let [name, line] = [one.match(/"match_id":[ \t\r\n]*"([0-9A-Za-z_-]+)"|$/)[1] ?? `record ${count}`, ""];
      try {
        line = `ok ${name}: ${verify(JSON.parse(one))}`;
      } catch (error) { // Whatever it is, the next ones are checked.
        if (!(error instanceof Differs)) unreadable(`${path}: ${name}`, error);
        [line, code] = error instanceof Differs ? [`DIFFERS ${name}: ${error.message}`, code || 1] : [`UNREADABLE ${name}`, code];
      }
      console.log(line.replace(/[^ -~]/gu, "?"));
    }
  }
  process.exitCode = code;
}
