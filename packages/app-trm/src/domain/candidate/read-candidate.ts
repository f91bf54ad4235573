/** What a client sends as a candidate, under the short names, the long ones and those of Python. */
import { closest, type Problem, problemsOf } from '@causeway/app-kit'
import { CausewayError, isObject } from '@causeway/protocol'
import { z } from 'zod'
import type { Candidate } from './types.ts'

/** Well-formed Unicode, so that it can be written as UTF-8. */
const text = z.string().refine((value) => !/\p{Surrogate}/u.test(value), 'holds half a surrogate pair')
const path = text
const sha = text.regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex').optional()
const cell = z.union([z.int().min(0), z.string().min(1)])
const line = z.int().min(0)

const edit = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('replace'),
    cell: cell.optional(),
    oldText: text,
    newText: text,
    all: z.boolean().optional(),
    occurrence: z.int().min(1).optional(),
  }),
  z.strictObject({ type: z.literal('insertBefore'), cell: cell.optional(), line, content: text }),
  z.strictObject({ type: z.literal('insertAfter'), cell: cell.optional(), line, content: text }),
  z.strictObject({ type: z.literal('replaceLine'), cell: cell.optional(), line, content: text }),
  z.strictObject({
    type: z.literal('replaceRange'),
    cell: cell.optional(),
    startLine: line,
    endLine: line,
    content: text,
  }),
  z.strictObject({ type: z.literal('deleteLine'), cell: cell.optional(), line }),
  z.strictObject({ type: z.literal('deleteRange'), cell: cell.optional(), startLine: line, endLine: line }),
  z.strictObject({
    type: z.literal('insertCell'),
    cell,
    kind: z.enum(['code', 'markdown', 'raw']).default('code'),
    content: text,
  }),
  z.strictObject({ type: z.literal('replaceCell'), cell, content: text }),
  z.strictObject({ type: z.literal('deleteCell'), cell }),
])

const wholeFile = z
  .strictObject({ path, sha, content: text.optional(), delete: z.boolean().optional() })
  .refine(
    (file) => (file.content === undefined) === (file.delete === true),
    'needs either content or delete: true',
  )

const newFile = z.strictObject({ path, sha, content: text })

const modes = {
  diff: z.strictObject({
    mode: z.literal('diff'),
    changes: z.array(z.strictObject({ path, sha, diff: text, cell: cell.optional() })).min(1),
  }),
  patch: z.strictObject({ mode: z.literal('patch'), patch: text }),
  files: z.strictObject({ mode: z.literal('files'), files: z.array(wholeFile).min(1) }),
  modify: z.strictObject({
    mode: z.literal('modify'),
    changes: z.array(z.strictObject({ path, sha, edits: z.array(edit).min(1) })).min(1),
  }),
  create: z.strictObject({ mode: z.literal('create'), files: z.array(newFile).min(1) }),
} satisfies Record<Candidate['mode'], z.ZodType<Candidate>>

/** Other names of fields, which the original and its sibling use. */
const aliases: Readonly<Record<string, string>> = {
  file: 'path',
  old_text: 'oldText',
  new_text: 'newText',
  start_line: 'startLine',
  end_line: 'endLine',
  start: 'startLine',
  end: 'endLine',
  op: 'type',
  cell_id: 'cell',
  cell_type: 'kind',
}

/** Reads a candidate; throws `INVALID_CANDIDATE` with `data.problems`. */
export function readCandidate(input: unknown): Candidate {
  const named = withOwnNames(input)
  const mode = isObject(named) ? named.mode : undefined
  if (!isMode(mode)) throw refusal([modeProblem(mode)])
  const parsed = modes[mode].safeParse(named)
  if (parsed.success) return parsed.data
  throw refusal(problemsOf(parsed.error.issues, Object.keys(modes[mode].shape), named))
}

const isMode = (mode: unknown): mode is Candidate['mode'] =>
  typeof mode === 'string' && Object.hasOwn(modes, mode)

function modeProblem(mode: unknown): Problem {
  const names = Object.keys(modes)
  const problem = `is not one of ${names.join(', ')}`
  const match = typeof mode === 'string' ? closest(mode, names) : undefined
  return { argument: 'mode', problem, ...(match === undefined ? {} : { did_you_mean: match }) }
}

function refusal(problems: readonly Problem[]): CausewayError {
  const sentences = problems
    .slice(0, 5)
    .map(({ argument, problem, did_you_mean }) =>
      [argument, problem, ...(did_you_mean === undefined ? [] : [`(did you mean ${did_you_mean}?)`])].join(
        ' ',
      ),
    )
  return new CausewayError('INVALID_CANDIDATE', `candidate: ${sentences.join(', ')}`, { data: { problems } })
}

function withOwnNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOwnNames)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const own = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name
      return [own in value ? name : own, withOwnNames(member)]
    }),
  )
}
