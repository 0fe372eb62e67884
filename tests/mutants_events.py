"""Operators on the events of a record: see mutants.py."""

from mutants import KINDS, RECORD, other_tile, split


def on_events(function):
    """An operator on the list of tokens: changes it in place, or gives False."""

    def run(rng, record):
        tokens = record["events"].split()
        if function(rng, tokens, record) is False or not tokens:
            return False
        fit_times(record, tokens)
        return None

    RECORD[function.__name__] = run
    return function


def fit_times(record, tokens):
    """Writes the tokens back; one time each."""
    record["events"] = " ".join(tokens)
    if "times" in record:
        times = record["times"][: len(tokens)]
        record["times"] = times + [1000] * (len(tokens) - len(times))


def some(rng, tokens, verbs):
    """The place of a token with one of the verbs, or None."""
    places = [at for at, token in enumerate(tokens) if len(token) > 1 and token[1] in verbs]
    return rng.choice(places) if places else None


@on_events
def drop_event(rng, tokens, record):
    del tokens[rng.randrange(len(tokens))]


@on_events
def repeat_event(rng, tokens, record):
    at = rng.randrange(len(tokens))
    tokens.insert(at, tokens[at])


@on_events
def swap_neighbours(rng, tokens, record):
    if len(tokens) < 2:
        return False
    at = rng.randrange(len(tokens) - 1)
    tokens[at : at + 2] = [tokens[at + 1], tokens[at]]


@on_events
def swap_far(rng, tokens, record):
    one, two = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[one], tokens[two] = tokens[two], tokens[one]


@on_events
def move_event(rng, tokens, record):
    token = tokens.pop(rng.randrange(len(tokens)))
    tokens.insert(rng.randrange(len(tokens) + 1), token)


@on_events
def drop_turn(rng, tokens, record):
    """A draw and its discard."""
    at = some(rng, tokens, "d")
    if at is None:
        return False
    del tokens[at : at + 2]


@on_events
def resource(rng, tokens, record):
    """Claimed from the third seat."""
    places = [at for at, token in enumerate(tokens) if len(token) == 5 and token[1] in "pkw"]
    if not places:
        return False
    at = rng.choice(places)
    token = tokens[at]
    tokens[at] = token[:4] + str(3 - int(token[0]) - int(token[4]))


@on_events
def self_drawn_or_not(rng, tokens, record):
    """A win on a discard as a self-draw, or a self-draw with a payer."""
    at = some(rng, tokens, "w")
    if at is None:
        return False
    token = tokens[at]
    payer = rng.choice([seat for seat in "012" if seat != token[0]])
    tokens[at] = token[:4] if len(token) == 5 else token + payer


@on_events
def retile(rng, tokens, record):
    at = some(rng, tokens, "drxypkcaw")
    if at is None:
        return False
    token = tokens[at]
    tokens[at] = token[:2] + other_tile(rng, token[2:4]) + token[4:]


@on_events
def retile_twice(rng, tokens, record):
    """A drawn tile and its discard, together."""
    follows = [token[:1] + "y" + token[2:] for token in tokens]
    places = [at for at, token in enumerate(tokens[:-1]) if token[1:2] in ("d", "r") and tokens[at + 1] == follows[at]]
    if not places:
        return False
    at = rng.choice(places)
    tile = other_tile(rng, tokens[at][2:4])
    tokens[at], tokens[at + 1] = tokens[at][:2] + tile, tokens[at + 1][:2] + tile


@on_events
def fifth_tile(rng, tokens, record):
    """A draw becomes a kind that all four are dealt or drawn of already, where there is one."""
    at = some(rng, tokens, "dr")
    if at is None:
        return False
    tiles = [token[2:4] for token in tokens[:at] if token[1:2] in ("d", "r")]
    tiles += [tile for hand in record["deal"] for tile in split(hand)]
    full = [kind for kind in KINDS if tiles.count(kind) == 4]
    if not full:
        return False
    tokens[at] = tokens[at][:2] + rng.choice(full)


@on_events
def reactor(rng, tokens, record):
    """Another seat acts."""
    at = some(rng, tokens, "drxypkcalwn")
    if at is None:
        return False
    token = tokens[at]
    tokens[at] = rng.choice([seat for seat in "012" if seat != token[0]]) + token[1:]


@on_events
def reverb(rng, tokens, record):
    at = some(rng, tokens, "drxypkcaw")
    if at is None:
        return False
    token = tokens[at]
    if token[1] in "pk":
        verb = rng.choice([verb for verb in "pkw" if verb != token[1]])
        tokens[at] = token[0] + verb + token[2:]
    else:
        verb = rng.choice([verb for verb in "drxycaw" if verb != token[1]])
        tokens[at] = token[0] + verb + token[2:4]


@on_events
def hand_or_drawn(rng, tokens, record):
    """x for y, y for x."""
    at = some(rng, tokens, "xy")
    if at is None:
        return False
    tokens[at] = tokens[at].translate({ord("x"): "y", ord("y"): "x"})


@on_events
def cut_events(rng, tokens, record):
    if len(tokens) < 2:
        return False
    del tokens[rng.randrange(1, len(tokens)) :]


@on_events
def cut_and_abort(rng, tokens, record):
    tokens[rng.randrange(len(tokens)) :] = ["z"]


@on_events
def cut_and_exhaust(rng, tokens, record):
    tokens[rng.randrange(len(tokens)) :] = ["e"]


@on_events
def exchange_end(rng, tokens, record):
    """The last event becomes another end."""
    end = rng.choice([end for end in ("e", "z") if end != tokens[-1]])
    tokens[-1:] = [end]


@on_events
def event_after_end(rng, tokens, record):
    tokens.append(rng.choice([*tokens, "e", "z", "0n", "1n", "2n", "0l", "1l", "2l"]))


@on_events
def insert_decline(rng, tokens, record):
    tokens.insert(rng.randrange(len(tokens) + 1), f"{rng.randrange(3)}n")


@on_events
def drop_decline(rng, tokens, record):
    at = some(rng, tokens, "n")
    if at is None:
        return False
    del tokens[at]


@on_events
def insert_reveal(rng, tokens, record):
    tokens.insert(rng.randrange(len(tokens)), f"{rng.randrange(3)}l")


@on_events
def drop_reveal(rng, tokens, record):
    at = some(rng, tokens, "l")
    if at is None:
        return False
    del tokens[at]


@on_events
def hide_triplet(rng, tokens, record):
    at = some(rng, tokens, "l")
    if at is None:
        return False
    tokens[at] += rng.choice(KINDS)


@on_events
def drop_claim(rng, tokens, record):
    """A pung or kong that was not."""
    at = some(rng, tokens, "pk")
    if at is None:
        return False
    del tokens[at]


@on_events
def claim_instead(rng, tokens, record):
    """After a discard somebody claims it."""
    at = some(rng, tokens, "xy")
    if at is None:
        return False
    seat = rng.choice([seat for seat in "012" if seat != tokens[at][0]])
    tokens.insert(at + 1, seat + rng.choice("pkw") + tokens[at][2:4] + tokens[at][0])


@on_events
def win_early(rng, tokens, record):
    """Somebody wins the discard, and that is the end."""
    at = some(rng, tokens, "xy")
    if at is None:
        return False
    seat = rng.choice([seat for seat in "012" if seat != tokens[at][0]])
    tokens[at + 1 :] = [f"{seat}w{tokens[at][2:4]}{tokens[at][0]}"]


@on_events
def second_winner(rng, tokens, record):
    """The third seat wins the tile too, or the second winner doesn't."""
    wins = [token for token in tokens if token[1:2] == "w" and len(token) == 5]
    if len(wins) == 2:
        tokens.remove(rng.choice(wins))
    elif len(wins) == 1:
        third = 3 - int(wins[0][0]) - int(wins[0][4])
        tokens.insert(tokens.index(wins[0]) + rng.randrange(2), f"{third}{wins[0][1:]}")
    else:
        return False
