/** Repairs that follow from what is wrong, without guessing: each was applied and parsed before it is offered. */
import { isCausewayError } from '@causeway/protocol'
import { applyCandidate } from '../candidate/apply.ts'
import { syntaxError } from '../candidate/syntax.ts'
import type { Candidate } from '../candidate/types.ts'
import type { Problem } from '../feedback/problem.ts'
import { pythonRules } from './python-rule.ts'
import type { FixContext } from './rule.ts'
import { scriptRules } from './script-rule.ts'

/** How urgent something is. */
export type Priority = 'critical' | 'high' | 'medium' | 'low'

/** A repair to submit as it is. */
export interface Fix {
  readonly priority: Priority
  /** What it repairs, with file and line. */
  readonly issue: string
  readonly candidateToFix: Candidate
  /** Why this is the repair. */
  readonly rationale: string
}

/** Most repairs of one answer. */
const most = 3

/** The repairs of problems, the most urgent first, one for each problem, and none twice. */
export function fixes(problems: readonly Problem[], context: FixContext): readonly Fix[] {
  const found = new Map<string, Fix>()
  for (const problem of problems) {
    if (found.size >= most) break
    const fix = fixOf(problem, context)
    if (fix) found.set(JSON.stringify(fix.candidateToFix), fix)
  }
  return [...found.values()]
}

function fixOf(problem: Problem, context: FixContext): Fix | undefined {
  const { file, line, kind, message } = problem
  const text = file === undefined ? undefined : context.files.get(file)
  if (file === undefined || text === undefined) return undefined
  const rules = /\.pyi?$/.test(file) ? pythonRules : scriptRules
  for (const rule of rules) {
    const repair = rule(problem, text, context)
    if (repair === undefined) continue
    const candidateToFix: Candidate = { mode: 'modify', changes: [{ path: file, edits: repair.edits }] }
    if (!isSound(file, text, candidateToFix)) continue
    const issue =
      `${file}${line === undefined ? '' : `:${line}`} ${kind}: ${message.split('\n')[0] ?? ''}`.slice(0, 300)
    return { priority: priorityOf(problem), issue, candidateToFix, rationale: repair.rationale }
  }
  return undefined
}

/** It applies, changes something, and leaves a file that can be parsed. */
function isSound(file: string, text: string, candidate: Candidate): boolean {
  try {
    const after = applyCandidate(new Map([[file, text]]), candidate).changes.get(file)
    return typeof after === 'string' && syntaxError(file, after) === undefined
  } catch (error) {
    if (isCausewayError(error)) return false
    throw error
  }
}

function priorityOf({ source, isError, kind }: Problem): Priority {
  if (/^(SyntaxError|IndentationError|TabError|E9\d\d)$/.test(kind)) return 'critical'
  if (source === 'python') return 'high'
  return isError && !/^F401$/.test(kind) ? 'medium' : 'low'
}
