import type { AgreementWithPeople, LabelledRun } from '../api.ts'
import { percent } from '../format.ts'
import { placeOf } from './place.ts'
import { markOf } from './score-mark.tsx'
import { Table, texts } from './table.tsx'

/** How well a scorer agrees with people, and their labels. */
export function AgreementTable({
  agreement,
  labelled,
  scorer,
}: {
  readonly agreement: AgreementWithPeople
  readonly labelled: readonly LabelledRun[]
  readonly scorer: string
}) {
  const { bothPass, bothFail, missed, falseAlarms, share } = agreement
  return (
    <section>
      <h2>Agreement with people</h2>
      <p>
        {share === undefined
          ? 'None of the labelled runs was drawn at random, so no agreement can be estimated for the other runs.'
          : `${scorer} agrees with people on an estimated ${percent(share.mean)} of the stored runs (95 % interval ${percent(share.interval95[0])} to ${percent(share.interval95[1])}).`}{' '}
        The table counts labels. About half of the drawn runs are ones that the scorer fails, so shares in it are not
        those of all runs.
      </p>
      <table class="agreement">
        <thead>
          <tr>
            <td />
            <th scope="col">People: pass</th>
            <th scope="col">People: fail</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Scorer: pass</th>
            <td class="number">✓ {bothPass}</td>
            <td class="number">
              ✗ {missed} <span class="muted">missed</span>
            </td>
          </tr>
          <tr>
            <th scope="row">Scorer: fail</th>
            <td class="number">
              ✗ {falseAlarms} <span class="muted">{falseAlarms === 1 ? 'false alarm' : 'false alarms'}</span>
            </td>
            <td class="number">✓ {bothFail}</td>
          </tr>
        </tbody>
      </table>
      <h2>Labelled runs</h2>
      <Table label="Labelled runs" name="labelled" heads={texts('Person', 'Scorer', 'Run', 'Note', 'Labelled by')}>
        {labelled.map((each) => (
          <tr key={`${each.run_id} ${each.labeller}`}>
            <td>
              <LabelMark label={each.label} />
            </td>
            <td>
              <LabelMark label={each.judged} />
            </td>
            <th scope="row">
              <a href={placeOf(each.run_id)}>{each.question ?? 'a run that was deleted'}</a>
            </th>
            <td class="text">
              {each.note}
              {each.draw_probability === null && <span class="mark none">not drawn: stays out of calibration</span>}
            </td>
            <td class="muted">{each.labeller}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function LabelMark({ label }: { readonly label: string | null }) {
  const { sign, tone } = markOf('scored', label)
  return (
    <span class={`mark ${tone}`}>
      <span aria-hidden="true">{sign}</span> {label ?? 'none'}
    </span>
  )
}
