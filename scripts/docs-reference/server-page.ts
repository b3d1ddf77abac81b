import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { LIMITS } from '../../server/src/config/limits.ts'
import { code, page, table } from './markdown.ts'

const LIMITS_REACHED = `
| limit                                                 | above it                                                                                                                                             |
| ----------------------------------------------------- | ---------------------------------------------------------------------------------------------------------------------------------------------------- |
| \`logMiB\`                                           | senders come back later (503, \`UNAVAILABLE\`)                                                                                                         |
| less than 64 MiB left on the disk                     | as \`logMiB\`                                                                                                                                       |
| \`receivingMiB\`                                     | of all unanswered requests, the sender of the largest comes back later                                                                               |
| \`heldSpans\`                                    | the rest of the room is for others once four times as many spans of a service wait: its sender comes back later (503, \`UNAVAILABLE\`); from 80 % on, scored runs stop waiting for late spans, and from 50 % on, spans of a service that holds more than an equal share wait for their parent for \`--settle\` at most; if that is too little, as \`logMiB\` |
| \`--max-days\`                                          | requests are deleted, delivered or not, and counted                                                                                                  |
| \`contentMiB\`                                       | content is read from disk when its run is complete                                                                                                   |
| \`traceSpans\`, \`traceMiB\`, \`traceSeconds\` | the rest is left out and the run incomplete; an old run is scored as it is                                                                           |
`.trim()

const REFUSED = `
| what                                                                             | HTTP         | gRPC                 |
| -------------------------------------------------------------------------------- | ------------ | -------------------- |
| broken protobuf, JSON, HTTP or compression                                       | 400          | \`INVALID_ARGUMENT\`   |
| no or a wrong token                                                              | 401          | \`UNAUTHENTICATED\`    |
| \`Origin\`, or a foreign \`Host\`                                                    | 403          | \`PERMISSION_DENIED\`  |
| headers that take 10 s, or a request that takes 30 s                             | 408          | \`DEADLINE_EXCEEDED\`  |
| \`bodyMiB\`, \`decompressedMiB\` (a bomb), \`requestSpans\`, \`spanMiB\` | 413          | \`RESOURCE_EXHAUSTED\` |
| another media type or compression                                                | 415          | \`UNIMPLEMENTED\`      |
| headers of more than 16 KiB                                                      | 431          | —                    |
| \`receivingMiB\`, \`logMiB\`, \`heldSpans\`, a full disk                  | 503          | \`UNAVAILABLE\`        |
| \`connections\` for each protocol, if none is idle                           | not accepted | not accepted         |
`.trim()

/** `docs/reference/server.md`: the command line, the limits and the metrics of `@spanscore/server`. */
export function serverPage(): string {
  return page(
    'Server',
    '[The service](../service.md) and [workers on Kafka](../scale.md) are one program, `spanscore-server`.',
    '## Command line',
    `\`\`\`text\n${help()}\n\`\`\``,
    '## Limits',
    'The section `limits` of the configuration file sets them: `limits: { heldSpans: 500000 }`. They take effect at the next start.',
    limitTable(),
    'What happens above them:',
    LIMITS_REACHED,
    '## Refused requests',
    REFUSED,
    'A request with some spans that are too large is taken without them, and the answer says how many were left out. JSON is also refused (413) above 210 values for each span that `requestSpans` allows.',
    '## Metrics',
    'They go to the same endpoint as the scores, with `service.name` = `spanscore`. [Metrics of scores](metrics.md) are sent as well.',
    '### Of the service',
    metricTable('server/src/send/service-metrics.ts'),
    '### Of a worker',
    metricTable('server/src/send/worker-metrics.ts'),
  )
}

function limitTable(): string {
  const rows = Object.entries(LIMITS).map(([name, { description = '' }]) => {
    const [meaning = '', byDefault = ''] = description.split(' Default: ')
    return [code(name), byDefault.replace(/\.$/, ''), meaning]
  })
  return table(['limit', 'default', 'meaning'], rows)
}

/** The help, from a separate process, because the program reads its arguments when it is loaded. */
function help(): string {
  const environment = { PATH: process.env['PATH'], NO_COLOR: '1', NODE_NO_WARNINGS: '1' }
  return execFileSync(process.execPath, ['server/src/main.ts', '--help'], { env: environment, encoding: 'utf8' }).trim()
}

/** The instruments that a file creates with its functions `counter` and `gauge`, in its order. */
function metricTable(file: string): string {
  const text = readFileSync(file, 'utf8')
  const prefix = /createObservableCounter\(`([\w.]+)\./.exec(text)?.[1]
  const [, ...calls] = text.split(/\n {4}(?=(?:counter|gauge)\()/)
  const rows = calls.map((call) => {
    const [, kind, name, description, unit] =
      /^(counter|gauge)\(\s*'(\w+)',\s*'([^']+)',\s*(?:'([^']+)',)?/.exec(call) ?? []
    if (kind === undefined || name === undefined || description === undefined) {
      throw new Error(`expected ${file} to name and describe its metric in ${call.slice(0, 60)}`)
    }
    const keys = [...call.matchAll(/\.observe\([^{}]*\{([^}]+)\}/g)].flatMap(([, object = '']) =>
      [...object.matchAll(/(?:^|,)\s*(\w+)/g)].flatMap(([, key]) => key ?? []),
    )
    return [code(`${prefix}.${name}`), kind, code(unit ?? '1'), description, [...new Set(keys)].map(code).join(', ')]
  })
  return table(['metric', 'kind', 'unit', 'meaning', 'attributes'], rows)
}
