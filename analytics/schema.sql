-- The tables of the warehouse: grain, key order and unit of each.  docs/tables.md explains every column.
-- Columns follow replay/problems.py and ingest/rejects.py by name and order.  No primary keys: they cost much on
-- large tables; the reader keeps keys unique.  Points are integers in the stake's own unit.  Columns of bytes that
-- hardly repeat say their compression: DuckDB's own choice for them takes seven times as long and no less room.

CREATE TABLE sources (           -- one row per distinct content of a path; key: source, sha256
    source VARCHAR NOT NULL,
    format VARCHAR,
    bytes BIGINT,
    sha256 VARCHAR NOT NULL,
    records BIGINT NOT NULL,
    rounds BIGINT NOT NULL,
    repeats BIGINT NOT NULL,
    rejects BIGINT NOT NULL
);

CREATE TABLE rounds (            -- one row per round; key: round_id
    round_id UBIGINT NOT NULL,
    game_key UBIGINT NOT NULL,
    content UBIGINT NOT NULL,
    source VARCHAR NOT NULL,
    record BIGINT NOT NULL,
    line BIGINT,
    site VARCHAR,
    game VARCHAR NOT NULL,
    round BIGINT NOT NULL,
    time_ms BIGINT,
    ruleset VARCHAR NOT NULL,
    options VARCHAR,
    ruleset_digest VARCHAR,
    suits VARCHAR,
    dealer TINYINT,
    dice TINYINT[],
    base BIGINT,
    raise INTEGER,
    raise_from VARCHAR,
    piao_from VARCHAR,
    hidden_from VARCHAR,
    coverage VARCHAR,
    verdict VARCHAR NOT NULL,
    proof VARCHAR,
    "end" VARCHAR,
    winners TINYINT,
    multiple BIGINT,
    draws SMALLINT,
    wall_left SMALLINT,
    next_dealer TINYINT,
    raise_next INTEGER,
    next_dealer_if VARCHAR[],
    prev VARCHAR,
    line_sha256 VARCHAR USING COMPRESSION zstd,
    events_count INTEGER,
    mispaid BIGINT,
    state_digest UBIGINT,
    deal BLOB USING COMPRESSION zstd,
    wall BLOB USING COMPRESSION zstd,
    events UINTEGER[],
    event_no INTEGER[],
    times INTEGER[],
    own_verdict VARCHAR NOT NULL -- of the round by itself, before its game is looked at
);

CREATE TABLE seats (             -- one row per round and seat; key: round_id, seat
    round_id UBIGINT NOT NULL,
    seat TINYINT NOT NULL,
    player VARCHAR,
    is_dealer BOOLEAN,
    piao INTEGER,
    points BIGINT,
    recorded_points BIGINT,
    kong_points BIGINT,
    won BOOLEAN,
    self_drew BOOLEAN,
    dealt_in BOOLEAN,
    revealed BOOLEAN,
    pungs TINYINT,
    kongs TINYINT,
    ready_at_end BOOLEAN,
    deal BLOB USING COMPRESSION zstd,
    hand BLOB USING COMPRESSION zstd
);

CREATE TABLE wins (              -- one row per win of a round; key: round_id, win_no
    round_id UBIGINT NOT NULL,
    win_no TINYINT NOT NULL,
    seat TINYINT,
    from_seat TINYINT,
    tile UTINYINT,
    "by" VARCHAR,
    event INTEGER,
    turn SMALLINT,
    multiple BIGINT,
    fans VARCHAR[],
    revealed BOOLEAN,
    points BIGINT,
    recorded_multiple BIGINT,
    recorded_fans VARCHAR[]
);

CREATE TABLE win_fans (          -- one row per win and fan; key: round_id, win_no, fan
    round_id UBIGINT NOT NULL,
    win_no TINYINT NOT NULL,
    fan VARCHAR NOT NULL,
    count TINYINT,
    value INTEGER
);

CREATE TABLE kongs (             -- one row per kong declared, robbed ones too; key: round_id, kong_no
    round_id UBIGINT NOT NULL,
    kong_no TINYINT NOT NULL,
    event INTEGER,
    seat TINYINT,
    kind VARCHAR,
    tile UTINYINT,
    from_seat TINYINT,
    chain TINYINT,
    points BIGINT,
    robbed BOOLEAN
);

CREATE TABLE reveals (           -- one row per reveal; key: round_id, seat
    round_id UBIGINT NOT NULL,
    seat TINYINT NOT NULL,
    "order" TINYINT,
    event INTEGER,
    turn SMALLINT,
    wall_left SMALLINT,
    waits UINTEGER,
    live TINYINT,
    hidden UINTEGER
);

CREATE TABLE ledger (            -- one row per payment, recomputed; key: round_id, n; each cause sums to zero
    round_id UBIGINT NOT NULL,
    n SMALLINT NOT NULL,
    cause VARCHAR NOT NULL,
    from_seat TINYINT,
    to_seat TINYINT,
    points BIGINT NOT NULL
);

CREATE TABLE facts (             -- one row per round and seat whose replay came to an end; key: round_id, seat
    round_id UBIGINT NOT NULL,
    seat TINYINT NOT NULL,
    start_tiles TINYINT,
    start_shanten TINYINT,
    start_pairs TINYINT,
    start_triplets TINYINT,
    start_dragons TINYINT,
    start_suit_tiles TINYINT,
    discards SMALLINT,
    shanten TINYINT[],
    ready_turn TINYINT,
    ready_event SMALLINT,
    ready_left TINYINT,
    ready_waits UINTEGER,
    ready_live_own TINYINT,
    ready_live_true TINYINT,
    reveal_order TINYINT,
    reveal_live_own TINYINT,
    reveal_live_true TINYINT,
    draws SMALLINT,
    draws_behind SMALLINT,
    useful_draws SMALLINT,
    useful_expected DOUBLE,
    useful_variance DOUBLE,
    ready_draws SMALLINT,
    ready_hits SMALLINT,
    ready_expected DOUBLE,
    ready_variance DOUBLE,
    revealed_draws SMALLINT,
    revealed_hits SMALLINT,
    revealed_expected DOUBLE,
    revealed_variance DOUBLE,
    replacement_hits SMALLINT,
    replacement_expected DOUBLE,
    replacement_variance DOUBLE,
    horses TINYINT,
    horse_points SMALLINT,
    horse_expected DOUBLE,
    horse_variance DOUBLE,
    tiles_worth INTEGER,
    wins_offered TINYINT,
    wins_missed TINYINT,
    self_draws_offered TINYINT,
    self_draws_missed TINYINT,
    first_missed_event SMALLINT,
    kongs_offered TINYINT,
    kongs_declined TINYINT,
    pungs_offered TINYINT,
    pungs_declined TINYINT,
    dealt_in_ready BOOLEAN,
    dealt_into_revealed BOOLEAN,
    discards_into_revealed TINYINT,
    dangerous_discards TINYINT,
    careless_discards TINYINT,
    choices TINYINT[],
    open_choices TINYINT,
    open_fed TINYINT,
    open_expected DOUBLE,
    open_variance DOUBLE,
    hidden_choices TINYINT,
    hidden_fed TINYINT,
    hidden_expected DOUBLE,
    hidden_variance DOUBLE,
    final_shanten TINYINT,
    final_waits UINTEGER,
    final_live_true TINYINT
);

CREATE TABLE draws (             -- one row per tile drawn from the wall; key: round_id, n
    round_id UBIGINT NOT NULL,
    n SMALLINT NOT NULL,
    event SMALLINT,
    seat TINYINT,
    tile UTINYINT,
    place TINYINT,
    behind BOOLEAN,
    remaining TINYINT,
    same TINYINT,
    shanten TINYINT,
    useful TINYINT,
    hit BOOLEAN,
    ready BOOLEAN,
    revealed BOOLEAN,
    after_call BOOLEAN,
    caller TINYINT
);

CREATE TABLE aims (              -- one row per round, seat and fan that the hand came near to; key: round_id, seat, fan
    round_id UBIGINT NOT NULL,
    seat TINYINT NOT NULL,
    fan VARCHAR NOT NULL,
    start TINYINT,
    best TINYINT,
    near_turn TINYINT,
    aimed_turn TINYINT,
    ready_turn TINYINT,
    won BOOLEAN
);

CREATE TABLE problems (          -- one row per violation or mismatch; key: round_id, event, code, seat
    round_id UBIGINT NOT NULL,
    source VARCHAR,
    record BIGINT,
    line BIGINT,
    site VARCHAR,
    game VARCHAR,
    round BIGINT,
    kind VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    event INTEGER,
    seat TINYINT,
    logged VARCHAR,
    expected VARCHAR,
    message VARCHAR,
    "table" VARCHAR,
    explained_by VARCHAR[]
);

CREATE TABLE rejects (           -- one row per record that is no round; key: source, sha256, record
    source VARCHAR NOT NULL,
    record BIGINT NOT NULL,
    line BIGINT,
    byte BIGINT,
    code VARCHAR NOT NULL,
    field VARCHAR,
    message VARCHAR,
    raw VARCHAR,
    sha256 VARCHAR               -- content of the source that the record was read from
);
