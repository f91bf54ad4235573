import { serve } from '@causeway/worker'
import { renderPng } from './raster.ts'
import type { DrawResult, RenderMethods, Source } from './render-methods.ts'

async function toSvg(source: Source): Promise<{ svg: string; warnings: readonly string[] }> {
  if (source.kind === 'drawing') return { svg: source.svg, warnings: [] }
  // Loaded on demand, because Vega takes 200 ms.
  const { renderChartSvg } = await import('./chart-svg.ts')
  return renderChartSvg(source.spec)
}

serve<RenderMethods>(
  {
    async draw({ source, width_px, scale }) {
      const { svg, warnings } = await toSvg(source)
      return { picture: { svg, ...renderPng(svg, Math.round(width_px * scale)) }, warnings }
    },
  },
  {
    failure: 'drawing the picture failed',
    transfer: (result) => [(result as DrawResult).picture.png.buffer as ArrayBuffer],
  },
)
