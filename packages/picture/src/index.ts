export type { ChartRange, LineChart } from './chart-data.ts'
export { palette, textSizes, themeColors } from './chart-theme.ts'
export { PictureError } from './errors.ts'
export { lineChart } from './line-chart.ts'
export type { Picture } from './render-methods.ts'
export { openPicture, type PictureLimits, type PictureLog, type Renderer } from './renderer.ts'
export {
  circle,
  drawing,
  element,
  group,
  line,
  type Point,
  polygon,
  polyline,
  type SvgElement,
  text,
} from './svg.ts'
export { arrow, axisGizmo, haloText, scaleBar } from './svg-part.ts'
export { measureText } from './text-layout.ts'
