import type { AgentRun, ToolCall } from '../../src/model/agent-run.ts'
import { hashedText } from '../../src/traits/hashed-text.ts'

/** A run of a simulated support agent, and for how many runs it counts. */
export interface SimulatedRun {
  readonly run: AgentRun
  readonly fails: boolean
  readonly weight: number
  readonly turn: number
}

/** What makes runs fail. */
export interface Cause {
  readonly name: string
  /** The trait that names it, such as `app.language = de`; several if any of them does. */
  readonly traits: readonly string[]
  /** Changes what the run was made of before it runs, for runs of this share of the day. */
  readonly shape?: (plan: Plan, random: () => number) => void
  /** Whether the cause is in this run. */
  readonly hits: (plan: Plan) => boolean
  /** The failing share of these runs. */
  readonly rate: number
}

/** What a run is made of. */
export interface Plan {
  version: string
  language: 'en' | 'de' | 'fr' | 'es'
  plan: 'free' | 'team' | 'company'
  region: string
  pod: string
  topic: 'order' | 'refund' | 'invoice' | 'address' | 'password'
  model: string
  prompt: string
  tools: readonly string[]
  calls: string[]
  failed: string | undefined
  error: string
  turn: number
  inputTokens: number
  documents: number | undefined
  finish: string
  isNew: boolean
}

const TOOLS = ['search_docs', 'lookup_order', 'lookup_invoice', 'refund_payment', 'change_address', 'track_shipment']
const BRIEF = 'Help customers of the shop. Be brief.'
const WORDS = {
  en: ['please', 'where', 'what', 'about', 'with', 'have', 'need', 'help', 'today', 'since', 'still', 'when'],
  de: ['bitte', 'wo', 'meine', 'ist', 'und', 'habe', 'brauche', 'hilfe', 'heute', 'seit', 'immer', 'wann'],
  fr: ['bonjour', 'mon', 'est', 'pour', 'avec', 'besoin', 'aide', 'depuis', 'toujours', 'quand', 'votre', 'cette'],
  es: ['hola', 'donde', 'está', 'para', 'con', 'necesito', 'ayuda', 'desde', 'todavía', 'cuando', 'tengo', 'sobre'],
}
const SUBJECTS = [
  'shoes',
  'lamp',
  'table',
  'phone',
  'jacket',
  'book',
  'camera',
  'bottle',
  'chair',
  'watch',
  'bag',
  'cable',
]

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

function toPlan(random: () => number, isNew: boolean): Plan {
  const topic = pick(['order', 'order', 'order', 'refund', 'invoice', 'address', 'password'] as const, random)
  const byTopic = {
    order: ['lookup_order', 'track_shipment'],
    refund: ['lookup_order', 'refund_payment'],
    invoice: ['lookup_invoice'],
    address: ['change_address'],
    password: [],
  } as const
  const turn = Math.ceil(-Math.log(1 - random()) * 3)
  const language = pick(['en', 'en', 'en', 'en', 'de', 'de', 'fr', 'es'] as const, random)
  const hasDocuments = random() < 0.6
  return {
    version: '1.0.0',
    language,
    // Customers of one language have other plans than those of others: such traits go along with each other.
    plan: random() < (language === 'de' ? 0.7 : 0.4) ? 'free' : pick(['team', 'company'] as const, random),
    region: language === 'en' ? pick(['us-east-1', 'us-west-2'], random) : pick(['eu-west-1', 'eu-central-1'], random),
    pod: `agent-${Math.floor(random() * 12)}`,
    topic,
    model: 'gpt-5-mini',
    prompt: 'Help customers of the shop.',
    tools: TOOLS,
    calls: [...(hasDocuments ? ['search_docs'] : []), ...byTopic[topic].filter(() => random() < 0.9)],
    failed: undefined,
    error: '',
    turn,
    inputTokens: Math.round(400 * turn * (0.5 + random()) + (random() < 0.05 ? 6000 : 0)),
    documents: hasDocuments ? Math.floor(random() * 6) : undefined,
    finish: random() < 0.01 ? 'length' : 'stop',
    isNew,
  }
}

function toRun(plan: Plan, index: number, random: () => number): AgentRun {
  const words = WORDS[plan.language]
  const question = [
    ...Array.from({ length: 6 }, () => pick(words, random)),
    plan.topic,
    pick(SUBJECTS, random),
    `word${'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]}${'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]}`,
  ].join(' ')
  const seconds = 1 + plan.calls.length * 2 * random() + random() * 6
  const startTimeMs = 1_760_000_000_000 + index * 1000
  const traceId = index.toString(16).padStart(32, '0')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Traits read these facts alone.
  return {
    id: `${traceId}:${traceId.slice(16)}`,
    traceId,
    agent: { name: 'support-agent' },
    resource: {
      'service.name': 'shop',
      'service.version': plan.version,
      'service.instance.id': `i-${index % 12}`,
      'cloud.region': plan.region,
      'k8s.pod.name': plan.pod,
    },
    attributes: {
      'app.language': plan.language,
      'app.plan': plan.plan,
      'app.customer': `c${Math.floor(random() * 200)}`,
    },
    systemInstructions: plan.prompt,
    availableTools: plan.tools.map((name) => ({ name })),
    models: [plan.model],
    toolCalls: plan.calls.map((name): Partial<ToolCall> => ({
      name,
      ...(name === plan.failed
        ? { status: 'error', error: { message: `${plan.error} after ${Math.floor(random() * 1000)} ms` } }
        : { status: 'ok' }),
    })),
    steps: Array.from({ length: plan.calls.length + 1 }, () => ({ finishReasons: [plan.finish] })),
    retrievals:
      plan.documents === undefined
        ? []
        : [{ kind: 'search', documents: Array.from({ length: plan.documents }, () => ({})) }],
    usage: { inputTokens: plan.inputTokens },
    status: 'ok',
    missing: [],
    startTimeMs,
    endTimeMs: startTimeMs + seconds * 1000,
    userInput: question,
  } as unknown as AgentRun
}

/** How a day is simulated. */
export interface Day {
  readonly runs: number
  /** The failing share of runs that no cause hits. */
  readonly rate: number
  readonly causes: readonly Cause[]
  /** The probability with which a run is scored: its weight is the inverse. */
  readonly sample?: (plan: Plan) => number
}

/** The runs of a day; the causes begin after a third of it. */
export function* simulateDay({ runs, rate, causes, sample }: Day, random: () => number): Generator<SimulatedRun> {
  for (let index = 0; index < runs;) {
    const plan = toPlan(random, index >= runs / 3)
    if (plan.isNew) for (const { shape } of causes) shape?.(plan, random)
    const probability = sample?.(plan) ?? 1
    if (random() >= probability) continue
    const hit = plan.isNew ? causes.find(({ hits }) => hits(plan)) : undefined
    yield {
      run: toRun(plan, index, random),
      fails: random() < (hit?.rate ?? rate),
      weight: 1 / probability,
      turn: plan.turn,
    }
    index += 1
  }
}

/** Twelve causes, two of them in one day. */
export const CAUSES: readonly (readonly Cause[])[] = [
  [
    {
      name: 'a version',
      traits: ['service.version = 1.1.0'],
      shape: (plan, random) => {
        if (random() < 0.5) plan.version = '1.1.0'
      },
      hits: ({ version }) => version === '1.1.0',
      rate: 0.3,
    },
  ],
  [
    {
      name: "one tool's error",
      traits: ['failed tool = lookup_invoice', 'tool error = lookup_invoice: # Bad Gateway after # ms'],
      shape: (plan, random) => {
        if (!plan.calls.includes('lookup_invoice') || random() < 0.4) return
        plan.failed = 'lookup_invoice'
        plan.error = '502 Bad Gateway'
      },
      hits: ({ failed }) => failed === 'lookup_invoice',
      rate: 0.85,
    },
  ],
  [{ name: 'a language', traits: ['app.language = de'], hits: ({ language }) => language === 'de', rate: 0.6 }],
  [{ name: "a customer's plan", traits: ['app.plan = free'], hits: ({ plan }) => plan === 'free', rate: 0.35 }],
  [
    {
      name: 'another model',
      traits: ['model = gpt-5-nano'],
      shape: (plan, random) => {
        if (random() < 0.2) plan.model = 'gpt-5-nano'
      },
      hits: ({ model }) => model === 'gpt-5-nano',
      rate: 0.5,
    },
  ],
  [
    {
      name: 'another prompt',
      traits: [`prompt = ${hashedText(BRIEF)}`],
      shape: (plan, random) => {
        if (random() < 0.4) plan.prompt = BRIEF
      },
      hits: ({ prompt }) => prompt === BRIEF,
      rate: 0.4,
    },
  ],
  [
    {
      name: 'a tool that was removed',
      traits: [`tools offered = ${hashedText(JSON.stringify(TOOLS.slice(1).map((name) => ({ name }))))}`],
      shape: (plan, random) => {
        if (random() < 0.3) plan.tools = TOOLS.slice(1)
      },
      hits: ({ tools }) => tools.length < TOOLS.length,
      rate: 0.4,
    },
  ],
  [
    {
      name: 'long conversations',
      traits: ['turn = 8 to 15', 'turn = 16 to 31'],
      hits: ({ turn }) => turn >= 8,
      rate: 0.8,
    },
  ],
  [
    {
      name: 'a full context',
      traits: ['input tokens = 4096 to 8191', 'input tokens = 8192 to 16383'],
      hits: ({ inputTokens }) => inputTokens >= 4096,
      rate: 0.8,
    },
  ],
  [
    {
      name: 'a region',
      traits: ['cloud.region = eu-central-1'],
      hits: ({ region }) => region === 'eu-central-1',
      rate: 0.4,
    },
  ],
  [
    {
      name: 'a retriever that finds nothing',
      traits: ['documents found = 0'],
      hits: ({ documents }) => documents === 0,
      rate: 0.7,
    },
  ],
  [
    {
      name: 'two at once: a language',
      traits: ['app.language = fr', 'k8s.pod.name = agent-3'],
      hits: ({ language }) => language === 'fr',
      rate: 0.7,
    },
    { name: 'two at once: a pod', traits: [], hits: ({ pod }) => pod === 'agent-3', rate: 0.9 },
  ],
]

/** Ways to sample: all runs, by plan, and by language. The last two have unequal weights. */
export const SAMPLES: readonly Day['sample'][] = [
  undefined,
  ({ plan }) => (plan === 'company' ? 1 : 0.2),
  ({ language }) => (language === 'en' ? 0.1 : 1),
]
