import { z } from 'zod'

import { LIMITS } from './limits.ts'
import { PREBUILT_NAMES } from './prebuilt.ts'

/** An object that takes no other keys. Its error names those that it takes. */
function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' && Array.isArray(keys)
        ? `Expected one of ${Object.keys(shape).join(', ')}, got ${keys.join(', ')}.`
        : undefined,
  })
}

/** The section `limits`. */
export const limitsSchema = strict(LIMITS)

const rate = z.number().min(0).max(1)
const scope = z.enum(['root', 'every-agent'])
const severity = z.enum(['page', 'ticket', 'off'])

const scorer = z.union([
  z.enum(PREBUILT_NAMES).describe('A prebuilt scorer with its defaults.'),
  strict({
    name: z.enum(PREBUILT_NAMES).describe('The prebuilt scorer.'),
    id: z
      .string()
      .regex(/^[a-z][a-z0-9_]*$/)
      .optional()
      .describe('Its id, if two scorers have the same name.'),
    model: z
      .union([
        z.string().min(1),
        strict({
          id: z.string().min(1).describe('<provider>/<model>; with url, the part after the first slash is sent.'),
          url: z
            .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
            .optional()
            .describe('Base URL of an API of chat completions. Its query is sent with every call.'),
          headers: z.record(z.string(), z.string()).optional().describe('Headers of every call.'),
          apiKeyFile: z.string().min(1).optional().describe('File with the API key; it may be replaced.'),
          apiKeyHeader: z
            .string()
            .min(1)
            .optional()
            .describe('Header of the key, such as api-key. Default: Authorization, with Bearer.'),
        }),
      ])
      .optional()
      .describe('The model of a judge, as <provider>/<model>, or with where it is.'),
    options: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Options of the scorer, as its documentation names them.'),
    agent: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe('Names of the agents that it scores. Default: all.'),
    scope: scope.optional().describe('root scores the outermost agent of each run, every-agent each one.'),
    sample: rate.optional().describe('Share of the runs that it scores.'),
    passAt: z.number().optional().describe("Pass mark, in the scorer's own units."),
    alerts: strict({
      target: z.number().optional(),
      on: z.enum(['passed', 'mean']).optional(),
      severity: severity.optional(),
      drop: severity.optional(),
      any: severity.optional(),
      usual: z.number().optional(),
      runsTogether: z.number().int().min(1).optional(),
    })
      .optional()
      .describe('How Prometheus alerts on its scores.'),
  }).describe('A prebuilt scorer with options.'),
])

/** A configuration of the service in YAML or JSON. */
export const configSchema = strict({
  scorers: z.array(scorer).min(1).describe('The scorers of runs.'),
  scope: scope.optional().describe('root scores the outermost agent of each run, every-agent each one. Default: root.'),
  sample: rate.optional().describe('Share of the runs that is scored. Default: 1.'),
  sampleSalt: z.string().min(1).optional().describe('Secret that decides, with the trace id, which runs are scored.'),
  upstreamProbability: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('The share of traces that samplers in front of the service keep.'),
  budget: strict({
    callsPerMinute: z.number().min(0).optional(),
    tokensPerHour: z.number().min(0).optional(),
    usdPerDay: z.number().min(0).optional(),
    share: z.number().gt(0).max(1).optional(),
  })
    .optional()
    .describe('Limits for judges, of each process. Default: 60 calls a minute, 10 US dollars a day.'),
  concurrency: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Maximum number of judge scores in progress at the same time. Default: 8.'),
  queueSize: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Maximum number of scores that wait for their turn. Default: 1000.'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Maximum milliseconds for all tries of one score. Default: 20000.'),
  metricAttributes: z
    .array(z.string().min(1))
    .optional()
    .describe('Attributes of the resource or of the agent span that are copied to metrics and events.'),
  alerts: strict({
    quiet: z
      .string()
      .regex(/^[1-9]\d{0,5}[smhd]$/)
      .optional(),
  })
    .optional()
    .describe('What Prometheus alerts on of each service: the longest time without a run, such as 2h.'),
  stripContent: z.boolean().optional().describe('Leaves content out of explanations. Default: false.'),
  emit: strict({
    explanations: z
      .enum(['all', 'code', 'none'])
      .optional()
      .describe(
        'Whose explanations and findings are sent: of all scorers, of code scorers only, or none. Default: all.',
      ),
  })
    .optional()
    .describe('What leaves the service.'),
  redact: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe(
      'Patterns in the syntax of RE2. What they match in the texts of a run becomes [redacted] for judges, on the page and in explanations.',
    ),
  handOver: z.array(z.string().min(1)).optional().describe('Names of tools that hand the user over to a person.'),
  strict: z
    .boolean()
    .optional()
    .describe('Refuses to start if the key or package of a judge is missing. Default: false.'),
  limits: limitsSchema
    .optional()
    .describe('What the service takes and holds at most. A change takes effect at the next start.'),
}).describe('Configuration of the spanscore service.')

/** A validated configuration. */
export type ServiceConfig = z.infer<typeof configSchema>

/** The JSON schema of the configuration, for editors. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(configSchema)
}
