/** What a benchmark measured: a number and its unit, from JSON or from text. */

/** A measure in the base unit of its kind: `s`, `B`, `ops/s`, or the number alone. */
export interface Metric {
  readonly value: number
  readonly unit: 's' | 'B' | 'ops/s' | ''
}

/** How a benchmark is read. */
export interface MetricOptions {
  /** a regular expression whose group 1 is the number, and group 2, if there is one, its unit */
  readonly pattern?: string | undefined
  /** takes measures of this kind only, where an output has several */
  readonly unit?: string | undefined
}

/** Factor to the base unit. */
const units: Readonly<Record<string, readonly [number, Metric['unit']]>> = {
  ns: [1e-9, 's'],
  us: [1e-6, 's'],
  µs: [1e-6, 's'],
  μs: [1e-6, 's'],
  ms: [1e-3, 's'],
  s: [1, 's'],
  sec: [1, 's'],
  secs: [1, 's'],
  second: [1, 's'],
  seconds: [1, 's'],
  milliseconds: [1e-3, 's'],
  microseconds: [1e-6, 's'],
  min: [60, 's'],
  minutes: [60, 's'],
  h: [3600, 's'],
  b: [1, 'B'],
  byte: [1, 'B'],
  bytes: [1, 'B'],
  kb: [1e3, 'B'],
  mb: [1e6, 'B'],
  gb: [1e9, 'B'],
  kib: [2 ** 10, 'B'],
  mib: [2 ** 20, 'B'],
  gib: [2 ** 30, 'B'],
  'ops/s': [1, 'ops/s'],
  'ops/sec': [1, 'ops/s'],
  'op/s': [1, 'ops/s'],
  'req/s': [1, 'ops/s'],
  'it/s': [1, 'ops/s'],
  'rows/s': [1, 'ops/s'],
}

/** Members of a JSON object that hold the measure, the likeliest first. */
const jsonKeys = ['metric', 'time', 'duration', 'runtime', 'elapsed', 'seconds', 'memory', 'bytes', 'value']

const measure =
  /(?<![\w.-])(\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)[ \t]{0,3}(ns|us|µs|μs|ms|milliseconds|microseconds|seconds?|secs?|minutes|min|(?:ops?|req|it|rows)\/s(?:ec)?|[kmg]i?b|bytes?|b|s|h)(?![\w/])/gi

/** The measure of an output; undefined where there is none, or where the pattern is no regular expression. */
export function readMetric(output: string, { pattern, unit }: MetricOptions = {}): Metric | undefined {
  const wanted = unit === undefined ? undefined : metric('1', unit)?.unit
  if (pattern !== undefined) return byPattern(output, pattern, unit)
  return fromJson(output, unit) ?? fromText(output, wanted) ?? bareNumber(output, unit)
}

function byPattern(output: string, pattern: string, unit: string | undefined): Metric | undefined {
  let found: RegExpMatchArray | undefined
  try {
    found = [...output.slice(-64 * 1024).matchAll(new RegExp(pattern, 'gm'))].at(-1)
  } catch {
    return undefined
  }
  return found?.[1] === undefined ? undefined : metric(found[1], found[2] ?? unit ?? '')
}

/** The last line that is a JSON object, or the whole output. */
function fromJson(output: string, unit: string | undefined): Metric | undefined {
  const texts = [output.trim(), ...output.split('\n').reverse()].filter((text) => text.trim().startsWith('{'))
  for (const text of texts) {
    const object = parsed(text)
    const key = jsonKeys.find((name) => typeof object?.[name] === 'number')
    if (object === undefined || key === undefined) continue
    const told = typeof object.unit === 'string' ? object.unit : (unit ?? unitOfKey(key))
    return metric(String(object[key]), told)
  }
  return undefined
}

function unitOfKey(key: string): string {
  if (key === 'memory' || key === 'bytes') return 'b'
  return key === 'metric' || key === 'value' ? '' : 's'
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** The last measure of the wanted kind; without a wish, time before rates before bytes. */
function fromText(output: string, wanted: Metric['unit'] | undefined): Metric | undefined {
  const all = [...output.matchAll(measure)]
    .map(([, number = '', unit = '']) => metric(number, unit))
    .filter((one) => one !== undefined)
  const kinds = wanted === undefined ? (['s', 'ops/s', 'B'] as const) : [wanted]
  for (const kind of kinds) {
    const last = all.findLast(({ unit }) => unit === kind)
    if (last !== undefined) return last
  }
  return undefined
}

/** A last line that is a number and nothing else. */
function bareNumber(output: string, unit = ''): Metric | undefined {
  const line = output.trim().split('\n').at(-1)?.trim() ?? ''
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(line) ? metric(line, unit) : undefined
}

/** Thousands may be divided by commas, as `1,234.5`. */
function metric(number: string, unit: string): Metric | undefined {
  const value = Number(number.replaceAll(/,(?=\d{3})/g, '').replace(',', '.'))
  if (!Number.isFinite(value)) return undefined
  if (unit === '') return { value, unit: '' }
  const known = units[unit.toLowerCase()] ?? units[unit]
  return known && { value: value * known[0], unit: known[1] }
}

/** The median; undefined of nothing. */
export function median(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined
  const sorted = [...values].sort((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? sorted[half]
    : ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
}

/** The median distance of values from their median, as a share of it: how noisy they are. 0 of fewer than three. */
export function relativeSpread(values: readonly number[]): number {
  const middle = median(values)
  if (values.length < 3 || middle === undefined || !(middle > 0)) return 0
  return (median(values.map((value) => Math.abs(value - middle))) ?? 0) / middle
}

/** A measure for people: `83.1 ms`, `1.2 MB`. */
export function metricText({ value, unit }: Metric): string {
  const steps: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
    s: [
      [1, 's'],
      [1e-3, 'ms'],
      [1e-6, 'µs'],
      [1e-9, 'ns'],
    ],
    B: [
      [1e9, 'GB'],
      [1e6, 'MB'],
      [1e3, 'kB'],
      [1, 'B'],
    ],
  }
  const [factor, name] = steps[unit]?.find(([size]) => Math.abs(value) >= size) ?? [1, unit]
  return `${Number((value / factor).toPrecision(4))}${name === '' ? '' : ` ${name}`}`
}
