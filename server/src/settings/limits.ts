import { z } from 'zod'
import { ratesByClass, wholeByClass } from './by-class.ts'
import { flag, setting, whole } from './setting.ts'

/** Calls a second and calls at once; the figures of the plot server and its tools are those of their design. */
const rates = 'total=2000/8000,*=500/2000,debrief=10/100,debrief.update=5/50,toolvault=2/20'
const deadlines = '*=600000,debrief=30000,toolvault=30000'
const concurrency = '*=256'

/** Settings of limits, audit and log files. */
export const limitSettings = {
  rateLimits: setting({
    env: 'CAUSEWAY_RATE_LIMITS',
    schema: ratesByClass(rates),
    defaultText: `\`${rates}\``,
    meaning:
      'calls a second and calls at once: `total` of all clients, of each client `*`, an app, or a class of its tools; what is given replaces the default of the same name, `off` lifts all',
  }),
  deadlinesMs: setting({
    env: 'CAUSEWAY_DEADLINES_MS',
    schema: wholeByClass(deadlines),
    defaultText: `\`${deadlines}\``,
    meaning: 'a call that takes longer is aborted, by app, `*` for the others; `off` lifts all',
  }),
  concurrency: setting({
    env: 'CAUSEWAY_CONCURRENCY',
    schema: wholeByClass(concurrency),
    defaultText: `\`${concurrency}\``,
    meaning: 'calls of one app that run at once, by app, `*` for the others; more are refused for now',
  }),
  logFiles: setting({
    env: 'CAUSEWAY_LOG_FILES',
    schema: flag(false),
    meaning: 'also write the log, its errors and the audit into rolling files, `logs/` of the data folder',
  }),
  logFileBytes: setting({
    env: 'CAUSEWAY_LOG_FILE_BYTES',
    schema: whole(5 * 2 ** 20, { min: 1024 }),
    meaning: 'a log file is followed by the next one after this many bytes',
  }),
  logFileCount: setting({
    env: 'CAUSEWAY_LOG_FILE_COUNT',
    schema: whole(5, { min: 2, max: 1000 }),
    meaning: 'log files of each kind that are kept',
  }),
  legacyErrors: setting({
    env: 'CAUSEWAY_LEGACY_ERRORS',
    schema: flag(false),
    meaning:
      'plain JSON calls to `/mcp` of the port of an app get failures as JSON-RPC errors under the numbers of the original designs',
  }),
  auditKeepDays: setting({
    env: 'CAUSEWAY_AUDIT_KEEP_DAYS',
    schema: whole(30, { min: 1, max: 36_500 }),
    meaning: 'entries of the audit are removed after this many days',
  }),
  auditMaxRows: setting({
    env: 'CAUSEWAY_AUDIT_MAX_ROWS',
    schema: whole(1_000_000, { min: 1000 }),
    meaning: 'entries of the audit that are kept, the newest ones',
  }),
  answerLimitChars: setting({
    env: 'CAUSEWAY_ANSWER_LIMIT_CHARS',
    schema: whole(32 * 2 ** 20, { min: 1024 }),
    meaning: 'longest answer of a tool, in characters of its JSON; a longer one is an error that says so',
  }),
  maxInflight: setting({
    env: 'CAUSEWAY_MAX_INFLIGHT',
    schema: whole(1024, { min: 1 }),
    meaning: 'requests that are answered at once; more get 503 with Retry-After',
  }),
  shedLagMs: setting({
    env: 'CAUSEWAY_SHED_LAG_MS',
    schema: whole(2000),
    meaning:
      'while the server is later than this twice in a row, new requests get 503 with Retry-After; 0 never does',
  }),
  memoryLimitMb: setting({
    env: 'CAUSEWAY_MEMORY_LIMIT_MB',
    schema: z.coerce.number().int().min(0).optional(),
    defaultText: 'half of the memory of the machine, or four fifths of that of its control group',
    meaning:
      'near this much memory caches give back what they hold, and beyond it requests are answered one at a time, the others get 503 with Retry-After; MiB, 0 is no limit',
  }),
  shedHeapPercent: setting({
    env: 'CAUSEWAY_SHED_HEAP_PERCENT',
    schema: whole(92, { max: 100 }),
    meaning: 'the same while the heap is fuller than this share of its cap; 100 never does',
  }),
}
