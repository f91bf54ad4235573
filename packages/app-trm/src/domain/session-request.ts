import { z } from 'zod'

const fraction = z.number().min(0).max(1)
const weight = z.number().min(0).max(1000).optional()
const text = z.string().min(1).optional()

/** `coverage` was removed and has no effect. */
export const weightsSchema = z.strictObject({
  dataQual: weight,
  test: weight,
  lint: weight,
  perf: weight,
  build: weight,
  coverage: weight,
})

export const haltSchema = z.strictObject({
  max: z.int().min(1).max(200).optional(),
  threshold: fraction.optional(),
  patience: z.int().min(1).optional(),
  min: z.int().min(1).optional(),
})

const paths = z.array(z.string().regex(/^(?!\/)(?!.*\.\.)/)).max(20)

export const optionsSchema = z.strictObject({
  write: z.enum(['each', 'improved', 'end']).optional(),
  isolate: z.boolean().optional(),
  link: paths.optional(),
  copy: paths.optional(),
  env: z.record(z.string(), z.string()).optional(),
  perf: z
    .strictObject({
      goal: z.enum(['min', 'max']).optional(),
      repeat: z.int().min(1).max(5).optional(),
      noise: fraction.optional(),
      /** Removed and without effect. */
      pattern: z.unknown().optional(),
      unit: z.unknown().optional(),
    })
    .optional(),
  allowTestRemoval: z.boolean().optional(),
  failFast: z.boolean().optional(),
  /** Removed and without effect. */
  graded: z.boolean().optional(),
  protect: z.union([z.literal('compare'), z.array(z.string().min(1).max(200)).max(50)]).optional(),
  sandbox: z.enum(['none', 'auto', 'bwrap']).optional(),
})

/** The arguments with their nested members, which the listed schema only describes in words. */
export const requestSchema = z.strictObject({
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
  weights: weightsSchema.optional(),
  halt: haltSchema.optional(),
  timeout: z.number().max(3600),
  ema: z.number(),
  options: optionsSchema.default({}),
})

/** The validated arguments and options, with the available sandbox. */
export type SessionRequest = Partial<Omit<z.output<typeof requestSchema>, 'options'>> &
  Omit<z.output<typeof optionsSchema>, 'sandbox'> & { readonly sandbox?: 'none' | 'bwrap' }

export const listRemoved = ({ options, weights }: z.output<typeof requestSchema>): readonly string[] => [
  ...(options.graded === undefined ? [] : ['options.graded']),
  ...(options.perf?.pattern === undefined ? [] : ['options.perf.pattern']),
  ...(options.perf?.unit === undefined ? [] : ['options.perf.unit']),
  ...(weights?.coverage === undefined ? [] : ['weights.coverage']),
]
