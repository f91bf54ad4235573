/** The arguments of trm.start: short in the list, checked in full. */
import { z } from 'zod'
import { checkedBy, waitArgument } from './shape.ts'

const share = z.number().min(0).max(1)
const weight = z.number().min(0).max(1000).optional()
const text = z.string().min(1).optional()

const weights = z.strictObject({
  dataQual: weight,
  test: weight,
  lint: weight,
  perf: weight,
  build: weight,
  coverage: weight,
})

const halt = z.strictObject({
  max: z.int().min(1).max(200).optional(),
  threshold: share.optional(),
  patience: z.int().min(1).optional(),
  min: z.int().min(1).optional(),
})

/** Paths within the project. */
const inside = z.array(z.string().regex(/^(?!\/)(?!.*\.\.)/)).max(20)

const moreOptions = z.strictObject({
  write: z.enum(['each', 'improved', 'end']).optional(),
  isolate: z.boolean().optional(),
  link: inside.optional(),
  copy: inside.optional(),
  env: z.record(z.string(), z.string()).optional(),
  perf: z
    .strictObject({
      goal: z.enum(['min', 'max']).optional(),
      repeat: z.int().min(1).max(5).optional(),
      pattern: z.string().max(200).optional(),
      unit: z.string().optional(),
      noise: share.optional(),
    })
    .optional(),
  allowTestRemoval: z.boolean().optional(),
  failFast: z.boolean().optional(),
  graded: z.boolean().optional(),
  protect: z.union([z.literal('compare'), z.array(z.string().min(1).max(200)).max(50)]).optional(),
  sandbox: z.enum(['none', 'auto', 'bwrap']).optional(),
})

/** The same arguments, their members checked and typed. */
export const detailed = z.strictObject({
  dataQual: text,
  test: text,
  lint: text,
  bench: text,
  build: text,
  signals: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[A-Za-z][\w-]{0,39}$/),
        command: z.string().min(1),
        weight: z.number().min(0).max(1000),
      }),
    )
    .max(10)
    .optional(),
  weights: weights.optional(),
  halt: halt.optional(),
  timeout: z.number().max(3600),
  ema: z.number(),
  options: moreOptions.default({}),
})

const command = (what: string) => z.string().optional().describe(what)

/** An object whose members are described in words. */
const parts = (schema: z.ZodType, what: string) =>
  z.looseObject({}).check(checkedBy(schema)).optional().describe(what)

/** The arguments of trm.start, as they are listed. */
export const startInput = {
  repo: z.string().describe('folder below CAUSEWAY_TRM_ROOTS'),
  dataQual: command('data check, exit 0 is good'),
  test: command('any runner'),
  lint: command('exit 0 is good'),
  bench: command('prints number and unit'),
  build: command('exit 0 is good'),
  signals: z.array(z.unknown()).optional().describe('more: [{name, command, weight}]'),
  timeout: z.number().min(1).default(120).describe('s each'),
  weights: parts(weights, '{dataQual .3, test .4, lint .1, perf .2, build 0, coverage 0}'),
  halt: parts(halt, '{max 12, threshold .95, patience 3, min 1}'),
  ema: z.number().min(0).max(1).default(0.9).describe('weight of the newest'),
  notes: z.string().optional().describe('the aim'),
  preflight: z.boolean().default(true).describe('run a baseline'),
  options: parts(
    moreOptions,
    '{write: each|improved|end, isolate, link, copy, env, perf: {goal: min|max, repeat, pattern, unit, noise}, allowTestRemoval, failFast, graded, protect: [tests|path], sandbox: auto|bwrap}',
  ),
  ...waitArgument(50),
}

/** Other names of these arguments: the long ones of both originals. */
export const otherNames = {
  repo_path: 'repo',
  repoPath: 'repo',
  data_quality_cmd: 'dataQual',
  dataQualityCmd: 'dataQual',
  build_cmd: 'build',
  buildCmd: 'build',
  test_cmd: 'test',
  testCmd: 'test',
  lint_cmd: 'lint',
  lintCmd: 'lint',
  perf_cmd: 'bench',
  perfCmd: 'bench',
  bench_cmd: 'bench',
  benchCmd: 'bench',
  timeout_sec: 'timeout',
  timeoutSec: 'timeout',
  ema_alpha: 'ema',
  emaAlpha: 'ema',
  z_notes: 'notes',
  zNotes: 'notes',
  'halt.max_steps': 'halt.max',
  'halt.maxSteps': 'halt.max',
  'halt.pass_threshold': 'halt.threshold',
  'halt.passThreshold': 'halt.threshold',
  'halt.patience_no_improve': 'halt.patience',
  'halt.patienceNoImprove': 'halt.patience',
  'halt.min_steps': 'halt.min',
  'halt.minSteps': 'halt.min',
  'weights.data_quality': 'weights.dataQual',
  'weights.dataQuality': 'weights.dataQual',
  'weights.bench': 'weights.perf',
}
