import type { DebriefCommand } from '@causeway/plot'
import { normalizeBearing } from '../geodesy/geodesic.ts'
import { reportImport, SkipCounter } from './import-report.ts'
import { addFix, type LogFix, toFeature } from './log-fix.ts'
import { type RepAnnotation, readAnnotation, toAnnotationFeature } from './rep-annotation.ts'
import { RepLine } from './rep-line.ts'

interface RepOptions {
  /** Two-digit years from `pivot_year` on are in the 20th century. */
  readonly pivot_year: number
  readonly min_interval_s?: number | undefined
  newId(prefix: string): string
}

/**
 * Reads Debrief replay files (REP): fixes as `YYMMDD HHMMSS.SSS NAME @symbol DD MM SS.SS N DDD MM SS.SS W course
 * speed depth`, and annotations.
 */
export class RepFileReader {
  readonly #options: RepOptions
  readonly #tracks = new Map<string, LogFix[]>()
  readonly #annotations: (RepAnnotation & { readonly line: number })[] = []
  readonly #skipped = new SkipCounter()
  #lineCount = 0
  #lineNumber = 0

  constructor(options: RepOptions) {
    this.#options = options
  }

  readLine(line: string): void {
    this.#lineNumber++
    const text = line.trim()
    if (text === '') return
    this.#lineCount++
    const reason = text.startsWith(';') ? this.#readComment(text) : this.#readFix(text)
    if (reason !== undefined) this.#skipped.add(reason, this.#lineNumber)
  }

  finish(): DebriefCommand {
    const { newId, min_interval_s } = this.#options
    const skipped = this.#skipped
    const tracks = [...this.#tracks].flatMap(
      ([name, fixes]) =>
        toFeature(fixes, { id: newId('rep'), name, source: 'REP', min_interval_s, skipped }) ?? [],
    )
    const annotations = this.#annotations.flatMap((annotation) => {
      const feature = toAnnotationFeature(annotation, this.#tracks, () => newId('rep'))
      if (typeof feature !== 'string') return [feature]
      skipped.add(feature, annotation.line)
      return []
    })
    return reportImport({
      format: 'Debrief REP',
      features: [...tracks, ...annotations],
      lines: this.#lineCount,
      skipped,
    })
  }

  #readFix(text: string): string | undefined {
    const line = new RepLine(text, this.#options.pivot_year)
    const time = line.readTime()
    if (time === undefined) return /^\d{6}(\d\d)?\s+\d{6}/.test(text) ? 'invalid time' : 'not a fix'
    const name = line.readField()
    line.readField()
    const position = line.readPosition()
    if (position === undefined || position === null) return 'position invalid or out of range'
    const [course, speed, depth] = [line.readNumber(), line.readNumber(), line.readNumber()]
    const fixes = this.#tracks.get(name) ?? []
    this.#tracks.set(name, fixes)
    addFix(fixes, {
      ...position,
      time,
      speed_kn: speed,
      course_deg: course === null ? null : normalizeBearing(course),
      elevation_m: depth === null ? null : depth === 0 ? 0 : -depth,
      line: this.#lineNumber,
    })
    return undefined
  }

  #readComment(text: string): string | undefined {
    const [prefix = '', kind] = /^;\s*([A-Z_0-9]+):/.exec(text) ?? []
    if (kind === undefined) return 'comment'
    const annotation = readAnnotation(kind, new RepLine(text.slice(prefix.length), this.#options.pivot_year))
    if (typeof annotation === 'string') return annotation
    this.#annotations.push({ ...annotation, line: this.#lineNumber })
    return undefined
  }
}
