import type { ResolvedOptions } from './options.ts'

/**
 * A conversation goes on for hours, over several processes: a process or a worker that sees a part of it would score an abandoned one.
 *
 * @param where what refuses such scorers: `the processor`
 * @throws TypeError if a scorer scores conversations
 */
export function refuseConversations({ scorers }: Pick<ResolvedOptions, 'scorers'>, where: string): void {
  for (const [index, { id, about }] of scorers.entries()) {
    if (about.level !== 'conversation') continue
    throw new TypeError(
      `options.scorers[${index}]: expected a scorer of runs or calls, got ${id}, which scores conversations. ${where} sees only parts of them. Conversations are scored by the service (spanscore-server), by spanscore score, and by .run().`,
    )
  }
}
