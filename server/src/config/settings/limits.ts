import { z } from 'zod'
import type { Rate } from '../../limits/token-bucket.ts'
import { defaultInteger, flag, integer, list, setting } from './setting.ts'

/** Entries override defaults of the same name; `off` removes all defaults. */
function createClassSchema<Value>(defaultText: string, parse: (text: string) => Value | undefined) {
  const entry = z.string().transform((text, { addIssue }) => {
    const [, name = '', valueText = ''] = /^\s*([a-z0-9.*_-]+)\s*=\s*(.+?)\s*$/i.exec(text) ?? []
    const value = parse(valueText)
    if (value !== undefined) return [name, value] as const
    addIssue(`not of the form ${defaultText.split(',')[0]}: ${text}`)
    return z.NEVER
  })
  return list(',')
    .transform((items) => (items.join() === 'off' ? [] : [...defaultText.split(','), ...items]))
    .pipe(z.array(entry))
    .transform((pairs): Readonly<Record<string, Value>> => Object.fromEntries(pairs))
}

/** `10/100`: 10 calls per second and a burst of 100. */
const createRateSchema = (defaultText: string) =>
  createClassSchema<Rate>(defaultText, (text) => {
    const [, perSecond, burst] = /^(\d+(?:\.\d+)?)\/(\d+)$/.exec(text) ?? []
    const rate = { perSecond: Number(perSecond), burst: Number(burst) }
    return rate.perSecond > 0 && rate.burst > 0 ? rate : undefined
  })

const createIntegerSchema = (defaultText: string) =>
  createClassSchema<number>(defaultText, (text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined))

/** Debrief's and ToolVault's values come from their original designs. */
const rates = 'total=2000/8000,*=500/2000,debrief=10/100,debrief.update=5/50,toolvault=2/20'
const deadlines = '*=600000,debrief=30000,toolvault=30000'
const concurrency = '*=256'

export const limitSettings = {
  rateLimits: setting('CAUSEWAY_RATE_LIMITS', {
    schema: createRateSchema(rates),
    defaultText: `\`${rates}\``,
    meaning:
      'calls per second and burst: `total` for all clients; `*`, an app, or a class of its tools for each client; given entries replace the defaults of the same name; `off` removes all limits',
  }),
  deadlinesMs: setting('CAUSEWAY_DEADLINES_MS', {
    schema: createIntegerSchema(deadlines),
    defaultText: `\`${deadlines}\``,
    meaning:
      'maximum duration of a call by app, `*` for the others; longer calls are aborted; `off` removes all limits',
  }),
  concurrency: setting('CAUSEWAY_CONCURRENCY', {
    schema: createIntegerSchema(concurrency),
    defaultText: `\`${concurrency}\``,
    meaning: 'maximum concurrent calls by app, `*` for the others; further calls are rejected',
  }),
  logFiles: setting('CAUSEWAY_LOG_FILES', {
    schema: flag(true),
    meaning:
      'also write the log, its errors and the audit to rotated files in `logs/` of the data folder, which `causeway logs` prints',
  }),
  logFileBytes: setting('CAUSEWAY_LOG_FILE_BYTES', {
    schema: defaultInteger(5 * 2 ** 20, { min: 1024 }),
    meaning: 'maximum size of a log file before rotation',
  }),
  logFileCount: setting('CAUSEWAY_LOG_FILE_COUNT', {
    schema: defaultInteger(5, { min: 2, max: 1000 }),
    meaning: 'maximum number of log files of each kind',
  }),
  legacyErrors: setting('CAUSEWAY_LEGACY_ERRORS', {
    schema: flag(false),
    meaning:
      'return failures of plain JSON calls to `/mcp` on the port of an app as JSON-RPC errors with the numbers of the original designs',
  }),
  auditKeepDays: setting('CAUSEWAY_AUDIT_KEEP_DAYS', {
    schema: defaultInteger(30, { min: 1, max: 36_500 }),
    meaning: 'audit entries are deleted after this many days',
  }),
  auditMaxRows: setting('CAUSEWAY_AUDIT_MAX_ROWS', {
    schema: defaultInteger(1_000_000, { min: 1000 }),
    meaning: 'maximum number of audit entries; the oldest are deleted',
  }),
  answerLimitChars: setting('CAUSEWAY_ANSWER_LIMIT_CHARS', {
    schema: defaultInteger(6 * 2 ** 20, { min: 1024 }),
    meaning: 'maximum length of a tool result, in characters of its JSON; a longer one is an error',
  }),
  maxInflight: setting('CAUSEWAY_MAX_INFLIGHT', {
    schema: defaultInteger(1024, { min: 1 }),
    meaning: 'maximum concurrent requests; further requests get 503 with Retry-After',
  }),
  shedLagMs: setting('CAUSEWAY_SHED_LAG_MS', {
    schema: defaultInteger(2000),
    meaning:
      'if the event-loop delay exceeds this many milliseconds twice in a row, new requests get 503 with Retry-After; 0 disables the check',
  }),
  memoryLimitMb: setting('CAUSEWAY_MEMORY_LIMIT_MB', {
    schema: integer().optional(),
    defaultText: 'half of the memory of the machine, or four fifths of that of the control group',
    meaning:
      'memory limit in MiB: near it caches are evicted; above it requests run one at a time and others get 503 with Retry-After; 0 means no limit',
  }),
  shedHeapPercent: setting('CAUSEWAY_SHED_HEAP_PERCENT', {
    schema: defaultInteger(92, { max: 100 }),
    meaning:
      'new requests get 503 with Retry-After while heap use exceeds this percentage of the heap limit; 100 disables the check',
  }),
}
