import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Forgotten, Person } from '../person.ts'

/** How often each side looks for the other's file. */
const LOOK_EVERY_MS = 250

/** How long a running service may take. */
const TIMEOUT_MS = 120_000

interface ForgetRequest {
  readonly person: Person
  readonly isCount: boolean
}

type ForgetAnswer = Forgotten | { readonly error: string }

/** The files by which a command asks the service that uses a data folder: only its owner may write there. */
const filesIn = (folder: string) => ({
  request: join(folder, 'forget-request.json'),
  answer: join(folder, 'forget-answer.json'),
})

/** Answers commands until it is stopped. @returns stops it */
export function answerForgetRequests(
  folder: string,
  forget: (person: Person, isCount: boolean) => Promise<Forgotten>,
): () => void {
  const { request, answer } = filesIn(folder)
  let isBusy = false
  const look = async (): Promise<void> => {
    if (isBusy || !existsSync(request)) return
    isBusy = true
    try {
      const { person, isCount }: ForgetRequest = JSON.parse(readFileSync(request, 'utf8'))
      rmSync(request)
      write(answer, await forget(person, isCount))
    } catch (error) {
      rmSync(request, { force: true })
      write(answer, { error: error instanceof Error ? error.message : 'unknown error' })
    }
    isBusy = false
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

/**
 * Asks the service that uses a data folder.
 *
 * @throws Error if it does not answer
 */
export async function askToForget(folder: string, person: Person, isCount: boolean): Promise<Forgotten> {
  const { request, answer } = filesIn(folder)
  rmSync(answer, { force: true })
  write(request, { person, isCount })
  for (const endMs = performance.now() + TIMEOUT_MS; performance.now() < endMs;) {
    await sleep(LOOK_EVERY_MS)
    if (!existsSync(answer)) continue
    const answered: ForgetAnswer = JSON.parse(readFileSync(answer, 'utf8'))
    rmSync(answer)
    if ('error' in answered) throw new Error(answered.error)
    return answered
  }
  rmSync(request, { force: true })
  throw new Error(`${folder}: expected an answer of the service that uses this folder, got none.`)
}

/** Written under another name first, so that nobody reads half of it. */
function write(path: string, content: ForgetRequest | ForgetAnswer): void {
  writeFileSync(`${path}.part`, JSON.stringify(content), { mode: 0o600 })
  renameSync(`${path}.part`, path)
}
