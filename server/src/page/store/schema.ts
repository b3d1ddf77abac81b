/** The version of the schema. A database of another version is refused. */
export const PAGE_SCHEMA_VERSION = 16

/** What is stored of a score of a run, or of a conversation: then agent and time are those of its first and of its latest run. */
const SCORE = `scorer TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    value REAL,
    position REAL,
    label TEXT,
    -- How many things of its kind it found, such as attacks, whether they count or not.
    found INTEGER,
    weight REAL,
    cost_usd REAL,
    judge_model TEXT,
    revision INTEGER NOT NULL,
    agent TEXT NOT NULL,
    agent_version TEXT NOT NULL,
    model TEXT NOT NULL,
    -- When the run ended, or arrived if its own clock is ahead.
    time_ms REAL NOT NULL,
    evaluation TEXT NOT NULL,`

/** When a row changes, the hour of its run is counted again. `OR IGNORE` would not hold in a trigger of an upsert. */
const STALE = [
  ...['runs', 'scores', 'conversation_scores'].map((table) => ({
    table,
    hours: (row: string) => `SELECT ${row}.time_ms AS ms`,
  })),
  { table: 'said', hours: (row: string) => `SELECT time_ms AS ms FROM runs WHERE trace_id = ${row}.trace_id` },
  { table: 'drawn', hours: (row: string) => `SELECT time_ms AS ms FROM runs WHERE id = ${row}.run_id` },
]
  .flatMap(({ table, hours }) =>
    [
      { on: 'INSERT', rows: ['new'] },
      { on: 'UPDATE', rows: ['old', 'new'] },
      { on: 'DELETE', rows: ['old'] },
    ].map(
      ({ on, rows }) =>
        `  CREATE TRIGGER ${table}_${on.toLowerCase()}_stale AFTER ${on} ON ${table} BEGIN\n${rows
          .map(
            (row) =>
              `    INSERT INTO stale_hours SELECT DISTINCT CAST(ms / 3600000 AS INTEGER) AS h, 0 FROM (${hours(row)}) WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = h AND NOT is_counted);\n`,
          )
          .join('')}  END;`,
    ),
  )
  .join('\n')

/** The schema of the page's database. */
export const PAGE_SCHEMA: string = `
  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    parent_id TEXT,
    agent TEXT NOT NULL,
    agent_version TEXT NOT NULL,
    service TEXT NOT NULL,
    user_id TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    start_ms REAL NOT NULL,
    end_ms REAL NOT NULL,
    -- When it arrived, by which it is deleted.
    settled_ms REAL NOT NULL,
    -- When it ended, or arrived if its own clock is ahead.
    time_ms REAL NOT NULL,
    revision INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    failed_tool_calls INTEGER NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL,
    -- The ids of the rows of \`content\` that hold its spans, as JSON.
    content_ids TEXT NOT NULL
  );
  CREATE INDEX runs_by_trace ON runs (trace_id, settled_ms);
  CREATE INDEX runs_of_user ON runs (user_id) WHERE user_id <> '';
  CREATE INDEX runs_of_service ON runs (service);
  CREATE INDEX runs_by_time ON runs (settled_ms);
  CREATE INDEX runs_by_end ON runs (time_ms, agent, parent_id, status, start_ms, end_ms, cost_usd, trace_id, model);
  -- The list reads its filters from one index and in its order, so that every combination is fast: reading
  -- 100,000 entries of an index takes some 20 ms, and looking each run up ten times as long.
  CREATE INDEX runs_listed ON runs (seq, parent_id, agent, status, model, time_ms, start_ms, end_ms, cost_usd);
  CREATE INDEX runs_of_agent ON runs (agent, seq, status, model, time_ms);
  CREATE VIRTUAL TABLE run_texts USING fts5 (text, content = '', contentless_delete = 1);

  CREATE TABLE scores (
    run_seq INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    ${SCORE}
    score_key TEXT NOT NULL,
    -- \`service\`, or \`span\` if the application made the score.
    source TEXT NOT NULL,
    run_status TEXT NOT NULL,
    is_nested INTEGER NOT NULL,
    PRIMARY KEY (run_seq, scorer)
  );
  CREATE INDEX scores_listed
    ON scores (scorer, run_seq, is_nested, agent, label, position, run_status, version, model, time_ms);
  CREATE INDEX scores_worst
    ON scores (scorer, position, run_seq DESC, is_nested, agent, label, run_status, version, model, time_ms)
    WHERE position IS NOT NULL;
  CREATE INDEX scores_failing
    ON scores (run_seq, is_nested, agent, run_status, version, model, time_ms) WHERE label = 'fail';
  CREATE INDEX scores_found ON scores (scorer, time_ms, run_seq, label) WHERE found > 0;
  CREATE INDEX scores_for_sums
    ON scores (scorer, time_ms, agent, version, agent_version, model, position, weight, label, run_seq) WHERE weight IS NOT NULL;

  -- Those that count in no mean.
  CREATE INDEX scores_unscored ON scores (scorer, time_ms, agent, version, agent_version, model, reason, status, run_seq)
    WHERE weight IS NULL;

  -- A key and a value that several runs may have: see \`traitsOf\`.
  CREATE TABLE traits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (key, value)
  );
  CREATE TABLE run_traits (
    run_seq INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    -- Their ids, as \`,3,17,\`.
    traits TEXT NOT NULL,
    bytes INTEGER NOT NULL
  );
  CREATE INDEX run_traits_bytes ON run_traits (bytes);

  -- The runs of a service with one id of a conversation.
  CREATE TABLE conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    -- \`conversationKey\` of its runs.
    key TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL,
    service TEXT NOT NULL,
    agent TEXT NOT NULL,
    -- When its latest run ended, and when one arrived last.
    latest_ms REAL NOT NULL,
    settled_ms REAL NOT NULL,
    -- Its place in the list, the worst first: see \`rank\`.
    place REAL NOT NULL
  );
  CREATE INDEX conversations_worst ON conversations (place, seq, agent, latest_ms);
  CREATE INDEX conversations_newest ON conversations (latest_ms, seq, agent);
  CREATE INDEX conversations_by_id ON conversations (id);
  CREATE TABLE turns (
    run_seq INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    conversation INTEGER NOT NULL REFERENCES conversations (seq),
    start_ms REAL NOT NULL,
    -- Whether the user said something new.
    is_new INTEGER NOT NULL,
    -- A \`ConversationMember\`, as compressed JSON.
    member BLOB NOT NULL
  );
  CREATE INDEX turns_in_order ON turns (conversation, start_ms, run_seq, is_new);
  CREATE TABLE conversation_scores (
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    ${SCORE}
    -- The ids of the first runs of the turns that the scorer saw, as JSON.
    turns TEXT NOT NULL,
    settled_ms REAL NOT NULL,
    PRIMARY KEY (conversation, scorer)
  );
  CREATE INDEX conversation_scores_worst
    ON conversation_scores (scorer, position, conversation, agent, label, time_ms) WHERE position IS NOT NULL;
  CREATE INDEX conversation_scores_newest ON conversation_scores (scorer, time_ms, conversation, agent, label);
  CREATE INDEX conversation_scores_for_sums
    ON conversation_scores (scorer, time_ms, agent, version, agent_version, model, position, weight, label)
    WHERE weight IS NOT NULL;
  CREATE INDEX conversation_scores_by_time ON conversation_scores (settled_ms);

  -- The figures of each hour, and the hours that have to be counted again: see \`countHours\`.
  CREATE TABLE hours (
    hour INTEGER NOT NULL,
    agent TEXT NOT NULL,
    runs INTEGER NOT NULL DEFAULT 0,
    -- Those that no other run started, and of these: errors, runs with a verdict, and runs that a scorer fails.
    roots INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    judged INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    opinions INTEGER NOT NULL DEFAULT 0,
    dislikes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hour, agent)
  ) WITHOUT ROWID;
  CREATE TABLE hour_scores (
    hour INTEGER NOT NULL,
    agent TEXT NOT NULL,
    scorer TEXT NOT NULL,
    -- Those with a label. A row without one is of a scorer that gave numbers.
    runs INTEGER NOT NULL,
    labelled REAL NOT NULL,
    labelled2 REAL NOT NULL,
    failing REAL NOT NULL,
    failing2 REAL NOT NULL,
    -- *Now* adds up the hours of an agent and scorer.
    PRIMARY KEY (agent, scorer, hour)
  ) WITHOUT ROWID;
  CREATE INDEX hour_scores_by_hour ON hour_scores (hour);
  -- What a scorer that was asked gave in place of a weighted score, by reason; the reason of a score without a weight is empty.
  CREATE TABLE hour_unscored (
    hour INTEGER NOT NULL,
    agent TEXT NOT NULL,
    scorer TEXT NOT NULL,
    reason TEXT NOT NULL,
    runs INTEGER NOT NULL,
    PRIMARY KEY (hour, agent, scorer, reason)
  ) WITHOUT ROWID;
  -- How many runs there are of each class of durations, as JSON.
  CREATE TABLE hour_durations (hour INTEGER PRIMARY KEY, durations TEXT NOT NULL);
  -- An hour has two rows if something touches it while it is counted.
  CREATE TABLE stale_hours (hour INTEGER NOT NULL, is_counted INTEGER NOT NULL, PRIMARY KEY (hour, is_counted)) WITHOUT ROWID;
  CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL,
    settled_ms REAL NOT NULL,
    -- Bytes of \`spans\` once they are unpacked.
    bytes INTEGER NOT NULL,
    spans BLOB NOT NULL
  );
  CREATE INDEX content_by_trace ON content (trace_id, settled_ms);
  -- The row of \`content\` that holds a span or the log records of a span.
  CREATE TABLE stored (
    trace_id TEXT NOT NULL,
    part TEXT NOT NULL,
    content_id INTEGER NOT NULL,
    PRIMARY KEY (trace_id, part)
  ) WITHOUT ROWID;

  -- Events by users and other tools, of runs that may be there or not.
  CREATE TABLE said (
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    key TEXT NOT NULL,
    time_ms REAL NOT NULL,
    -- When it came. The time of an event is its sender's, and may be any.
    arrived_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    -- A user's: \`disliked\`, \`liked\` or \`rated\`; empty for others.
    opinion TEXT NOT NULL,
    has_comment INTEGER NOT NULL,
    log TEXT NOT NULL,
    PRIMARY KEY (trace_id, span_id, key)
  ) WITHOUT ROWID;
  CREATE INDEX said_by_opinion ON said (opinion, has_comment, trace_id) WHERE opinion <> '';
  CREATE INDEX said_by_arrival ON said (arrived_ms, bytes);

  CREATE TABLE draws (
    id INTEGER PRIMARY KEY,
    scorer TEXT NOT NULL,
    version TEXT NOT NULL,
    judged TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    probability REAL NOT NULL,
    time_ms REAL NOT NULL
  );
  CREATE TABLE drawn (
    run_id TEXT NOT NULL,
    scorer TEXT NOT NULL,
    version TEXT NOT NULL,
    judged TEXT NOT NULL,
    run_seq INTEGER NOT NULL,
    place REAL NOT NULL,
    seen_ms REAL,
    PRIMARY KEY (run_id, scorer, version)
  ) WITHOUT ROWID;
  CREATE TABLE labels (
    run_id TEXT NOT NULL,
    scorer TEXT NOT NULL,
    version TEXT NOT NULL,
    labeller TEXT NOT NULL,
    label TEXT NOT NULL,
    note TEXT NOT NULL,
    labelled_ms REAL NOT NULL,
    score_key TEXT,
    revision INTEGER NOT NULL,
    judge_model TEXT,
    judged TEXT,
    draw_probability REAL,
    PRIMARY KEY (run_id, scorer, version, labeller)
  ) WITHOUT ROWID;
${STALE}
`
