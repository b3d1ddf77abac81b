/** A folder of the source. */
export interface Room {
  /** What is in it, for ARCHITECTURE.md. */
  readonly holds: string
  /** The folders beside it from which it may import. */
  readonly knows: readonly string[]
  /** The folders in it, by their names. Its own files may import from all of them. */
  readonly inside?: Readonly<Record<string, Room>>
}

/** The folders of `src/`, in the order in which data goes through them. */
export const ROOMS: Readonly<Record<string, Room>> = {
  model: { holds: 'the values that users see: `AgentRun`, its messages, `Score` and `Evaluation`', knows: [] },
  spans: {
    holds: 'the facts of one span',
    knows: ['model'],
    inside: {
      content: { holds: 'messages and tools, in the forms in which libraries write them', knows: ['dialects'] },
      dialects: { holds: 'what each library writes: one file or folder a library', knows: ['content'] },
    },
  },
  runs: {
    holds: 'how spans become runs',
    knows: ['model', 'spans'],
    inside: {
      buffer: { holds: 'the trees of traces, and when they are laid out', knows: ['layout', 'view'] },
      layout: { holds: 'which spans are one run', knows: ['view'] },
      view: { holds: 'the run that users read', knows: ['layout'] },
    },
  },
  attributes: {
    holds: 'a score as attributes of spans and events: written and documented, and each read back',
    knows: ['model', 'spans', 'sampling'],
  },
  conversations: {
    holds: 'how runs with one id become a conversation, and a conversation a run that can be scored',
    knows: ['model', 'spans', 'runs', 'attributes'],
  },
  otlp: {
    holds: 'trace files (OTLP, Jaeger, Tempo; compressed or not), the runs in them, and their scores',
    knows: ['model', 'spans', 'runs', 'attributes', 'sampling'],
  },
  sampling: { holds: 'rates, inclusion probabilities, budgets', knows: ['model', 'spans', 'runs'] },
  scoring: {
    holds: 'what a scorer is, evaluation, work in the background, the ledger',
    knows: ['model', 'spans', 'runs', 'conversations', 'sampling'],
    inside: { given: { holds: 'makes a run of what `.run()` was given', knows: [] } },
  },
  judge: {
    holds: 'asking a model',
    knows: ['model', 'spans', 'runs', 'scoring'],
    inside: {
      prompt: { holds: 'what is asked', knows: [] },
      transport: { holds: 'the call: keys, endpoint, tries, cost', knows: ['prompt'] },
      reply: { holds: 'what was answered', knows: ['transport'] },
    },
  },
  scorers: {
    holds: 'the scorers',
    knows: ['model', 'spans', 'runs', 'scoring', 'judge'],
    inside: {
      code: { holds: 'prebuilt ones by code', knows: [] },
      judge: { holds: 'prebuilt ones by judge', knows: [] },
      create: { holds: '`createScorer`', knows: ['code', 'judge'] },
    },
  },
  traits: {
    holds: 'what a run may share with others, and what failing runs have in common',
    knows: ['model', 'spans', 'scoring'],
  },
  cases: {
    holds:
      'what people say of runs: labels, and questions that an agent answered badly with what is expected of the next answer',
    knows: ['model', 'spans', 'scoring', 'scorers'],
  },
  adapters: {
    holds: 'scorers of Mastra, autoevals and openevals as scorers of ours',
    knows: ['model', 'spans', 'runs', 'scoring', 'scorers'],
  },
  emit: {
    holds: 'one evaluation, written as event, late span, metrics',
    knows: ['model', 'spans', 'runs', 'attributes', 'conversations', 'sampling', 'scoring', 'traits'],
  },
  engine: {
    holds: '`Engine`, which takes a run and a target for its scores: sampling, admission, tasks',
    knows: ['model', 'spans', 'runs', 'attributes', 'conversations', 'sampling', 'scoring', 'emit'],
    inside: {
      config: { holds: 'the options and the environment', knows: [] },
      notices: { holds: 'the codes of notices, and what they say', knows: [] },
    },
  },
  processor: {
    holds: 'the spans of a process',
    knows: ['model', 'spans', 'runs', 'attributes', 'sampling', 'scoring', 'emit', 'engine'],
    inside: {
      attach: { holds: 'the ways in', knows: ['deliver'] },
      deliver: { holds: 'writes scores, and hands spans on', knows: ['attach', 'notices'] },
      checks: { holds: 'mistakes in the set-up: code, when, cure', knows: [] },
      notices: { holds: 'mistakes that only a running process shows', knows: ['attach', 'checks'] },
    },
  },
  testing: {
    holds: '`spanscore/testing`: builders, scripted judges and servers',
    knows: ['model', 'spans', 'runs', 'otlp', 'scoring', 'judge', 'scorers', 'cases'],
  },
  entries: {
    holds: "the package's entry points: lists of exports, nothing else",
    knows:
      'model spans runs attributes conversations otlp sampling scoring judge scorers traits cases emit adapters engine processor testing'.split(
        ' ',
      ),
  },
}

/** The folders of `cli/src/`, the command line. */
export const CLI_ROOMS: Readonly<Record<string, Room>> = {
  commands: {
    holds: 'a file for each command',
    knows: ['calibrate', 'canary', 'cases', 'common', 'doctor', 'judge-check', 'mcp', 'score'],
  },
  score: {
    holds: '`score`: runs of files through the scorers, gates and reports',
    knows: ['backfill', 'cases', 'common'],
  },
  common: { holds: '`common`: what failing runs share', knows: ['backfill'] },
  backfill: {
    holds: '`score --from` and `--to`: stored traces of backends by time, and where their scores go',
    knows: ['score'],
  },
  cases: { holds: '`cases`, and what became of them', knows: ['backfill', 'calibrate', 'mcp', 'score'] },
  calibrate: { holds: '`calibrate`', knows: ['calibration', 'canary'] },
  calibration: { holds: 'what labels say of a judge, and rules that correct for it', knows: [] },
  canary: { holds: '`canary`', knows: ['calibrate', 'calibration', 'score'] },
  'judge-check': { holds: '`judge-check`', knows: ['score'] },
  mcp: {
    holds: '`mcp`: tools that answer coding agents from the page',
    knows: ['backfill', 'score'],
  },
  doctor: { holds: '`doctor`: what an application has set up, and what its files say', knows: [] },
}

/** The folders of `server/src/`. Its own files connect them. */
export const SERVER_ROOMS: Readonly<Record<string, Room>> = {
  receive: {
    holds: 'OTLP over gRPC and HTTP: who may send, how much, and what is wrong with a request',
    knows: ['log', 'otlp', 'traces'],
  },
  log: { holds: 'requests in protobuf, in memory or in SQLite, and the state of each span in them', knows: ['traces'] },
  traces: { holds: 'the spans of open traces, and which of them make a run that is complete', knows: ['log'] },
  conversations: {
    holds: 'which conversations are open, and scoring those that are over',
    knows: ['log', 'score', 'send'],
  },
  forget: {
    holds:
      'deleting what is kept of somebody: on the page, on the log, in conversations, and the command that asks for it',
    knows: ['config', 'log', 'page', 'receive'],
  },
  score: {
    holds: 'runs before the scorers, and ids that follow from the spans of a run',
    knows: ['log', 'receive', 'send', 'traces'],
  },
  send: {
    holds: 'exporters that say whether a batch was acknowledged, the outbox, requests passed on, metrics',
    knows: ['kafka', 'log', 'otlp', 'receive', 'traces'],
  },
  otlp: { holds: 'the writer of protobuf that receiving and sending share', knows: [] },
  kafka: {
    holds:
      'workers: a partition of Kafka as a log, with the state of each message in the commit; group, clock, fetching',
    knows: ['log', 'receive', 'traces'],
  },
  config: { holds: 'YAML and JSON for prebuilt scorers, modules for others', knows: [] },
  page: {
    holds: 'the page: a thread with its API, and runs in progress',
    knows: ['config', 'log', 'receive', 'score', 'traces'],
    inside: { store: { holds: 'its database', knows: [] } },
  },
}
