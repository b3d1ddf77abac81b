import { readComparisonKey } from '../comparison-key.ts'
import { frozenInSteps } from '../view/frozen.ts'
import { readHoldsUnparsed } from '../view/unparsed.ts'
import { readLogMessage } from '../../spans/content/semconv-content.ts'
import { isFlat } from '../trace-span.ts'
import type { LiveSpan } from './tree-node.ts'

/** Maximum number of tool calls of a span that are read per step. */
const CALLS_OF_A_STEP = 100

/** Maximum number of log records of a span that are read per step. */
const LOGS_OF_A_STEP = 20

/** Work that is done step by step. */
type Steps = Generator<undefined, void>

/**
 * Reads the content of a large run's spans before the run is put together, in steps. Each span caches its facts. A model's input is only
 * read if the run needs it: few scorers do, but it may be the only place with the results of tool calls.
 */
export function* readAhead(spans: readonly LiveSpan[]): Steps {
  const models: LiveSpan[] = []
  let [asked, answered] = [0, 0]
  /** Models without tool calls; the next model's input may contain their calls. */
  let silent = 0
  for (const span of spans.toReversed()) {
    if (span.isOpen) continue
    yield* quietly(readContent(span))
    const calls = countOf(() => span.toolCalls)
    answered += countOf(() => (span.toolResult === undefined ? [] : [span.toolResult]))
    if (span.role === 'model') {
      models.push(span)
      asked += calls
      if (calls === 0) silent += 1
    }
    yield
  }
  if (asked <= answered && silent <= 1) return
  for (const span of models.toReversed()) {
    yield* quietly(readInput(span))
    yield
  }
}

/** A larger span is read completely before it is laid out. */
const LARGE_BYTES = 16 * 1024

/** Reads, in steps, what the layout reads of spans, and of large spans also what their run reads. */
export function* readForLayout(spans: Iterable<LiveSpan>): Steps {
  for (const span of spans) {
    if (span.isRead) continue
    span.isRead = true
    span.readLogs()
    if (span.contentBytes > LARGE_BYTES) yield* readWhole(span)
    if (span.role === 'model' || isFlat(span)) void span.input
    if (span.role === 'model') void span.toolCalls
    if (isFlat(span) && span.role === 'agent') void span.transcript
    yield
  }
}

/** Reads everything in a large span, in steps. Never throws. */
function* readWhole(span: LiveSpan): Steps {
  yield* quietly(readContent(span))
  yield* quietly(readInput(span))
}

function* readContent(span: LiveSpan): Steps {
  span.readLogs()
  const { logs } = span
  // The run of a nested agent may have read it already.
  if (span.readWith === logs) return
  for (const [index, log] of logs.entries()) {
    yield* quietly(freezeAll(readLogMessage(log)))
    if (index % LOGS_OF_A_STEP === LOGS_OF_A_STEP - 1) yield
  }
  readHoldsUnparsed(span.span)
  yield* freezeAll(span.output)
  const calls = yield* frozenInSteps(span.toolCalls)
  for (const [index, call] of calls.entries()) {
    readComparisonKey(call.arguments)
    if (index % CALLS_OF_A_STEP === CALLS_OF_A_STEP - 1) yield
  }
  readComparisonKey(yield* frozenInSteps(span.toolArguments))
  yield* freezeAll(span.toolResult)
  if (!span.isOpen) span.readWith = logs
}

/** How many there are; 0 if they cannot be read. */
function countOf(read: () => readonly unknown[]): number {
  try {
    return read().length
  } catch {
    return 0
  }
}

function* readInput(span: LiveSpan): Steps {
  yield* freezeAll(span.input)
}

function* freezeAll(value: unknown): Steps {
  yield* frozenInSteps(value)
}

/** Ends the steps if one throws: the value cannot be read, and reading it from the run throws the error. */
function* quietly(steps: Steps): Steps {
  try {
    yield* steps
  } catch {
    // Other values can still be read.
  }
}
