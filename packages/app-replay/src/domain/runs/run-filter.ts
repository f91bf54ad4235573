import { CausewayError } from '@causeway/protocol'
import { type RunSummary, worstFields } from '@causeway/recording'
import { z } from 'zod'

const filterSchema = z.strictObject({
  commit: z.string(),
  branch: z.string(),
  scenario: z.string(),
  seed: z.int(),
  host: z.string(),
  engine_version: z.string(),
  status: z.enum(['live', 'finished', 'interrupted', 'file']),
  tag: z.string(),
  kind: z.string(),
  /** Whether diagnosed runs have errors. */
  bad: z.boolean(),
  diagnosed: z.boolean(),
  /** ISO 8601 date, or Unix time in milliseconds. */
  since: z.union([z.number(), z.iso.datetime({ offset: true }), z.iso.date()]).pipe(z.coerce.date()),
})

const partialFilterSchema = filterSchema.partial()

type RunFilter = z.output<typeof partialFilterSchema>

const sortFields = ['sealed_ms', 'frames', 'duration_s', 'errors', 'first_bad_frame', ...worstFields] as const

/** Throws `INVALID_ARGUMENTS`, which lists the known members. */
export function parseFilter(value: unknown): RunFilter {
  const parsed = partialFilterSchema.safeParse(value ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => ({
    argument: ['where', ...path].join('.'),
    problem: message,
  }))
  throw new CausewayError('INVALID_ARGUMENTS', `where: ${problems[0]?.problem ?? 'invalid'}`, {
    remedy: `use the members ${Object.keys(filterSchema.shape).join(', ')}`,
    data: { problems, known: Object.keys(filterSchema.shape) },
  })
}

export function filterRuns(runs: readonly RunSummary[], filter: RunFilter): readonly RunSummary[] {
  const { tag, kind, bad, diagnosed, since, ...equalityFilters } = filter
  const facts = Object.entries(equalityFilters) as [keyof typeof equalityFilters, unknown][]
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : since.getTime()
  return runs.filter((run) => {
    const { verdict } = run
    return (
      facts.every(([field, value]) => value === undefined || run[field] === value) &&
      (tag === undefined || run.tags.includes(tag)) &&
      (kind === undefined || verdict?.kinds.includes(kind) === true) &&
      (bad === undefined || (verdict !== null && verdict.errors > 0 === bad)) &&
      (diagnosed === undefined || (verdict !== null) === diagnosed) &&
      run.sealed_ms >= sinceMs
    )
  })
}

/** Sorts in descending order for `-field`. Unknown values are last. */
export function orderRuns(runs: readonly RunSummary[], order = '-sealed_ms'): readonly RunSummary[] {
  const isDescending = order.startsWith('-')
  const field = sortFields.find((name) => name === order.slice(isDescending ? 1 : 0))
  if (field === undefined)
    throw new CausewayError('INVALID_ARGUMENTS', `not an order: ${order.slice(0, 80)}`, {
      remedy: `use one of ${sortFields.join(', ')}, with a minus sign for descending order`,
      data: { problems: [{ argument: 'order', problem: 'is not a known field' }], known: sortFields },
    })
  const read = (run: RunSummary): number | null => {
    if (field === 'sealed_ms' || field === 'frames' || field === 'duration_s') return run[field]
    return run.verdict?.[field] ?? null
  }
  return runs.toSorted((a, b) => {
    const [x, y] = [read(a), read(b)]
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    return isDescending ? y - x : x - y
  })
}
