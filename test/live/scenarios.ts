/** A tool call that the scripted model asks for, and what the program's tool does with it. */
export interface PlayedCall {
  readonly name: string
  readonly args: Readonly<Record<string, string>>
  /** What the tool returns. If absent, it returns the answer of a nested run. */
  readonly result?: unknown
  /** The message of the error that the tool throws. */
  readonly error?: string
  /** How long the tool takes, in milliseconds. @default 0 */
  readonly delayMs?: number
  /** The agent that the tool runs. */
  readonly nested?: PlayedRun
  /** The tool needs a person's approval, and the run ends before anybody gives it. */
  readonly waits?: true
}

/** One answer of the scripted model: tool calls, with an optional text, or the final text of the run. A run may end waiting for a call. */
export type Turn =
  | { readonly calls: readonly PlayedCall[]; readonly text?: string }
  | {
      readonly answer: string
      /** Why the model stopped: the reply was as long as allowed, or a filter of the provider ended it. @default it was complete */
      readonly cutOffBy?: 'length' | 'content_filter'
    }

/** A tool that takes texts. */
export interface PlayedTool {
  readonly name: string
  readonly description: string
  /** Names of its parameters. */
  readonly parameters: readonly string[]
}

/** The agent that answers: its name, system instructions and tools. */
export interface PlayedAgent {
  readonly agent: string
  readonly system: string
  readonly tools: readonly PlayedTool[]
}

/** One run of an agent, from the question to the answer. */
export interface PlayedRun extends PlayedAgent {
  readonly input: string
  readonly turns: readonly Turn[]
  /** The agent that the first turn hands over to, which all further turns belong to. */
  readonly handsOffTo?: PlayedAgent
}

/** What a program does: one run, or several at the same time. */
export interface LiveScenario {
  readonly name: string
  /** The program reads the model's answers, and returns its own, as streams. */
  readonly stream: boolean
  /** If there are several runs, each is below its own span of an HTTP server. */
  readonly runs: readonly PlayedRun[]
}

const getWeather: PlayedTool = {
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: ['city'],
}
const findTrain: PlayedTool = {
  name: 'find_train',
  description: 'The next train between two cities.',
  parameters: ['from', 'to'],
}
const search: PlayedTool = { name: 'search', description: 'Searches the library.', parameters: ['query'] }
const askLibrarian: PlayedTool = {
  name: 'ask_librarian',
  description: 'Asks the librarian a question.',
  parameters: ['question'],
}

const weatherAgent: PlayedAgent = {
  agent: 'weather_agent',
  system: 'You answer questions about weather and trains.',
  tools: [getWeather, findTrain],
}

function weatherIn(city: string, celsius: number, delayMs = 0): PlayedCall {
  return { name: 'get_weather', args: { city }, result: { city, celsius }, delayMs }
}

function weatherRun(city: string, celsius: number, delayMs = 0): PlayedRun {
  return {
    ...weatherAgent,
    input: `What is the weather in ${city}?`,
    turns: [{ calls: [weatherIn(city, celsius, delayMs)] }, { answer: `It is ${celsius} degrees in ${city}.` }],
  }
}

const question = 'Who wrote Markens Grøde?'
const librarianRun: PlayedRun = {
  agent: 'librarian_agent',
  system: 'You search the library.',
  tools: [search],
  input: question,
  turns: [
    {
      calls: [
        { name: 'search', args: { query: 'Markens Grøde' }, result: { author: 'Knut Hamsun', published: '1917' } },
      ],
    },
    { answer: 'Knut Hamsun wrote it in 1917.' },
  ],
}

/** The scenarios that every program plays. */
export const SCENARIOS: readonly LiveScenario[] = [
  { name: 'single tool', stream: false, runs: [weatherRun('Oslo', 4)] },
  {
    name: 'parallel tools',
    stream: false,
    runs: [
      {
        ...weatherAgent,
        input: 'Compare Bergen with Tromsø, and find me a train from Bergen to Oslo.',
        turns: [
          {
            // The call that is requested first ends last.
            calls: [
              weatherIn('Bergen', 9, 40),
              weatherIn('Tromsø', -3, 20),
              { name: 'find_train', args: { from: 'Bergen', to: 'Oslo' }, result: { departure: '08:03' } },
            ],
          },
          { answer: 'Bergen is 12 degrees warmer, and the train leaves at 08:03.' },
        ],
      },
    ],
  },
  {
    name: 'tool error',
    stream: false,
    runs: [
      {
        ...weatherAgent,
        input: 'What is the weather in Atlantis?',
        turns: [
          { calls: [{ name: 'get_weather', args: { city: 'Atlantis' }, error: 'no station in Atlantis' }] },
          { answer: 'I could not find Atlantis.' },
        ],
      },
    ],
  },
  {
    name: 'nested agent',
    stream: false,
    runs: [
      {
        agent: 'desk_agent',
        system: 'You pass questions on to the librarian.',
        tools: [askLibrarian],
        input: 'I should like to know who wrote Markens Grøde.',
        turns: [
          { calls: [{ name: 'ask_librarian', args: { question }, nested: librarianRun }] },
          { answer: 'The librarian says that it was Knut Hamsun, in 1917.' },
        ],
      },
    ],
  },
  { name: 'streaming', stream: true, runs: [weatherRun('Stavanger', 7)] },
  { name: 'two requests at once', stream: false, runs: [weatherRun('Kirkenes', -9, 30), weatherRun('Mandal', 11, 10)] },
]

const clerk: PlayedAgent = {
  agent: 'billing_agent',
  system: 'You look up what people owe.',
  tools: [{ name: 'get_balance', description: 'What a customer owes.', parameters: ['customer'] }],
}

/** For libraries in which an agent hands over to another. */
export const HANDOFF: LiveScenario = {
  name: 'hand-off',
  stream: false,
  runs: [
    {
      agent: 'triage_agent',
      system: 'You pass people on to who can help them.',
      tools: [],
      handsOffTo: clerk,
      input: 'What do I owe? I am customer 17.',
      turns: [
        { calls: [{ name: 'transfer_to_billing_agent', args: {} }] },
        { calls: [{ name: 'get_balance', args: { customer: '17' }, result: { euros: '12.50' } }] },
        { answer: 'You owe 12.50 euros.' },
      ],
    },
  ],
}

const cutOffBy = (name: string, reason: 'length' | 'content_filter'): LiveScenario => ({
  name,
  stream: false,
  runs: [
    {
      ...weatherAgent,
      input: 'Write about the weather in Bergen.',
      turns: [{ calls: [weatherIn('Bergen', 9)] }, { answer: 'Bergen is known for its', cutOffBy: reason }],
    },
  ],
})

/** For libraries that record why a model stopped. */
export const CUT_OFF: readonly LiveScenario[] = [
  cutOffBy('cut off', 'length'),
  cutOffBy('cut off by a filter', 'content_filter'),
]

/** For libraries in which a tool may need a person's approval. */
export const APPROVAL: LiveScenario = {
  name: 'approval',
  stream: false,
  runs: [
    {
      agent: 'files_agent',
      system: 'You keep the files in order.',
      tools: [
        { name: 'list_files', description: 'The files of a folder.', parameters: ['folder'] },
        { name: 'delete_file', description: 'Deletes a file.', parameters: ['path'] },
      ],
      input: 'Delete the report of 2019.',
      turns: [
        { calls: [{ name: 'list_files', args: { folder: 'reports' }, result: { files: ['2019.pdf', '2020.pdf'] } }] },
        { calls: [{ name: 'delete_file', args: { path: 'reports/2019.pdf' }, waits: true }] },
      ],
    },
  ],
}
