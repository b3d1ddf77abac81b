import type { Context } from '@opentelemetry/api'

import type { EndedSpan, OpenSpan, SpanProcessorLike } from '../../spans/sdk-types.ts'

/** Several processors as one. It calls all of them before it throws an error of one of them. */
export class CompositeProcessor implements SpanProcessorLike {
  readonly processors: readonly SpanProcessorLike[]

  constructor(processors: readonly SpanProcessorLike[]) {
    this.processors = processors
  }

  onStart(span: OpenSpan, parentContext: Context): void {
    this.#each((processor) => processor.onStart(span, parentContext))
  }

  onEnding(span: OpenSpan): void {
    this.#each((processor) => processor.onEnding?.(span))
  }

  onEnd(span: EndedSpan): void {
    this.#each((processor) => processor.onEnd(span))
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.processors.map(async (processor) => processor.forceFlush()))
  }

  async shutdown(): Promise<void> {
    await Promise.all(this.processors.map(async (processor) => processor.shutdown()))
  }

  #each(call: (processor: SpanProcessorLike) => void): void {
    let thrown: { readonly error: unknown } | undefined
    for (const processor of this.processors) {
      try {
        call(processor)
      } catch (error) {
        thrown ??= { error }
      }
    }
    if (thrown) throw thrown.error
  }
}
