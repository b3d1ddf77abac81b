import { textOf } from '../../spans/json.ts'
import type { SourceSpan } from '../../spans/source-span.ts'

/** As many as an application that writes runs twice may have at once, and many more. */
const MAX_RESPONSES = 10_000

/**
 * Responses of models that AI SDK 7's own telemetry has told of. Where its legacy telemetry is on too, each run is written
 * a second time, at the top in a trace of its own: in a process, where traces are put together one by one, this tells.
 * (`dropTwins` does the same where all traces are at hand.)
 */
export class ToldResponses {
  readonly #ids = new Set<string>()

  /** To be called when a model's span has ended. */
  note({ scope, attributes }: SourceSpan): void {
    const id = scope.name === 'gen_ai' ? textOf(attributes['gen_ai.response.id']) : undefined
    if (id === undefined) return
    this.#ids.add(id)
    if (this.#ids.size <= MAX_RESPONSES) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      return
    }
  }

  /** Whether a run of the legacy telemetry is told of already: all responses of its model spans are. */
  tells(agent: SourceSpan, models: readonly SourceSpan[]): boolean {
    if (this.#ids.size === 0 || agent.scope.name !== 'ai') return false
    const ids = models.flatMap(({ scope, attributes }) =>
      scope.name === 'ai' ? (textOf(attributes['ai.response.id']) ?? []) : [],
    )
    return ids.length > 0 && ids.every((id) => this.#ids.has(id))
  }
}
