import type { Agreement, LabelledRun } from '../api.ts'
import { percent } from '../format.ts'
import { placeOf } from './place.ts'

/** How a scorer agrees with people, and what they said. */
export function AgreementTable({
  agreement,
  labelled,
  scorer,
}: {
  readonly agreement: Agreement
  readonly labelled: readonly LabelledRun[]
  readonly scorer: string
}) {
  const { bothPass, bothFail, missed, falseAlarms, share } = agreement
  return (
    <section>
      <h2>Agreement</h2>
      <p>
        {share === undefined
          ? 'No labelled run was drawn, so nothing can be said of the others.'
          : `${scorer} agrees with people on ${percent(share.mean)} of its runs (95 % interval ${percent(share.interval95[0])} to ${percent(share.interval95[1])}).`}
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
              ✗ {falseAlarms} <span class="muted">false alarms</span>
            </td>
            <td class="number">✓ {bothFail}</td>
          </tr>
        </tbody>
      </table>
      <h2>Labelled runs</h2>
      <ol class="labelled">
        {labelled.map((each) => (
          <li key={`${each.run_id} ${each.labeller}`}>
            <a href={placeOf(each.run_id)}>{each.question ?? 'a run that was deleted'}</a>
            <span class={`mark ${each.label}`}>{each.label === 'pass' ? '✓' : '✗'} person</span>
            <span class={`mark ${each.judged ?? 'none'}`}>
              {each.judged === 'pass' ? '✓' : each.judged === 'fail' ? '✗' : '–'} scorer
            </span>
            {each.draw_probability === null && <span class="mark none">not drawn: stays out of calibration</span>}
            <span class="muted">{each.note}</span>
          </li>
        ))}
      </ol>
      <p class="muted">
        Export labels and runs, and calibrate the scorer with them:{' '}
        <code>
          npx spanscore calibrate runs-{scorer}.jsonl --labels labels-{scorer}.jsonl
        </code>
      </p>
    </section>
  )
}
