import { parseObject } from '../parse-object.ts'

/** A benchmark result in a base unit, or without a unit. */
export interface Metric {
  readonly value: number
  readonly unit: 's' | 'B' | 'ops/s' | ''
}

const units = new Map(
  (
    [
      ['ns', 's', 1e-9],
      ['us µs μs microseconds', 's', 1e-6],
      ['ms milliseconds', 's', 1e-3],
      ['s sec secs second seconds', 's', 1],
      ['min minutes', 's', 60],
      ['h', 's', 3600],
      ['b byte bytes', 'B', 1],
      ['kb', 'B', 1e3],
      ['mb', 'B', 1e6],
      ['gb', 'B', 1e9],
      ['kib', 'B', 2 ** 10],
      ['mib', 'B', 2 ** 20],
      ['gib', 'B', 2 ** 30],
      ['ops/s ops/sec op/s req/s it/s rows/s', 'ops/s', 1],
    ] as const
  ).flatMap(([names, unit, factor]) => names.split(' ').map((name) => [name, { unit, factor }] as const)),
)

/** Members that may contain the result, most likely first. */
const jsonKeys = ['metric', 'time', 'duration', 'runtime', 'elapsed', 'seconds', 'memory', 'bytes', 'value']

const measurement =
  /(?<![\w.-])(\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)[ \t]{0,3}(ns|us|µs|μs|ms|milliseconds|microseconds|seconds?|secs?|minutes|min|(?:ops?|req|it|rows)\/s(?:ec)?|[kmg]i?b|bytes?|b|s|h)(?![\w/])/gi

/** Reads, in this order, a JSON object, the last number with a unit, or a number on the last line. */
export const readMetric = (output: string): Metric | undefined =>
  readJson(output) ?? readText(output) ?? readBareNumber(output)

function readJson(output: string): Metric | undefined {
  for (const text of [output.trim(), ...output.split('\n').reverse()]) {
    const object = text.trim().startsWith('{') ? parseObject(text) : {}
    const key = jsonKeys.find((name) => typeof object[name] === 'number')
    if (key === undefined) continue
    const unit = key === 'memory' || key === 'bytes' ? 'b' : key === 'metric' || key === 'value' ? '' : 's'
    return toMetric(String(object[key]), typeof object.unit === 'string' ? object.unit : unit)
  }
  return undefined
}

function readText(output: string): Metric | undefined {
  const metrics = [...output.matchAll(measurement)].map(([, number = '', name = '']) =>
    toMetric(number, name),
  )
  const kinds = ['s', 'ops/s', 'B']
  const lastMetrics = kinds.map((kind) => metrics.findLast((metric) => metric?.unit === kind))
  return lastMetrics.find((metric) => metric !== undefined)
}

function readBareNumber(output: string): Metric | undefined {
  const line = output.trim().split('\n').at(-1)?.trim() ?? ''
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(line) ? toMetric(line, '') : undefined
}

function toMetric(number: string, name: string): Metric | undefined {
  const value = Number(number.replaceAll(/,(?=\d{3})/g, '').replace(',', '.'))
  if (!Number.isFinite(value)) return undefined
  if (name === '') return { value, unit: '' }
  const unit = units.get(name.toLowerCase()) ?? units.get(name)
  return unit && { value: value * unit.factor, unit: unit.unit }
}

export function computeMedian(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high] = [sorted[middle - 1], sorted[middle]]
  return high === undefined || sorted.length % 2 === 1 ? high : (low + high) / 2
}

/** Returns the median distance of values from their median, divided by this median; 0 for fewer than three values. */
export function computeSpread(values: readonly number[]): number {
  const median = computeMedian(values)
  if (values.length < 3 || median === undefined || !(median > 0)) return 0
  return (computeMedian(values.map((value) => Math.abs(value - median))) ?? 0) / median
}

const scales: Readonly<Record<string, readonly (readonly [factor: number, name: string])[]>> = {
  s: [1, 1e-3, 1e-6, 1e-9].map((factor, index) => [factor, ['s', 'ms', 'µs', 'ns'][index] ?? '']),
  B: [1e9, 1e6, 1e3, 1].map((factor, index) => [factor, ['GB', 'MB', 'kB', 'B'][index] ?? '']),
}

export function formatMetric({ value, unit }: Metric): string {
  const [factor, name] = scales[unit]?.find(([size]) => Math.abs(value) >= size) ?? [1, unit]
  return `${Number((value / factor).toPrecision(4))}${name === '' ? '' : ` ${name}`}`
}
