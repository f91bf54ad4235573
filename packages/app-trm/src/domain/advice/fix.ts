import { isCausewayError } from '@causeway/protocol'
import { parser } from '@lezer/python'
import { applyCandidate } from '../candidate/apply.ts'
import { findSyntaxError } from '../candidate/syntax.ts'
import type { Candidate, Edit } from '../candidate/types.ts'
import type { Problem } from '../feedback/problem.ts'

/** A repair that can be submitted unchanged. */
export interface Fix {
  readonly priority: 'critical' | 'high' | 'medium' | 'low'
  readonly issue: string
  readonly candidateToFix: Candidate
  readonly rationale: string
}

interface Repair {
  readonly edit: Edit
  readonly rationale: string
}

const maxFixes = 3

/**
 * Returns at most one repair per problem, in their order, each applied and parsed. `files` has the files that
 * problems name and the modules that may define a name, by path.
 */
export function findFixes(problems: readonly Problem[], files: ReadonlyMap<string, string>): readonly Fix[] {
  const found = new Map<string, Fix>()
  for (const problem of problems) {
    const { file = '', line, kind, message, source, isError } = problem
    const text = files.get(file)
    const repair =
      text === undefined ? undefined : (importName(problem, text, files) ?? renameName(problem, text))
    if (text === undefined || repair === undefined || found.size >= maxFixes) continue
    const candidateToFix: Candidate = { mode: 'modify', changes: [{ path: file, edits: [repair.edit] }] }
    if (!isApplicable(file, text, candidateToFix)) continue
    found.set(JSON.stringify(candidateToFix), {
      priority: source === 'python' ? 'high' : isError ? 'medium' : 'low',
      issue: `${file}:${line} ${kind}: ${message.split('\n')[0] ?? ''}`.slice(0, 300),
      candidateToFix,
      rationale: repair.rationale,
    })
  }
  return [...found.values()]
}

function isApplicable(file: string, text: string, candidate: Candidate): boolean {
  try {
    const after = applyCandidate(new Map([[file, text]]), candidate).changes.get(file)
    return typeof after === 'string' && findSyntaxError(file, after) === undefined
  } catch (error) {
    if (isCausewayError(error)) return false
    throw error
  }
}

/** Messages about undefined names of Python, flake8, pylint, mypy. */
const undefinedName = /(?:^|[Nn]ame |variable )['"](\w+)['"](?: is not defined|$| \(undefined-variable\))/

const imports: Readonly<Record<string, string>> = {
  np: 'import numpy as np',
  pd: 'import pandas as pd',
  plt: 'import matplotlib.pyplot as plt',
  Path: 'from pathlib import Path',
  defaultdict: 'from collections import defaultdict',
  dataclass: 'from dataclasses import dataclass',
}

const standardModules =
  /^(csv|datetime|functools|itertools|json|math|os|random|re|sqlite3|statistics|sys|time)$/

/** Imports a name in a Python file: a conventional alias, a standard module, or a definition of one other module. */
function importName(
  { file = '', message }: Problem,
  text: string,
  files: ReadonlyMap<string, string>,
): Repair | undefined {
  const name = undefinedName.exec(message)?.[1]
  if (name === undefined || !/\.pyi?$/.test(file)) return undefined
  const definition = new RegExp(`^(?:(?:\\w+ +)?def|class) +${name}\\b|^${name} *(?::[^=\\n]+)?=(?!=)`, 'm')
  const [module, ...others] = [...files.keys()].filter(
    (path) => path !== file && path.endsWith('.py') && definition.test(files.get(path) ?? ''),
  )
  const own =
    module === undefined || others.length > 0 ? undefined : `from ${toModule(module)} import ${name}`
  const known = Object.hasOwn(imports, name) ? imports[name] : undefined
  const statement = known ?? (standardModules.test(name) ? `import ${name}` : own)
  if (statement === undefined) return undefined
  return { edit: createImportEdit(text, statement), rationale: `'${name}' is used without being imported` }
}

const toModule = (path: string): string =>
  path
    .replace(/^src\//, '')
    .replace(/(\/__init__)?\.py$/, '')
    .replaceAll('/', '.')

/** Adds an import after the last one, else after the docstring or the comments at the top. */
function createImportEdit(text: string, statement: string): Edit {
  let [end, last] = [0, '']
  for (let node = parser.parse(text).topNode.firstChild; node; node = node.nextSibling) {
    const isHead = last === '' || last === 'Comment'
    const isDocstring = node.name === 'ExpressionStatement' && node.firstChild?.name === 'String'
    if (node.name !== 'ImportStatement' && !(isHead && (isDocstring || node.name === 'Comment'))) continue
    end = node.to
    last = node.name
  }
  const line = end === 0 ? 0 : text.slice(0, end).split('\n').length
  const before = last === 'ExpressionStatement' ? '\n' : ''
  return {
    type: 'insertAfter',
    line,
    content: last === 'ImportStatement' ? statement : `${before}${statement}\n\n`,
  }
}

/** Renames a name as Python or TypeScript proposes. */
function renameName({ message, line = 0 }: Problem, text: string): Repair | undefined {
  const wrong = /(?:has no attribute|[Nn]ame|Property) '(\w+)'/.exec(message)?.[1]
  const right = /[Dd]id you mean:? '(\w+)'\?/.exec(message)?.[1]
  const before = text.split(/\r?\n/)[line - 1]
  if (wrong === undefined || right === undefined || before === undefined) return undefined
  const content = before.replace(new RegExp(`\\b${wrong}\\b`, 'g'), right)
  if (content === before) return undefined
  return {
    edit: { type: 'replaceLine', line, content },
    rationale: `'${wrong}' is not defined, '${right}' is`,
  }
}
