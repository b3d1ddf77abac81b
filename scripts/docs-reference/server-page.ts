import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { code, page, table } from './markdown.ts'

/** `docs/reference/server.md`: the command line and the metrics of `@spanscore/server`. */
export function serverPage(): string {
  return page(
    'Server',
    '[The service](../service.md) and [workers on Kafka](../scale.md) are one program, `spanscore-server`.',
    '## Command line',
    `\`\`\`text\n${help()}\n\`\`\``,
    '## Metrics',
    'They go to the same endpoint as the scores, with `service.name` = `spanscore`. [Metrics of scores](metrics.md) are sent as well.',
    '### Of the service',
    metricTable('server/src/send/service-metrics.ts'),
    '### Of a worker',
    metricTable('server/src/send/worker-metrics.ts'),
  )
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
