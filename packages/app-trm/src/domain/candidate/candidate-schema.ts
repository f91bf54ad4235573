import { z } from 'zod'

/** Well-formed Unicode, which can be encoded as UTF-8. */
const text = z.string().refine((value) => !/\p{Surrogate}/u.test(value), 'contains half a surrogate pair')

/** `sha` is the SHA-256 of the file's bytes, as returned by `trm.read`. A mismatch causes `STALE_FILE`. */
const file = {
  path: text,
  sha: text.regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex').optional(),
}
const cell = z.union([z.int().min(0), z.string().min(1)])
const line = z.int().min(0)
const range = { startLine: line, endLine: line }

const createListSchema = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).min(1).readonly()

const createTextEditSchema = <Type extends string, Shape extends z.core.$ZodShape>(
  type: Type,
  shape: Shape,
) => z.strictObject({ type: z.literal(type), cell: cell.optional(), ...shape })

const edit = z.discriminatedUnion('type', [
  createTextEditSchema('replace', {
    oldText: text,
    newText: text,
    all: z.boolean().optional(),
    /** Number of the match to replace, from 1. */
    occurrence: z.int().min(1).optional(),
  }),
  createTextEditSchema('insertBefore', { line, content: text }),
  createTextEditSchema('insertAfter', { line, content: text }),
  createTextEditSchema('replaceLine', { line, content: text }),
  createTextEditSchema('replaceRange', { ...range, content: text }),
  createTextEditSchema('deleteLine', { line }),
  createTextEditSchema('deleteRange', range),
  /** Inserts before `cell`, or after the last cell if `cell` equals the number of cells. */
  z.strictObject({
    type: z.literal('insertCell'),
    cell,
    kind: z.enum(['code', 'markdown', 'raw']).default('code'),
    content: text,
  }),
  z.strictObject({ type: z.literal('replaceCell'), cell, content: text }),
  z.strictObject({ type: z.literal('deleteCell'), cell }),
])

const fileEntry = z
  .strictObject({ ...file, content: text.optional(), delete: z.boolean().optional() })
  .refine(
    ({ content, ...entry }) => (content === undefined) === (entry.delete === true),
    'needs either content or delete: true',
  )

export const modes = {
  diff: z.strictObject({
    mode: z.literal('diff'),
    changes: createListSchema(z.strictObject({ ...file, diff: text })),
  }),
  patch: z.strictObject({ mode: z.literal('patch'), patch: text }),
  files: z.strictObject({ mode: z.literal('files'), files: createListSchema(fileEntry) }),
  modify: z.strictObject({
    mode: z.literal('modify'),
    changes: createListSchema(z.strictObject({ ...file, edits: createListSchema(edit) })),
  }),
  create: z.strictObject({
    mode: z.literal('create'),
    files: createListSchema(z.strictObject({ ...file, content: text })),
  }),
}
