import type { Calibration, JudgeIdentity } from './calibration.ts'
import { judgeName } from './calibration.ts'
import { LEAST_INFORMEDNESS } from './corrected-share.ts'
import { FALLS, PAGE_NATS, surelyReached, TICKET_NATS } from './evidence.ts'

/**
 * Writes the Prometheus rules, as YAML, that correct the verdicts of calibrated judges and raise an alert when one has drifted. They
 * belong in the folder `rules/` of `collector-config`, because they use the sums that its rules record. Only series of the
 * same version and judge model are corrected.
 */
export function calibrationRules(calibrations: readonly Calibration[]): string {
  return [
    '# Written by `spanscore calibrate`. Do not edit it: calibrate again. docs/calibration.md explains it.',
    ...calibrations.map((calibration) => `# ${comment(calibration)}`),
    'groups:',
    ...group('spanscore-calibration', '2m', [
      ...CONSTANTS.map(([name, value]) => rule(`spanscore:judge_${name}`, constants(calibrations, value))),
      rule('spanscore:judge_informedness', 'spanscore:judge_sensitivity + spanscore:judge_specificity - 1'),
      ...['1h', '1d'].flatMap(correction),
      rule(
        'spanscore:uncalibrated:1d',
        '1 + 0 * spanscore:sum_w:1d{spanscore_judge_model!=""} unless spanscore:judge_sensitivity',
      ),
    ]),
    ...canaryGroup(calibrations),
    '',
  ].join('\n')
}

const CONSTANTS: readonly (readonly [name: string, value: (calibration: Calibration) => number])[] = [
  ['sensitivity', ({ sensitivity }) => sensitivity],
  ['specificity', ({ specificity }) => specificity],
  ['sensitivity_variance', ({ sensitivityVariance }) => sensitivityVariance],
  ['specificity_variance', ({ specificityVariance }) => specificityVariance],
  ['covariance', ({ covariance }) => covariance],
]

/** A number for each series of a calibrated judge. */
function constants(calibrations: readonly Calibration[], value: (calibration: Calibration) => number): string {
  return calibrations
    .map((calibration) => `0 * spanscore:sum_w:1d{${selector(calibration)}} + ${value(calibration)}`)
    .join('\nor ')
}

/** Rogan and Gladen's correction, by the formula of `correctedShare`. */
function correction(window: string): string[] {
  const [passed, corrected] = [`spanscore:passed:${window}`, `spanscore:corrected_passed:${window}`]
  const variance = `spanscore:corrected_passed_variance:${window}`
  const n = `(spanscore:sum_w:${window} ^ 2 / spanscore:sum_w2:${window})`
  return [
    rule(
      corrected,
      `clamp((${passed} + spanscore:judge_specificity - 1) / (spanscore:judge_informedness >= ${LEAST_INFORMEDNESS}), 0, 1)`,
    ),
    rule(
      variance,
      [
        '(',
        `  ${passed} * (1 - ${passed}) / ${n}`,
        `  + ${corrected} ^ 2 * spanscore:judge_sensitivity_variance`,
        `  + (1 - ${corrected}) ^ 2 * spanscore:judge_specificity_variance`,
        `  - 2 * ${corrected} * (1 - ${corrected}) * spanscore:judge_covariance`,
        ') / spanscore:judge_informedness ^ 2',
      ].join('\n'),
    ),
    rule(`spanscore:corrected_passed_lower:${window}`, `clamp_min(${corrected} - 1.96 * sqrt(${variance}), 0)`),
    rule(`spanscore:corrected_passed_upper:${window}`, `clamp_max(${corrected} + 1.96 * sqrt(${variance}), 1)`),
  ]
}

const CANARY_SERIES =
  'job, gen_ai_evaluation_name, spanscore_scorer_version, spanscore_judge_model, spanscore_canary_label'

/** How long the last pass counts. A daily pass may be some hours late. */
const LAST = '30h'

function canaryGroup(calibrations: readonly Calibration[]): string[] {
  const levels = calibrations.flatMap(({ reference, ...judge }) =>
    reference === undefined
      ? []
      : (['pass', 'fail'] as const).map(
          (label) =>
            `0 * spanscore:canary_judged:last{${selector(judge)}, spanscore_canary_label="${label}"} + ${surelyReached(reference[label])}`,
        ),
  )
  if (levels.length === 0) return []
  const last = (metric: string): string => `max by (${CANARY_SERIES}) (last_over_time(${metric}[${LAST}]))`
  // Takes one value per day, so that a pass counts once, however often it was sent or scraped.
  const week = (metric: string): string =>
    `sum_over_time((max by (${CANARY_SERIES}) (last_over_time(${metric}[1d])))[7d:1d])`
  const judge =
    '{{ $labels.gen_ai_evaluation_name }} {{ $labels.spanscore_scorer_version }} ({{ $labels.spanscore_judge_model }})'
  const strongest =
    'max by (job, gen_ai_evaluation_name, spanscore_scorer_version, spanscore_judge_model) (spanscore:canary_evidence:now)'
  return group('spanscore-canary', '5m', [
    rule('spanscore:canary_judged:last', last('spanscore_canary_judged')),
    rule('spanscore:canary_agreed:last', last('spanscore_canary_agreed')),
    rule('spanscore:canary_judged:7d', week('spanscore_canary_judged')),
    rule('spanscore:canary_agreed:7d', week('spanscore_canary_agreed')),
    rule('spanscore:canary_level', levels.join('\nor ')),
    ...['last', '7d'].flatMap((window) =>
      FALLS.map((fall) => rule('spanscore:canary_evidence', evidence(fall, window), { window, fall: String(fall) })),
    ),
    rule(
      'spanscore:canary_evidence:now',
      [
        `max by (${CANARY_SERIES}) (`,
        '  spanscore:canary_evidence{window="last"}',
        // The week counts only while the last pass is bad, too, so that a repair ends the page.
        `  or spanscore:canary_evidence{window="7d"} and on (${CANARY_SERIES}) (`,
        `    max by (${CANARY_SERIES}) (spanscore:canary_evidence{window="last"}) > 0`,
        '  )',
        ')',
      ].join('\n'),
    ),
    alert('SpanscoreJudgeDrifted', `${strongest} > ${PAGE_NATS}`, 'page', {
      summary: `The judge ${judge} agrees with people less than before`,
      description:
        'Evidence of {{ $value | printf "%.0f" }} nats on the labelled runs. Its scores of live runs have changed in the same way: interpret them with care, and calibrate again.',
    }),
    alert('SpanscoreJudgeDrifting', `${strongest} > ${TICKET_NATS}`, 'ticket', {
      summary: `The judge ${judge} may agree with people less than before`,
      description: 'Evidence of {{ $value | printf "%.0f" }} nats on the labelled runs.',
    }),
  ])
}

function evidence(fall: number, window: string): string {
  const [judged, agreed] = [`spanscore:canary_judged:${window}`, `spanscore:canary_agreed:${window}`]
  const level = 'spanscore:canary_level'
  const fallen = `(${level} - ${fall} >= 0.02)`
  return [
    `(${judged} - ${agreed}) * ln((1 - ${fallen}) / (1 - ${level}))`,
    `+ ${agreed} * ln(${fallen} / ${level})`,
  ].join('\n')
}

function selector({ scorer, version, judgeModel = '' }: JudgeIdentity): string {
  return [
    `gen_ai_evaluation_name=${quoted(scorer)}`,
    `spanscore_scorer_version=${quoted(version)}`,
    `spanscore_judge_model=${quoted(judgeModel)}`,
  ].join(', ')
}

/** Quotes a text for PromQL. Names come from files and providers, so characters that YAML does not allow are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function comment(calibration: Calibration): string {
  const { labelledPass, labelledFail, from, to, sensitivity, specificity } = calibration
  const isWithheld = sensitivity + specificity - 1 < LEAST_INFORMEDNESS
  const withheld = isWithheld ? '; withheld: sensitivity + specificity - 1 is below .3' : ''
  const text = `${judgeName(calibration)}: ${labelledPass + labelledFail} labels of runs from ${day(from)} to ${day(to)}${withheld}`
  return quoted(text).slice(1, -1)
}

function day(time: string): string {
  return time.slice(0, 10)
}

function group(name: string, interval: string, rules: readonly string[]): string[] {
  return [`  - name: ${name}`, `    interval: ${interval}`, '    rules:', ...rules]
}

function rule(record: string, expression: string, labels?: Readonly<Record<string, string>>): string {
  const lines = [`      - record: ${record}`, ...block(expression)]
  return [...lines, ...(labels === undefined ? [] : mapping('labels', labels))].join('\n')
}

function alert(
  name: string,
  expression: string,
  severity: string,
  words: { readonly summary: string; readonly description: string },
): string {
  const annotations = {
    ...words,
    runbook_url: `{{ with $externalLabels.spanscore_runbook_url }}{{ . }}#${name.toLowerCase()}{{ end }}`,
  }
  return [
    `      - alert: ${name}`,
    ...block(expression),
    ...mapping('labels', { severity }),
    ...mapping('annotations', annotations),
  ].join('\n')
}

function block(expression: string): string[] {
  return ['        expr: |-', ...expression.split('\n').map((line) => `          ${line}`)]
}

/** Writes a YAML mapping. Its texts are JSON strings, which are valid YAML. */
function mapping(name: string, values: Readonly<Record<string, string>>): string[] {
  return [
    `        ${name}:`,
    ...Object.entries(values).map(([key, value]) => `          ${key}: ${JSON.stringify(value)}`),
  ]
}
