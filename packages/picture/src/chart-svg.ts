import { type LoggerInterface, parse, textMetrics, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { chartTheme } from './chart-theme.ts'
import { invalidPicture } from './invalid-picture.ts'
import { textWidth } from './text-width.ts'

declare module 'vega' {
  /** Missing in the types of Vega: how it measures text; a host may set `width`. */
  export const textMetrics: { width: (item: TextItem, text: string | null | undefined) => number }
}

interface TextItem {
  readonly fontSize?: number
  /** widest that the text is drawn, pixels; 0 is no limit */
  readonly limit?: number
}

// Without a canvas Vega takes every letter to be as wide as the widest ones, and lays out accordingly.
textMetrics.width = ({ fontSize = 11, limit = 0 }, text) => {
  const width = textWidth(text ?? '', fontSize)
  return limit > 0 ? Math.min(width, limit) : width
}

/**
 * Draws a Vega-Lite specification as SVG text, under the theme; what its `config` says comes before the theme.
 *
 * Data must stand in the specification: nothing is read from the network or the disk. Throws `INVALID_PICTURE`.
 * Warnings are what Vega-Lite found odd but could draw.
 */
export async function chartSvg(
  spec: TopLevelSpec,
): Promise<{ readonly svg: string; readonly warnings: readonly string[] }> {
  const warnings: string[] = []
  const errors: string[] = []
  const logger = collector(warnings, errors)
  const refused: string[] = []
  const refuse = async (uri: string): Promise<never> => {
    refused.push(uri)
    throw new Error('data is not loaded from elsewhere')
  }
  let view: View | undefined
  try {
    const { spec: lowered } = compile(spec, { config: chartTheme, logger })
    view = new View(parse(lowered), {
      renderer: 'none',
      logger,
      loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    })
    const svg = await view.toSVG()
    // Vega logs what goes wrong in the dataflow and then draws the rest: half a chart is worse than none.
    if (refused.length > 0) throw new Error(`data is not loaded from elsewhere: ${refused[0]}`)
    if (errors.length > 0) throw new Error(errors[0])
    return { svg, warnings }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalidPicture(`the chart cannot be drawn: ${firstLine(reason)}`, { cause })
  } finally {
    view?.finalize()
  }
}

/** Keeps what Vega says instead of printing it. */
function collector(warnings: string[], errors: string[]): LoggerInterface {
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
  // Asked for its level, a logger of Vega answers a number; nothing asks this one.
  return logger as unknown as LoggerInterface
}

const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 300)
