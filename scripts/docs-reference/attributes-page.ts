import type { AttributeDoc } from '../../src/attributes/attribute-table.ts'
import { SCORE_ATTRIBUTES } from '../../src/attributes/score-attributes.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/attributes.md`: the attributes of the agent's span. */
export function attributesPage(): string {
  return page(
    'Attributes',
    "Scores are attributes of the agent's span. `<id>` is the id of the scorer. [Events and late spans](events.md) have attributes of their own.",
    attributesTable(SCORE_ATTRIBUTES, 'spanscore.<id>.'),
    "Beside them the agent's span has `spanscore.complete` and `spanscore.revision`.",
  )
}

/** A table of documented attributes. */
export function attributesTable(docs: Readonly<Record<string, AttributeDoc>>, prefix: string): string {
  return table(
    ['attribute', 'type', 'meaning'],
    Object.entries(docs).map(([name, { type, doc }]) => [code(`${prefix}${name}`), type, doc]),
  )
}
