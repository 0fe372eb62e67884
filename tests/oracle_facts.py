"""A second, literal account of how each hand of a round fared: what the tables `facts` and `draws` must say.

`facts(record, rules)` plays a legal kwx record with the literal engine and looks at the table after every event.
Slow and obvious: shanten by trying every choice of melds and pair, live tiles by counting what lies where, offers by
asking the literal engine whether it would take the event.  Shares nothing with the engine.
"""

import tomllib
from collections import Counter
from math import comb
from pathlib import Path

from oracle import only_first_revealed, start
from oracle_hand import DRAGONS, FANS, order, waits
from oracle_moves import apply
from oracle_player import tried
from oracle_settle import horse_points
from oracle_shapes import distances, shanten
from oracle_table import pairs

LUCK = Path(__file__).parent.parent / "replay" / "luck.toml"


def far(hand, melds):
    return shanten(tuple(sorted(hand, key=order)), len(melds))


def between_turns(table, seat):
    """(hand, melds) of a seat that has as many tiles as between turns; an added kong that may be robbed is one."""
    hand, melds = list(table.hands[seat]), pairs(table, seat)
    if table.phase == "added" and table.pending["seat"] == seat:
        hand.remove(table.pending["tile"])
        melds = [("added_kong", tile) if tile == table.pending["tile"] else (kind, tile) for kind, tile in melds]
    return hand, melds


def waits_for(table, seat):
    if seat in table.dead:
        return ()
    return waits(*between_turns(table, seat), table.hidden[seat], table.rules["win.wait_held_four"])


class Account:
    """The facts of one seat, as they come; named as the columns."""

    def __init__(self, hand):
        self.start_tiles, self.start_shanten = len(hand), far(hand, [])
        held = Counter(hand)
        self.start_pairs = sum(count >= 2 for count in held.values())
        self.start_triplets = sum(count >= 3 for count in held.values())
        by_suit = Counter(tile[1] for tile in hand)
        self.start_dragons = by_suit.pop("z", 0)
        self.start_suit_tiles = max(by_suit.values(), default=0)
        self.shanten, self.waits = [], ()
        self.ready = self.revealed = self.reveal_order = None
        self.luck = []  # (useful, remaining, hit, ready, revealed, replacement)
        self.wins, self.self_draws = [], []  # (taken, event)
        self.exposed, self.pungs, self.own_kongs = [], [], {}  # taken; (verb, tile) -> made
        self.into_revealed = []  # (dangerous, careless)
        self.choices, self.open, self.hidden = [], [], []  # nearest discards; (share, fed)
        self.horse = []  # (points, mean, variance)
        self.dealt_in_ready = self.dealt_into_revealed = False
        self.aims = {}  # fan -> [start, best, near_turn, aimed_turn, ready_turn]

    def aim(self, away):
        """How far the hand is from each fan now, within two tiles."""
        for fan, lack in away.items():
            if lack <= 2:
                row = self.aims.setdefault(fan, [None, lack, None, None, None])
                row[1] = min(row[1], lack)
                for place, least in ((2, 2), (3, 1), (4, 0)):
                    if lack <= least and row[place] is None:
                        row[place] = len(self.shanten)

    def row(self):
        """The columns of `facts`."""
        ready = self.ready or [None] * 6
        missed = [event for taken, event in self.wins if not taken]
        row = {name: value for name, value in vars(self).items() if name.startswith(("start", "final", "dealt"))}
        row |= {
            "discards": len(self.shanten), "shanten": self.shanten,
            "ready_turn": ready[0], "ready_event": ready[1], "ready_left": ready[2], "ready_waits": ready[3],
            "ready_live_own": ready[4], "ready_live_true": ready[5],
            "reveal_order": self.reveal_order,
            "reveal_live_own": self.revealed and self.revealed[0],
            "reveal_live_true": self.revealed and self.revealed[1],
            "draws": len(self.luck), "draws_behind": sum(one[5] for one in self.luck),
            "wins_offered": len(self.wins), "wins_missed": len(missed),
            "self_draws_offered": len(self.self_draws),
            "self_draws_missed": self.self_draws.count(False),
            "first_missed_event": None if not missed or missed[0] is None else missed[0],
            "kongs_offered": len(self.exposed) + len(self.own_kongs),
            "kongs_declined": self.exposed.count(False) + [*self.own_kongs.values()].count(False),
            "pungs_offered": len(self.pungs), "pungs_declined": self.pungs.count(False),
            "discards_into_revealed": len(self.into_revealed),
            "dangerous_discards": sum(one[0] for one in self.into_revealed),
            "careless_discards": sum(one[1] for one in self.into_revealed),
        }  # fmt: skip
        row |= {"choices": self.choices, "horses": len(self.horse), "horse_points": sum(one[0] for one in self.horse)}
        row |= {
            "horse_expected": sum(one[1] for one in self.horse),
            "horse_variance": sum(one[2] for one in self.horse),
        }
        for name, seen in (("open", self.open), ("hidden", self.hidden)):
            row |= {
                f"{name}_choices": len(seen), f"{name}_fed": sum(fed for _, fed in seen),
                f"{name}_expected": sum(share for share, _ in seen),
                f"{name}_variance": sum(share * (1 - share) for share, _ in seen),
            }  # fmt: skip
        for name, place, hits in (
            ("useful", None, "useful_draws"), ("ready", 3, "ready_hits"), ("revealed", 4, "revealed_hits"),
            ("replacement", 5, "replacement_hits"),
        ):  # fmt: skip
            of = [one for one in self.luck if place is None or one[place]]
            chances = [one[0] / one[1] for one in of]
            row[hits] = sum(one[2] for one in of)
            row[f"{name}_expected"] = sum(chances)
            row[f"{name}_variance"] = sum(p * (1 - p) for p in chances)
            if place in (3, 4):
                row[f"{name}_draws"] = len(of)
        return row


class Round:
    """A round while it is played, and what has been seen of it."""

    def __init__(self, record, rules, aims):
        self.table = start(record, rules)
        self.aiming = aims
        self.suits = played_suits(record)
        self.tokens = record["events"].split()
        self.seats = [Account(hand) for hand in self.table.hands]
        kinds = {f"{rank}{suit}" for rank in range(1, 10) for suit in self.suits} | set(DRAGONS)
        self.wall = Counter(dict.fromkeys(kinds, 4))
        for hand in self.table.hands:
            self.wall.subtract(hand)
        self.river, self.draws, self.caller = [], [], None
        self.starts = [distances(hand, [], self.suits, rules) if aims else {} for hand in self.table.hands]
        for seat in range(3):
            if seat != self.table.dealer:
                self.rest(seat, None)
        self.offer_turn(self.table.dealer, None, self.table.hands[self.table.dealer])

    def left(self, tiles):
        return sum(self.wall[tile] for tile in tiles)

    def unseen(self, seat, tiles):
        """Copies of some tiles that the seat can't see."""
        table = self.table
        seen = Counter(self.river)
        for other in range(3):
            hand, melds = between_turns(table, other)
            for kind, tile in melds:
                seen[tile] += 3 if kind == "pung" else 4
            if other == seat or other in table.revealed:
                seen.update(hand)
                if other != seat:
                    seen.subtract(dict.fromkeys(table.hidden[other], 3))
        return sum(4 - seen[tile] for tile in tiles)

    def rest(self, seat, event):
        """The seat has as many tiles as between turns."""
        one = self.seats[seat]
        one.waits = waits_for(self.table, seat)
        if self.aiming and seat not in self.table.dead:
            one.aim(distances(*between_turns(self.table, seat), self.suits, self.table.rules))
        live = self.unseen(seat, one.waits), self.left(one.waits)
        if one.waits and one.ready is None:
            one.ready = [len(one.shanten), event, self.table.wall_left, set(one.waits), *live]
        if seat in self.table.revealed and one.revealed is None:
            one.revealed = live

    def after(self, event, verbs):
        """(the tokens of these verbs that follow an event at once, the one after them or None).

        Wins in `verbs` are those on another's tile only.
        """
        at = 0 if event is None else event + 1
        run = []
        while at < len(self.tokens) and self.tokens[at][1:2] in verbs and self.tokens[at] not in ("e", "z"):
            if self.tokens[at][1] == "w" and len(self.tokens[at]) == 4:
                break
            run.append(self.tokens[at])
            at += 1
        return run, self.tokens[at] if at < len(self.tokens) else None

    def takes(self, token):
        return tried(self.table, token)[1] is None

    def offer_turn(self, seat, event, tiles):
        """The win of one of `tiles`, and every kong; what follows says what was taken."""
        one = self.seats[seat]
        following = self.after(event, "ln")[1]
        if following == "z":
            return
        won = following is not None and following[1:2] == "w"
        if any(self.takes(f"{seat}w{tile}") for tile in set(tiles)):
            one.wins.append((won, event))
            one.self_draws.append(won)
        if not won:
            for tile in set(self.table.hands[seat]):
                for verb in "ca":
                    if self.takes(f"{seat}{verb}{tile}"):
                        made = any(token == f"{seat}{verb}{tile}" for token in self.tokens)
                        one.own_kongs[verb, tile] = made

    def offer_tile(self, seat, event, tile):
        """What a tile just put down offers to the others."""
        run, following = self.after(event, "lnw")
        if following == "z":
            return
        winners = {int(token[0]) for token in run if token[1] == "w"}
        for other in range(3):
            one = self.seats[other]
            if other != seat and self.takes(f"{other}w{tile}{seat}"):
                one.wins.append((other in winners, event))
            if other == seat or winners or self.table.phase != "discarded":
                continue
            mine = following is not None and following[0] == str(other)
            if self.takes(f"{other}p{tile}{seat}"):
                one.pungs.append(mine and following[1] in "pk")
            if self.takes(f"{other}k{tile}{seat}"):
                one.exposed.append(mine and following[1] == "k")

    def draw(self, seat, event, tile, replacement):
        """A tile that is about to be drawn."""
        table, one = self.table, self.seats[seat]
        hand, melds = between_turns(table, seat)
        useful = one.waits
        if not useful and seat not in table.dead:
            now = far(hand, melds)
            useful = [kind for kind, count in self.wall.items() if count and far([*hand, kind], melds) < now]
        chance = self.left(useful), table.wall_left
        revealed = seat in table.revealed
        one.luck.append((*chance, tile in useful, bool(one.waits), revealed, replacement))
        behind = replacement and table.rules["wall.replacement"] == "back"
        backs = sum(not row["front"] for row in self.draws)
        self.draws.append(
            {
                "n": len(self.draws), "event": event, "seat": seat, "tile": tile, "behind": replacement,
                "place": 43 - backs if behind else len(self.draws) - backs, "front": not behind,
                "remaining": table.wall_left, "same": self.wall[tile], "shanten": far(hand, melds),
                "useful": chance[0], "hit": tile in useful, "ready": bool(one.waits), "revealed": revealed,
                "after_call": self.caller is not None, "caller": self.caller,
            }
        )  # fmt: skip
        self.wall[tile] -= 1
        self.caller = None

    def discard(self, seat, tile):
        """A tile that is about to be put down."""
        table = self.table
        others = [other for other in table.revealed if other != seat]
        if others and (seat not in table.revealed or table.revealing):
            wanted = {kind for other in others for kind in waits_for(table, other)}
            safe = any(kind not in wanted for kind in table.hands[seat])
            self.seats[seat].into_revealed.append((tile in wanted, tile in wanted and safe))
        self.choice(seat, tile)
        self.river.append(tile)

    def choice(self, seat, tile):
        """What others wait for among the discards that leave the hand nearest to ready."""
        table, one = self.table, self.seats[seat]
        if seat in table.revealed and not table.revealing:
            one.choices.append(0)
            return

        def nearest(kinds):
            away = {}
            for kind in kinds:
                rest = list(table.hands[seat])
                rest.remove(kind)
                away[kind] = far(rest, pairs(table, seat))
            return {kind for kind in kinds if away[kind] == min(away.values())}

        held = set(table.hands[seat])
        near = nearest(held)
        one.choices.append(len(near))
        others = [other for other in range(3) if other != seat]
        wanted = {kind for other in others if other in table.revealed for kind in waits_for(table, other)}
        secret = {kind for other in others if other not in table.revealed for kind in self.seats[other].waits}
        if near & wanted and held - wanted:
            one.open.append((len(near & wanted) / len(near), tile in wanted))
        near = nearest(held - wanted) if held - wanted else set()
        if near & secret and near - secret and tile in near:
            one.hidden.append((len(near & secret) / len(near), tile in secret))

    def turn_horse(self, seat, tile):
        """The horse of a self-draw: its points against those of every order of what is left."""
        table, rules = self.table, self.table.rules
        left = table.wall_left
        if rules["side.horse"] == "none" or not left or table.wall is None:
            return
        if rules["side.horse_reveal_only"] and seat not in table.revealed:
            return
        tiles = [kind for kind, count in self.wall.items() for _ in range(count)]
        rank = {kind: 10 if kind[1] == "z" else int(kind[0]) for kind in tiles}
        if rules["side.horse"] == "last_tile":
            values = [0 if kind == "1p" and not rules["side.horse_one_dot"] else rank[kind] for kind in tiles]
            mean = sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / len(values)
        else:
            group = {"7z": 1, "6z": 2, "5z": 0}[tile] if tile[1] == "z" else int(tile[0]) % 3
            good = sum(kind[1] == "z" or int(kind[0]) % 3 == group for kind in tiles)
            turned = min(6, left)
            chances = [comb(good, k) * comb(len(tiles) - good, turned - k) / comb(len(tiles), turned)
                       for k in range(turned + 1)]  # fmt: skip
            worth = [6 if k == 0 and turned == 6 else k for k in range(turned + 1)]
            mean = sum(p * value for p, value in zip(chances, worth, strict=True))
            variance = sum(p * (value - mean) ** 2 for p, value in zip(chances, worth, strict=True))
        self.seats[seat].horse.append((horse_points(table, {"seat": seat, "from": None, "tile": tile}), mean, variance))

    def aims(self):
        """The rows of `aims`, by seat and fan."""
        family = ["seven_pairs", "dragon_seven_pairs", "double_dragon_seven_pairs", "triple_dragon_seven_pairs"]
        rows = []
        for seat, one in enumerate(self.seats):
            fans = {fan for win in self.table.wins if win["seat"] == seat for fan in win["fans"]}
            for fan in sorted(one.aims, key=FANS.index):
                as_good = {fan, *(family[family.index(fan) :] if fan in family else [])}
                as_good |= {"three_dragons_seven_pairs"} if fan == "seven_pairs" else set()
                _, best, near, aimed, ready = one.aims[fan]
                rows.append(
                    {
                        "seat": seat, "fan": fan, "start": self.starts[seat].get(fan), "best": best,
                        "near_turn": near, "aimed_turn": aimed, "ready_turn": ready, "won": bool(fans & as_good),
                    }
                )  # fmt: skip
        return rows

    def play(self):
        table = self.table
        dealer = self.seats[table.dealer]
        if dealer.start_shanten < 0:
            dealer.aim(self.starts[table.dealer])
        for event, token in enumerate(self.tokens):
            if token in ("e", "z"):
                apply(table, token)
                continue
            seat, verb, tile = int(token[0]), token[1], token[2:4]
            if verb in "dr":
                self.draw(seat, event, tile, verb == "r")
            elif verb in "xy":
                self.discard(seat, tile)
            elif verb in "pk":
                self.river.remove(tile)
            elif verb == "w" and len(token) == 4:
                self.turn_horse(seat, tile)
                last = list(table.hands[seat])
            apply(table, token)
            if verb in "pkca":
                self.caller = seat
            if verb in "dr":
                self.offer_turn(seat, event, [tile])
            elif verb in "xy":
                one = self.seats[seat]
                one.shanten.append(far(*between_turns(table, seat)))
                self.rest(seat, event)
                self.offer_tile(seat, event, tile)
            elif verb == "p":
                self.offer_turn(seat, event, [])
            elif verb in "kca":
                self.rest(seat, event)
                if verb == "a":
                    self.offer_tile(seat, event, tile)
            elif verb == "l" and not (seat == table.turn and table.revealing):
                self.rest(seat, event)
        only_first_revealed(table)
        for win in table.wins:
            if win["from"] is not None:
                payer = self.seats[win["from"]]
                payer.dealt_in_ready |= bool(payer.waits)
                payer.dealt_into_revealed |= win["seat"] in table.revealed
        for seat, one in enumerate(self.seats):
            hand, melds = between_turns(table, seat)
            if any(win["seat"] == seat and win["from"] is None for win in table.wins):
                hand = last
            one.final_shanten = far(hand, melds)
            one.final_waits = set(one.waits)
            one.final_live_true = self.left(one.waits) if one.waits else None
            one.reveal_order = table.revealed.index(seat) + 1 if seat in table.revealed else None


def played_suits(record):
    """The two suits of a round, "p" and "s" where dealt tiles leave one open."""
    suits = {sign for text in record["deal"] for sign in text if sign in "mps"}
    return suits if len(suits) == 2 else suits | {"p", "s"}


def facts(record, rules, aims=False):
    """(rows of `facts`, of `draws`, of `aims`) of a legal record; sets of tiles where the tables have bits.

    aims: whether to find those too; they take long.
    """
    one = Round(record, rules, aims)
    one.play()
    for row in one.draws:
        del row["front"]
    rows = [seat.row() for seat in one.seats]
    known = tomllib.loads(LUCK.read_text(encoding="utf-8"))["coefficients"]
    coefficients = known.get(record["rules"], known["other"])
    for seat, row in enumerate(rows):
        next_, previous = rows[(seat + 1) % 3], rows[(seat + 2) % 3]
        row["tiles_worth"] = 0.0
        for kind, worth in coefficients.items():
            luck = luck_of(row, kind) - (luck_of(next_, kind) + luck_of(previous, kind)) / 2
            row["tiles_worth"] += 1e6 * worth * luck
    return rows, one.draws, one.aims()


def luck_of(row, kind):
    """How much better than its expectation something was in a round of a seat."""
    if kind == "start":
        return {13: 2.4292034, 14: 1.9442397}[row["start_tiles"]] - row["start_shanten"]
    hits, name = {"draws": ("useful_draws", "useful"), "ready": ("ready_hits", "ready"),
                  "behind": ("replacement_hits", "replacement")}[kind]  # fmt: skip
    return row[hits] - row[f"{name}_expected"]
