import { closest, listProblems, type Problem } from '@causeway/app-kit'
import { type CausewayError, isObject } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { modes } from './candidate-schema.ts'
import type { Candidate } from './types.ts'

/** Alternative names of fields, from the original design and its TypeScript version. */
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

/** Validates a candidate. Throws `INVALID_CANDIDATE` with `data.problems`. */
export function readCandidate(input: unknown): Candidate {
  const renamed = renameFields(input)
  const mode = isObject(renamed) ? renamed.mode : undefined
  if (!isMode(mode)) throw createError([createModeProblem(mode)])
  const parsed = modes[mode].safeParse(renamed)
  if (parsed.success) return parsed.data
  throw createError(listProblems(parsed.error.issues, Object.keys(modes[mode].shape), renamed))
}

const isMode = (mode: unknown): mode is Candidate['mode'] =>
  typeof mode === 'string' && Object.hasOwn(modes, mode)

function createModeProblem(mode: unknown): Problem {
  const names = Object.keys(modes)
  const match = typeof mode === 'string' ? closest(mode, names) : undefined
  const problem = `is not one of ${names.join(', ')}`
  return { argument: 'mode', problem, ...(match === undefined ? {} : { did_you_mean: match }) }
}

function createError(problems: readonly Problem[]): CausewayError {
  const sentences = problems.slice(0, 5).map(({ argument, problem, did_you_mean }) => {
    const hint = did_you_mean === undefined ? '' : ` (did you mean ${did_you_mean}?)`
    return `${argument} ${problem}${hint}`
  })
  return new TrmError('INVALID_CANDIDATE', `candidate: ${sentences.join(', ')}`, { data: { problems } })
}

function renameFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameFields)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, fieldValue]) => {
      const canonicalName = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name
      return [canonicalName in value ? name : canonicalName, renameFields(fieldValue)]
    }),
  )
}
