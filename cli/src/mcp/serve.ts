import { once } from 'node:events'

import { serveStdio } from '@modelcontextprotocol/server/stdio'

import type { OtlpSummary } from '../../../src/otlp/read-runs.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { createBackfill } from '../backfill/backfill.ts'
import type { BackfillItem } from '../backfill/backfill.ts'
import type { CommandContext } from '../command.ts'
import { describeCount, readFiles } from '../read-files.ts'
import { readVersion } from '../read-version.ts'
import type { ScoreOptions } from '../score/score-options.ts'
import { serverFile } from '../server-package.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { pageSource } from './http-source.ts'
import { PageClient } from './page-client.ts'
import type { PageSource } from './page-client.ts'
import { ReadSource } from './read-source.ts'
import type { RunsToRead } from './read-source.ts'
import { createMcpServer } from './server.ts'

/** The command-line options of `spanscore mcp`. */
export interface McpOptions extends Pick<ScoreOptions, 'from' | 'fromCa' | 'fromCert' | 'fromKey' | 'since' | 'query'> {
  /** The address of the page of a service. */
  readonly page?: string
  /** The file with the page's token. */
  readonly tokenFile?: string
  /** Whether answers hold texts of strangers. */
  readonly content: boolean
}

/** Serves the tools until the client closes standard input. */
export async function serveMcp(files: readonly string[], options: McpOptions, context: CommandContext): Promise<void> {
  const source = sourceOf(files, options, context)
  if (process.stdin.isTTY)
    context.stderr.write(
      'spanscore: coding agents start this command, and talk to it over standard input (docs/mcp.md)\n',
    )
  const version = readVersion()
  const page = new PageClient(source)
  const server = serveStdio(() => {
    if (source instanceof ReadSource) source.start()
    return createMcpServer(page, version, options.content)
  })
  await Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')])
  await server.close()
}

function sourceOf(files: readonly string[], options: McpOptions, context: CommandContext): PageSource {
  const { page, from, tokenFile } = options
  const given = [files.length > 0, page !== undefined, from !== undefined].filter(Boolean).length
  if (given !== 1) {
    const message = `expected one of --page, --from and files, got ${given === 0 ? 'none' : 'several'}`
    throw new UsageError(message, { showsHelp: true })
  }
  if (page !== undefined) return pageSource(page, tokenFile, context)
  if (files.includes('-')) throw new UsageError('expected files, got -: standard input belongs to the protocol')
  // Says at once that the package is missing.
  serverFile('module')
  const find = () => (from === undefined ? runsOfFiles(files, context) : runsOfBackend({ ...options, from }, context))
  return new ReadSource(find)
}

function runsOfFiles(files: readonly string[], context: CommandContext): RunsToRead {
  const { runs, summary } = readFiles(files, context)
  return { runs, files: files.map(safeLine), whyNone: () => whyNone(summary()) }
}

function runsOfBackend(options: McpOptions & { readonly from: string }, { environment }: CommandContext): RunsToRead {
  const { items, summary } = createBackfill(options, environment, Date.now())
  return { runs: runsAmong(items), files: [options.from], whyNone: () => whyNone(summary()) }
}

/** Without the error of a span, which is a text of strangers. */
function whyNone(summary: OtlpSummary | undefined): string {
  return describeCount(0, summary && { ...summary, firstFailed: undefined })
}

async function* runsAmong(items: AsyncIterable<BackfillItem>): AsyncGenerator<StoredRun> {
  for await (const item of items) if (!('doneMs' in item)) yield item
}
