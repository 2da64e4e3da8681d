// The dashboard for Grafana, from the panels of panels.mjs. `npm run --silent monitoring -- dashboard` prints it.
import * as common from '@grafana/grafana-foundation-sdk/common'
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap'
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus'
import * as stat from '@grafana/grafana-foundation-sdk/stat'
import * as table from '@grafana/grafana-foundation-sdk/table'
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'
import { ROWS } from './panels.mjs'

/** The dashboard in the classic model of Grafana. */
export function dashboardOf() {
  const board = new dashboard.DashboardBuilder('Keystride')
    .uid('keystride')
    .description('Sign-ins by typing: verdicts, attacks, traffic, processes, stores and background work.')
    .tags(['keystride'])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .withVariable(new dashboard.DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(listed('job', 'Job', 'label_values(keystride_build_info, job)'))
    .withVariable(listed('instance', 'Machine', 'label_values(keystride_build_info{job=~"$job"}, instance)'))
  let id = 1
  for (const [title, panels] of Object.entries(ROWS)) {
    board.withRow(new dashboard.RowBuilder(title).id(id++))
    for (const one of panels) board.withPanel(panel(one, id++))
  }
  return board.build()
}

/** The data source that the variable of the dashboard names. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder that Grafana replaces
const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const HEIGHT = { stat: 4, other: 8 }
/** A row of the grid has 24 columns. */
const WIDTH = { stat: 4, half: 12, third: 8 }

const isLatest = ({ stat, table }) => Boolean(stat ?? table)

function target([expr, legend], i, options) {
  const query = new prometheus.DataqueryBuilder()
    .datasource(SOURCE)
    .refId(String.fromCharCode(65 + i))
    .expr(expr)
    .legendFormat(legend)
  if (options.heatmap) return query.range().format(prometheus.PromQueryFormat.Heatmap)
  if (options.table) return query.instant().format(prometheus.PromQueryFormat.Table)
  return isLatest(options) ? query.instant() : query.range()
}

function thresholds({ warn, crit }) {
  const steps = [{ value: null, color: 'green' }]
  if (warn !== undefined) steps.push({ value: warn, color: 'orange' })
  if (crit !== undefined) steps.push({ value: crit, color: 'red' })
  return new dashboard.ThresholdsConfigBuilder().mode(dashboard.ThresholdsMode.Absolute).steps(steps)
}

function empty(options) {
  if (options.stat)
    return new stat.PanelBuilder()
      .thresholds(thresholds(options))
      .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
  if (options.table) return new table.PanelBuilder()
  if (options.heatmap)
    return new heatmap.PanelBuilder()
      .yAxis(new heatmap.YAxisConfigBuilder().unit('percentunit').min(0).max(1))
      .color(
        new heatmap.HeatmapColorOptionsBuilder()
          .mode(heatmap.HeatmapColorMode.Scheme)
          .scheme('Oranges')
          .exponent(0.5)
          .steps(64),
      )
  const lines = new timeseries.PanelBuilder()
    .min(0)
    .thresholds(thresholds(options))
    .legend(new common.VizLegendOptionsBuilder().showLegend(true).placement(common.LegendPlacement.Bottom))
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    )
  if (options.stack)
    lines.fillOpacity(30).stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group('A'))
  if (options.warn !== undefined || options.crit !== undefined)
    lines.thresholdsStyle(new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed))
  return lines
}

function panel([title, unit, description, options, ...queries], id) {
  return empty(options)
    .id(id)
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(SOURCE)
    .span(options.stat ? WIDTH.stat : options.half ? WIDTH.half : WIDTH.third)
    .height(options.stat ? HEIGHT.stat : HEIGHT.other)
    .targets(queries.map((query, i) => target(query, i, options)))
}

const listed = (name, label, query) =>
  new dashboard.QueryVariableBuilder(name)
    .label(label)
    .datasource(SOURCE)
    .query(query)
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue('.+')
    .multi(true)
    .current({ selected: true, text: ['All'], value: ['$__all'] })
