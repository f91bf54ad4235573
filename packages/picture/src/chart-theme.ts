import type { Config } from 'vega-lite'

/** Colours on white for colour-blind readers (Okabe and Ito, https://jfly.uni-koeln.de/color/). */
export const palette = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#5A5A5A'] as const

export const themeColors = {
  text: '#1F2328',
  secondaryText: '#57606A',
  axis: '#8C959F',
  grid: '#E6E9ED',
  marker: '#111111',
  range: '#F5C542',
  rangeText: '#7A5200',
} as const

/** CSS pixels, for a picture 900 pixels wide. */
export const textSizes = { title: 19, subtitle: 14, label: 14, note: 13.5 } as const

export const fontFamily = 'Inter, sans-serif'

export const chartTheme: Config = {
  font: fontFamily,
  background: 'white',
  padding: { left: 12, right: 20, top: 14, bottom: 12 },
  view: { stroke: null },
  concat: { spacing: 18 },
  range: { category: [...palette] },
  title: {
    anchor: 'start',
    frame: 'bounds',
    color: themeColors.text,
    fontSize: textSizes.title,
    fontWeight: 600,
    subtitleColor: themeColors.secondaryText,
    subtitleFontSize: textSizes.subtitle,
    subtitlePadding: 5,
    offset: 12,
  },
  axis: {
    labelColor: themeColors.text,
    labelFontSize: textSizes.label,
    labelPadding: 6,
    titleColor: themeColors.text,
    titleFontSize: textSizes.label,
    titleFontWeight: 600,
    titlePadding: 10,
    domainColor: themeColors.axis,
    tickColor: themeColors.axis,
    gridColor: themeColors.grid,
  },
  legend: {
    orient: 'top',
    direction: 'horizontal',
    title: null,
    labelColor: themeColors.text,
    labelFontSize: textSizes.label,
    symbolType: 'stroke',
    symbolStrokeWidth: 3,
    symbolSize: 260,
    columnPadding: 18,
  },
  line: { strokeWidth: 2, strokeJoin: 'round', strokeCap: 'round' },
  point: { size: 32, filled: true, opacity: 1 },
  bar: { color: palette[0] },
  rule: { color: themeColors.text },
  text: { fontSize: textSizes.note, color: themeColors.text },
}
