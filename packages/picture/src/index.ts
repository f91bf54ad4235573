export type { CitedPlace, CitedRange, LineChart, LineSeries } from './chart-data.ts'
export { chartTheme, fontFamily, inks, palette, textSizes } from './chart-theme.ts'
export { lineChart } from './line-chart.ts'
export type { Picture } from './render-methods.ts'
export {
  openPicture,
  type PictureLimits,
  type PictureLog,
  type PictureOptions,
  type Renderer,
} from './renderer.ts'
export {
  circle,
  drawing,
  element,
  group,
  line,
  type Point,
  polygon,
  polyline,
  type SvgAttributes,
  type SvgElement,
  text,
} from './svg.ts'
export {
  type ArrowStyle,
  arrow,
  axisColors,
  axisGizmo,
  type GizmoAxis,
  haloText,
  scaleBar,
} from './svg-part.ts'
export { textWidth } from './text-width.ts'
export type { ScaleWish } from './value-axis.ts'
