import { eventAttributeDocs } from '../../src/emit/attribute-docs.ts'
import { attributesTable } from './attributes-page.ts'
import { page } from './markdown.ts'

/** `docs/reference/events.md`: the event of a score, and the late span. */
export function eventsPage(): string {
  return page(
    'Events and late spans',
    '## The event `gen_ai.evaluation.result`',
    "A log record for each score, with the trace and span id of the agent's span. Its time is the end of the run, and its observed time is the verdict.",
    'Severity is INFO for a score and WARN for a failure. A skipped score has no event. Attributes that `metricAttributes` names are added.',
    attributesTable(eventAttributeDocs, ''),
    '## The late span `evaluate <id>`',
    "A child of the agent's span, in the scope `spanscore`. It starts and ends at the end of the run, and has `gen_ai.operation.name` = `evaluation`.",
    "It has the attributes of the event, and those of [the agent's span](attributes.md). `emit.lateSpans` decides when it is written: for scores that are not on the agent's span, always, or never.",
    '## Feedback',
    'The event of [feedback](../feedback.md) has name, value, label, explanation (the comment) and evaluator type of these, and `user.id`. It has the ids that were given, and the time at which it came.',
    '## From the service',
    'The service adds two attributes to both. `spanscore.score.id` is the same for the same scorer and spans. `spanscore.score.key` is the same for all revisions of a score: the highest `spanscore.revision` counts. [service.md](../service.md) explains both.',
  )
}
