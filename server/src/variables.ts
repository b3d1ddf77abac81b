import { optionVariables, readOptionVariables } from 'spanscore/engine'
import type { EnvironmentOptions } from 'spanscore/engine'

type Environment = Readonly<Record<string, string | undefined>>

/** What the service does with a variable. */
export interface ServiceVariable {
  readonly name: string
  /** False for one that the service ignores; `doc` then gives the reason. */
  readonly isUsed: boolean
  readonly doc: string
  /** The values that it takes. Any other one stops the start. @default all */
  readonly takes?: readonly string[]
}

const used = (name: string, doc: string, takes?: readonly string[]): ServiceVariable => ({
  name,
  isUsed: true,
  doc,
  ...(takes !== undefined && { takes }),
})
const unused = (name: string, doc: string): ServiceVariable => ({ name, isUsed: false, doc })

const SIGNALS = ['TRACES', 'LOGS', 'METRICS']
const OF_A_SIGNAL = [
  'HEADERS',
  'PROTOCOL',
  'COMPRESSION',
  'TIMEOUT',
  'CERTIFICATE',
  'CLIENT_CERTIFICATE',
  'CLIENT_KEY',
  'INSECURE',
]

/** Options of scoring that have no meaning in the service. */
const NOT_IN_SERVICE = new Set(['SPANSCORE_MEMORY_BYTES'])

/** The variables that the service knows, besides those of options. Options of the command line replace them. */
export const serviceVariables: readonly ServiceVariable[] = [
  used('SPANSCORE_SERVER_TOKEN', 'The token of senders, without `--token-file`. It does not rotate.'),
  used('SPANSCORE_KAFKA_PASSWORD', 'The password of a worker, without `--kafka-password-file`.'),
  used('SPANSCORE_OPENAI_API_KEY', 'The API key of judges at OpenAI. It overrides `OPENAI_API_KEY`.'),
  used('SPANSCORE_OPENAI_BASE_URL', 'The base URL of judges whose model id begins with `openai/`.'),
  used('PHOENIX_API_KEY', 'The key for `--phoenix`.'),
  used('OTEL_EXPORTER_OTLP_HEADERS', 'Headers for `--to`.'),
  used('OTEL_EXPORTER_OTLP_PROTOCOL', 'Scores are sent in this protocol, and in no other.', ['http/protobuf']),
  used('OTEL_EXPORTER_OTLP_COMPRESSION', 'Compression of scores and metrics.', ['gzip', 'none']),
  used('OTEL_EXPORTER_OTLP_CERTIFICATE', 'As `--to-ca`.'),
  used('OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', 'As `--to-cert`.'),
  used('OTEL_EXPORTER_OTLP_CLIENT_KEY', 'As `--to-key`.'),
  used('OTEL_RESOURCE_ATTRIBUTES', "Attributes of the service's own metrics."),
  unused('OTEL_EXPORTER_OTLP_ENDPOINT', 'the destination is --to'),
  ...SIGNALS.map((signal) => unused(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'the destination is --to')),
  ...SIGNALS.flatMap((signal) =>
    OF_A_SIGNAL.map((name) => unused(`OTEL_EXPORTER_OTLP_${signal}_${name}`, 'all signals have one destination')),
  ),
  unused('OTEL_EXPORTER_OTLP_TIMEOUT', 'a try takes at most 10 seconds'),
  unused('OTEL_EXPORTER_OTLP_INSECURE', 'the URL of --to says whether it is https'),
  unused(
    'OTEL_SERVICE_NAME',
    'service.name of its own metrics is spanscore, and scores have that of the scored service',
  ),
  unused('OTEL_SDK_DISABLED', 'the service is no OpenTelemetry SDK'),
  unused('SPANSCORE_CONFIG', 'the file is given by --config'),
  unused('SPANSCORE_DISABLED', 'it is read inside applications'),
  unused('SPANSCORE_LOG', 'it is read inside applications'),
  unused('SPANSCORE_MEMORY_BYTES', 'it is read inside applications, and the service has limits.contentMiB'),
  unused('SPANSCORE_FROM_HEADERS', 'it is read by spanscore score'),
]

const known = new Map(serviceVariables.map((each) => [each.name, each]))
const ofOptions = new Set(optionVariables.map(({ variable }) => variable))

/** Kubernetes adds these for each Service in a namespace, also for one named spanscore: `SPANSCORE_PORT=tcp://10.0.0.7:4318` and parts of it. */
function isServiceLink(name: string, value: string): boolean {
  return /_SERVICE_HOST$|_SERVICE_PORT(?:_|$)|_PORT_\d+_/.test(name) || /^(?:tcp|udp|sctp):\/\//.test(value)
}

/**
 * Checks the variables, and deletes those that are not used, so that no library uses them.
 *
 * @param report receives a line for each that is not used, with the reason
 * @throws Error if one that is used has a wrong value
 */
export function checkVariables(environment: Record<string, string | undefined>, report: (line: string) => void): void {
  scoringVariables(environment)
  for (const name of Object.keys(environment).toSorted()) {
    const value = environment[name]?.trim() ?? ''
    if (value === '' || !/^(?:OTEL|SPANSCORE)_/.test(name) || (ofOptions.has(name) && !NOT_IN_SERVICE.has(name)))
      continue
    const { isUsed, doc, takes } = known.get(name) ?? unused(name, 'the service does not know it')
    if (takes?.includes(value) === false)
      throw new Error(`${name}: expected ${takes.join(' or ')}, got ${value}. ${doc}`)
    if (isUsed) continue
    delete environment[name]
    if (!isServiceLink(name, value)) report(`${name} is not used: ${doc}.`)
  }
}

/**
 * The options of scoring that variables set. They replace those of the configuration.
 *
 * @throws Error if one has a wrong value
 */
export function scoringVariables(environment: Environment = process.env): EnvironmentOptions {
  const { memoryBytes: _, ...options } = readOptionVariables(environment, (what) => {
    throw new Error(`${what}. Correct the variable, or leave it out.`)
  })
  return options
}
