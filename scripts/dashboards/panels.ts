/** The few kinds of panels and variables that the dashboards are made of, each with its title, unit and description. */
import * as common from '@grafana/grafana-foundation-sdk/common'
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap'
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus'
import * as stat from '@grafana/grafana-foundation-sdk/stat'
import * as table from '@grafana/grafana-foundation-sdk/table'
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'

/** The uid of the provisioned data source. */
const source = { type: 'prometheus', uid: 'prometheus' }

/** The texts of every panel. */
export interface PanelText {
  readonly title: string
  readonly description: string
  /** Grafana's name of a unit: `percentunit`, `s`, `currencyUSD`, `short`. */
  readonly unit: string
  /** Columns of 24, and rows. */
  readonly size: readonly [width: number, height: number]
}

/** PromQL, and the name of its series. */
export type Line = readonly [expression: string, legend: string]

const query = (expression: string, legend: string, index: number) =>
  new prometheus.DataqueryBuilder()
    .datasource(source)
    .refId(String.fromCodePoint(65 + index))
    .expr(expression)
    .legendFormat(legend)

/** Green below the first limit, orange from it, red from the second. */
export const limits = (orange: number, red: number): dashboard.ThresholdsConfig => ({
  mode: dashboard.ThresholdsMode.Absolute,
  steps: [
    { value: null, color: 'green' },
    { value: orange, color: 'orange' },
    { value: red, color: 'red' },
  ],
})

/** One large figure of now, with the name of its series and its course. */
export function figure(text: PanelText, line: Line, colours?: dashboard.ThresholdsConfig): stat.PanelBuilder {
  const panel = new stat.PanelBuilder()
    .title(text.title)
    .description(text.description)
    .unit(text.unit)
    .decimals(text.unit === 'short' ? 0 : 1)
    .span(text.size[0])
    .height(text.size[1])
    .datasource(source)
    .noValue('none')
    .textMode(line[1] === '' ? common.BigValueTextMode.Value : common.BigValueTextMode.ValueAndName)
    .graphMode(common.BigValueGraphMode.None)
    .colorMode(colours === undefined ? common.BigValueColorMode.None : common.BigValueColorMode.Background)
    .withTarget(query(...line, 0).instant())
  return colours === undefined ? panel : panel.thresholds({ build: () => colours })
}

/** Lines over time, from 0. */
export function lines(text: PanelText, targets: readonly Line[]): timeseries.PanelBuilder {
  const panel = new timeseries.PanelBuilder()
    .title(text.title)
    .description(text.description)
    .unit(text.unit)
    .min(0)
    .span(text.size[0])
    .height(text.size[1])
    .datasource(source)
    .lineWidth(2)
    .fillOpacity(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull'])
        .sortBy('Last *')
        .sortDesc(true),
    )
  targets.forEach(([expression, legend], index) => panel.withTarget(query(expression, legend, index).range()))
  return panel
}

/** One row for each set of labels, a column for each expression, with the current values. */
export function rows(
  text: PanelText,
  columns: readonly Line[],
  labels: Readonly<Record<string, string>>,
): table.PanelBuilder {
  const panel = new table.PanelBuilder()
    .title(text.title)
    .description(text.description)
    .unit(text.unit)
    .decimals(2)
    .span(text.size[0])
    .height(text.size[1])
    .datasource(source)
  columns.forEach(([expression], index) =>
    panel.withTarget(query(expression, '', index).instant().format(prometheus.PromQueryFormat.Table)),
  )
  const names = Object.fromEntries(
    columns.map(([, name], index) => [`Value #${String.fromCodePoint(65 + index)}`, name]),
  )
  const single = columns.length === 1 ? { Value: columns[0]?.[1] } : {}
  return panel.withTransformation({ id: 'merge', options: {} }).withTransformation({
    id: 'organize',
    options: {
      excludeByName: { Time: true, __name__: true },
      renameByName: { ...labels, ...names, ...single },
    },
  })
}

/** The distribution of scores over time. */
export function spread(text: PanelText, [expression, legend]: Line): heatmap.PanelBuilder {
  return new heatmap.PanelBuilder()
    .title(text.title)
    .description(text.description)
    .unit(text.unit)
    .span(text.size[0])
    .height(text.size[1])
    .datasource(source)
    .withTarget(query(expression, legend, 0).range().format(prometheus.PromQueryFormat.Heatmap))
}

/** A variable with the values of a label. */
export function choice(
  name: string,
  title: string,
  label: string,
  metric: string,
  several: boolean,
): dashboard.QueryVariableBuilder {
  const variable = new dashboard.QueryVariableBuilder(name)
    .label(title)
    .datasource(source)
    .query({ qryType: 1, query: `label_values(${metric}, ${label})`, refId: name })
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of a builder, not of an array
    .sort(dashboard.VariableSort.AlphabeticalAsc)
  return several
    ? variable.multi(true).includeAll(true).allValue('.*').current({ text: 'All', value: '$__all' })
    : variable
}

/** A variable with an address that links begin with. */
export const address = (name: string, title: string, byDefault: string): dashboard.TextBoxVariableBuilder =>
  new dashboard.TextBoxVariableBuilder(name).label(title).defaultValue(byDefault)

/** Marks where a version of a service began: most falls begin with one. */
export function newReleases(): dashboard.AnnotationQueryBuilder {
  const versions = 'count by (job, service_version) (spanscore_runs_total{service_version!=""}'
  return new dashboard.AnnotationQueryBuilder()
    .name('New releases')
    .datasource(source)
    .enable(true)
    .iconColor('blue')
    .expr(`${versions}) unless ${versions} offset 10m)`)
    .step('5m')
    .titleFormat('{{job}} {{service_version}}')
}

/** Marks where scores of a new version of a scorer, or of another judge model, begin: they are not compared with those before. */
export function newVersions(): dashboard.AnnotationQueryBuilder {
  return new dashboard.AnnotationQueryBuilder()
    .name('New versions')
    .datasource(source)
    .enable(true)
    .iconColor('purple')
    .expr('spanscore:sum_w:1h unless last_over_time(spanscore:sum_w:1h[3d] offset 10m)')
    .step('5m')
    .titleFormat('{{gen_ai_evaluation_name}} {{spanscore_scorer_version}}')
    .textFormat('{{gen_ai_agent_name}} {{spanscore_judge_model}}')
}
