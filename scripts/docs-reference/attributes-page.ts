import { eventAttributeDocs, scoreAttributeDocs } from '../../src/emit/attribute-docs.ts'
import type { AttributeDoc } from '../../src/emit/attribute-docs.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/attributes.md`: the attributes of spans and events. */
export function attributesPage(): string {
  return page(
    'Attributes and events',
    "## On the agent's span",
    '`<id>` is the id of the scorer.',
    attributesTable(scoreAttributeDocs, 'spanscore.<id>.'),
    '## The event `gen_ai.evaluation.result`',
    "A log record with the trace and span id of the agent's span. Its time is the run's end, and its observed time is the verdict. Severity is INFO where there is a score and WARN where it failed; skipped scores have no event. Attributes that `metricAttributes` names are copied to it.",
    attributesTable(eventAttributeDocs, ''),
    '## The late span `evaluate <id>`',
    "A child of the agent's span that starts and ends at the run's end, in the scope `spanscore`, with `gen_ai.operation.name` = `evaluation`. It has the attributes of both tables.",
  )
}

function attributesTable(docs: Readonly<Record<string, AttributeDoc>>, prefix: string): string {
  return table(
    ['attribute', 'type', 'meaning'],
    Object.entries(docs).map(([name, { type, doc }]) => [code(`${prefix}${name}`), type, doc]),
  )
}
