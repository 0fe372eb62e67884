"""A slow and literal count of kwx log lines: what every statistic adds up, from the record alone, one round at a time.

Nothing is replayed.  Who did what is read off the tokens, what was paid off the recorded result, hands are kept as
lists of tiles, and waits come from the literal scorer (oracle_hand), by the one key of a ruleset that says what a wait
is: whether a kind of which the seat holds all four is one, as some servers announce.  Shares no code with analytics or
the engine.
"""

from collections import Counter
from datetime import UTC, datetime

from oracle_hand import parse, waits

from replay import ruleset

KONGS = {"k": "exposed", "c": "concealed", "a": "added"}


class Table:
    """The tiles of a round as its tokens tell them, and what each seat has done."""

    def __init__(self, log):
        self.held_four = ruleset.load(log["rules"]).values["win.wait_held_four"]
        self.hands = [parse(text) for text in log["deal"]]
        self.melds = [[], [], []]
        self.discards = Counter()
        self.drawn = 0
        self.reveals = []  # (seat, tiles drawn so far), in order
        self.hidden = [[], [], []]  # kinds of triplets that a revealed hand keeps face down
        self.live = {}
        self.wins = []  # (seat, payer or None, robbed)
        self.pungs = [0, 0, 0]
        self.kongs = [Counter(), Counter(), Counter()]
        self.last = ""
        self.revealing = None
        for token in log["events"].split():
            self.play(token)

    def play(self, token):
        if token in "ez":
            return
        seat, verb = int(token[0]), token[1]
        tile = token[2:4]
        hand = self.hands[seat]
        if verb in "dr":
            hand.append(tile)
            self.drawn += 1
        elif verb in "xy":
            hand.remove(tile)
            self.discards[tile] += 1
            if self.revealing == seat:
                self.see_live(seat)
        elif verb in "pkca":
            if verb in "pk":
                self.discards[tile] -= 1
            for _ in range({"p": 2, "k": 3, "c": 4, "a": 1}[verb]):
                hand.remove(tile)
            if verb == "a":
                self.melds[seat].remove(("pung", tile))
            self.hidden[seat] = [kind for kind in self.hidden[seat] if kind != tile]
            self.melds[seat].append(("pung" if verb == "p" else KONGS[verb] + "_kong", tile))
            if verb == "p":
                self.pungs[seat] += 1
            else:
                self.kongs[seat][KONGS[verb]] += 1
        elif verb == "l":
            self.reveals.append((seat, self.drawn))
            self.hidden[seat] = [token[place : place + 2] for place in range(2, len(token), 2)]
            self.revealing = seat
            if len(hand) % 3 == 1:  # between turns
                self.see_live(seat)
        elif verb == "w":
            payer = int(token[4]) if len(token) > 4 else None
            robbed = self.last[1:4] == "a" + tile and payer == int(self.last[0])
            if robbed and not self.wins:
                self.kongs[payer]["added"] -= 1
                self.melds[payer].remove(("added_kong", tile))
                self.melds[payer].append(("pung", tile))
            self.wins.append((seat, payer, robbed or bool(self.wins and self.wins[0][2])))
        if verb not in "wn":
            self.last = token

    def see_live(self, seat):
        """Copies of the waits that the seat cannot see."""
        self.revealing = None
        seen = Counter(self.discards) + Counter(self.hands[seat])
        for melds in self.melds:
            for kind, tile in melds:
                seen[tile] += 3 if kind == "pung" else 4
        for other, _ in self.reveals:
            if other != seat:
                seen += Counter(self.hands[other])
                seen -= Counter(dict.fromkeys(self.hidden[other], 3))
        self.live[seat] = sum(4 - seen[tile] for tile in self.waits(seat))

    def waits(self, seat):
        return waits(self.hands[seat], self.melds[seat], self.hidden[seat], self.held_four)


def seats_of(log):
    """The three rows of one round."""
    table, result = Table(log), log["result"]
    end, fee = result["end"], result.get("fee", 0)
    kongs, points = result.get("kongs", [0, 0, 0]), result["points"]
    side = [points[seat] - kongs[seat] + fee for seat in range(3)]  # what wins or the draw brought
    winners = {seat: number for number, (seat, _, _) in enumerate(table.wins)}
    payers = {payer for _, payer, _ in table.wins} - {None}
    robbed = any(rob for _, _, rob in table.wins)
    self_drawn = bool(winners) and not payers
    order = {seat: number for number, (seat, _) in enumerate(table.reveals)}
    turns = dict(table.reveals)
    played = end != "aborted"
    time = log.get("time")
    rows = []
    for seat in range(3):
        won, dealt = seat in winners, seat in payers
        revealed = seat in order and played
        first = revealed and order[seat] == 0
        chased = first and len(order) > 1
        declared = table.kongs[seat] if played else Counter()
        pungs = table.pungs[seat] if played else 0
        loss = -min(side[seat], 0) if winners else 0
        at_draw = side[seat] if not winners else 0
        rows.append(
            {
                "site": log["site"], "ruleset": log["rules"], "base": log["base"], "player": log["players"][seat],
                "seat": seat, "position": (seat - log["dealer"]) % 3,
                "day": datetime.fromisoformat(time).astimezone(UTC).date() if time else None,
                "game": log["game"],
                "rounds": 1, "played": int(played), "exhausted": int(end == "draw"),
                "ready_exhausted": int(end == "draw" and bool(table.waits(seat))),
                "wins": int(won), "self_draws": int(won and self_drawn), "rob_kong_wins": int(won and robbed),
                "double_wins": int(won and len(winners) > 1),
                "win_multiples": result["wins"][winners[seat]]["multiple"] if won else 0,
                "win_points": side[seat] if won else 0,
                "deal_ins": int(dealt),
                "deal_ins_next": int(dealt and (seat + 1) % 3 in winners),
                "deal_ins_previous": int(dealt and (seat + 2) % 3 in winners),
                "robbed_kongs": int(dealt and robbed),
                "deal_ins_revealed": int(dealt and any(winner in order for winner in winners)),
                "paid_self_draws": int(self_drawn and not won),
                "deal_in_points": loss * dealt, "self_draw_loss": loss * self_drawn,
                "other_loss": loss * (not dealt and not self_drawn),
                "kong_net": kongs[seat], "draw_gain": max(at_draw, 0), "draw_loss": max(-at_draw, 0),
                "fee": fee, "points": points[seat],
                "called": int(pungs + declared["exposed"] > 0), "pungs": pungs,
                "konged": int(sum(declared.values()) > 0),
                **{f"{kind}_kongs": declared[kind] for kind in KONGS.values()},
                "reveals": int(revealed), "first_reveals": int(first), "chasing_reveals": int(revealed and not first),
                "chased_reveals": int(chased),
                "reveal_turns": turns[seat] if revealed else 0, "reveal_live": table.live[seat] if revealed else 0,
                "reveal_wins": int(revealed and won), "reveal_self_draws": int(revealed and won and self_drawn),
                "reveal_deal_ins": int(revealed and dealt), "reveal_exhausted": int(revealed and end == "draw"),
                "reveal_points": points[seat] * revealed, "first_reveal_points": points[seat] * first,
                "chasing_reveal_points": points[seat] * (revealed and not first),
                "chased_reveal_points": points[seat] * chased,
                "reveal_draw_loss": max(-at_draw, 0) * (revealed and end == "draw"),
                "unrevealed": int(played and not revealed),
                "unrevealed_points": points[seat] * (played and not revealed),
            }
        )  # fmt: skip
    return rows
