import { type LoggerInterface, parse, textMetrics, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { chartTheme } from './chart-theme.ts'
import { createInvalidPictureError } from './errors.ts'
import { measureText } from './text-layout.ts'

declare module 'vega' {
  export const textMetrics: { width: (item: TextItem, text: string | null | undefined) => number }
}

interface TextItem {
  readonly fontSize?: number
  /** Pixels. 0 means unlimited. */
  readonly limit?: number
}

// Without a canvas, Vega would assume the widest character for all characters.
textMetrics.width = ({ fontSize = 11, limit = 0 }, text) => {
  const width = measureText(text ?? '', fontSize)
  return limit > 0 ? Math.min(width, limit) : width
}

/**
 * Draws a Vega-Lite specification. Its `config` overrides the theme. Loads nothing from the network or disk. Throws
 * `INVALID_PICTURE`.
 */
export async function renderChartSvg(
  spec: TopLevelSpec,
): Promise<{ readonly svg: string; readonly warnings: readonly string[] }> {
  const warnings: string[] = []
  const errors: string[] = []
  const logger = createCollector(warnings, errors)
  const rejected: string[] = []
  const rejectLoad = async (uri: string): Promise<never> => {
    rejected.push(uri)
    throw new Error('data is not loaded from elsewhere')
  }
  let view: View | undefined
  try {
    const { spec: vegaSpec } = compile(spec, { config: chartTheme, logger })
    view = new View(parse(vegaSpec), {
      renderer: 'none',
      logger,
      loader: { load: rejectLoad, sanitize: rejectLoad, http: rejectLoad, file: rejectLoad },
    })
    const svg = await view.toSVG()
    // Vega only logs dataflow errors, and draws the rest.
    if (rejected.length > 0) throw new Error(`data is not loaded from elsewhere: ${rejected[0]}`)
    if (errors.length > 0) throw new Error(errors[0])
    return { svg, warnings }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw createInvalidPictureError(`the chart cannot be drawn: ${getFirstLine(reason)}`, { cause })
  } finally {
    view?.finalize()
  }
}

function createCollector(warnings: string[], errors: string[]): LoggerInterface {
  const logger = {
    level: () => logger,
    error(...parts: readonly unknown[]) {
      errors.push(parts.join(' '))
      return logger
    },
    warn(...parts: readonly unknown[]) {
      warnings.push(parts.join(' '))
      return logger
    },
    info: () => logger,
    debug: () => logger,
  }
  // Vega's type also requires `level()` to return a number, but nothing calls it.
  return logger as unknown as LoggerInterface
}

const getFirstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 300)
