import { Writable } from 'node:stream'

import { runCli } from '../../cli/src/run-cli.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'

/**
 * The runs that `spanscore inspect --json` prints for the files; none if there are no files.
 *
 * @throws Error if a record is damaged, or a file cannot be read
 */
export async function inspect(files: readonly string[]): Promise<AgentRun[]> {
  if (files.length === 0) return []
  const printed: string[] = []
  const problems: string[] = []
  const exitCode = await runCli(['inspect', ...files, '--json'], {
    stdin: process.stdin,
    stdout: collectInto(printed),
    stderr: collectInto(problems),
    environment: {},
  })
  if (exitCode !== 0) throw new Error(`inspect ended with ${exitCode}: ${problems.join('')}`)
  const { runs } = JSON.parse(printed.join('')) as { runs: AgentRun[] }
  return runs
}

function collectInto(texts: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      texts.push(String(chunk))
      done()
    },
  })
}
