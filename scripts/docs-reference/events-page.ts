import { EVENT_ATTRIBUTES } from '../../src/attributes/event-attributes.ts'
import { attributesTable } from './attributes-page.ts'
import { page } from './markdown.ts'

/** `docs/reference/events.md`: the event of a score, and the late span. */
export function eventsPage(): string {
  return page(
    'Events and late spans',
    '## The event `gen_ai.evaluation.result`',
    "A log record for each score, with the trace and span id of the agent's span. Its time is the end of the run, and its observed time is the verdict.",
    'Severity is INFO for a score and WARN for a failure. A skipped score has no event. Attributes that `metricAttributes` names are added.',
    attributesTable(EVENT_ATTRIBUTES, ''),
    '## The late span `evaluate <id>`',
    "A child of the agent's span, in the scope `spanscore`. It starts and ends at the end of the run, and has `gen_ai.operation.name` = `evaluation`.",
    "It has the attributes of the event, and those of [the agent's span](attributes.md). `emit.lateSpans` decides when it is written: for scores that are not on the agent's span, always, or never.",
    'Scores of calls have events and late spans with the ids of the spans of their calls. Of more than 64 calls, only the lowest scores have them.',
    '## Feedback',
    'The event of [feedback](../feedback.md) has name, value, label, explanation (the comment) and evaluator type of these, and `user.id`. It has the ids that were given, and the time at which it came. The service takes it for any trace, also with `200`, because the run may come later: wrong ids are never named, and their feedback is shown with no run.',
  )
}
