export type { CitedPlace, CitedRange, LineChart, LineSeries } from './chart-data.ts'
export { chartTheme, fontFamily, inks, palette, textSizes } from './chart-theme.ts'
export { lineChart } from './line-chart.ts'
export type { Picture } from './render-protocol.ts'
export {
  openPicture,
  type PictureLimits,
  type PictureLog,
  type PictureOptions,
  type Renderer,
} from './renderer.ts'
export type { ScaleWish } from './value-axis.ts'
