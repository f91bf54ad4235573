import { editDistance } from '@causeway/app-kit'
import { isCausewayError } from '@causeway/protocol'
import { parser } from '@lezer/python'
import { applyCandidate } from '../candidate/apply.ts'
import { findSyntaxError } from '../candidate/syntax.ts'
import type { Candidate, Edit } from '../candidate/types.ts'
import type { Problem } from '../feedback/problem.ts'
import { formatLocation } from '../format.ts'

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

interface FixRequest {
  readonly problems: readonly Problem[]
  readonly files: ReadonlyMap<string, string>
}

/**
 * Returns up to three repairs that apply and parse, at most one per problem, in order. `files` contains the files that
 * problems name and the modules that may define a missing name.
 */
export function findFixes({ problems, files }: FixRequest): readonly Fix[] {
  const fixes = new Map<string, Fix>()
  for (const problem of problems) {
    const fix = fixes.size < maxFixes ? findFix(problem, files) : undefined
    if (fix) fixes.set(JSON.stringify(fix.candidateToFix), fix)
  }
  return [...fixes.values()]
}

function findFix(problem: Problem, files: ReadonlyMap<string, string>): Fix | undefined {
  const { file = '', kind, message } = problem
  const text = files.get(file)
  if (text === undefined) return undefined
  for (const repair of [importName(problem, text, files), renameName(problem, text)]) {
    if (repair === undefined) continue
    const candidateToFix: Candidate = { mode: 'modify', changes: [{ path: file, edits: [repair.edit] }] }
    if (!isApplicable(file, text, candidateToFix)) continue
    const issue = `${formatLocation(problem)} ${kind}: ${message.split('\n')[0] ?? ''}`.slice(0, 300)
    const priority = problem.source === 'python' ? 'high' : problem.isError ? 'medium' : 'low'
    return { priority, issue, candidateToFix, rationale: repair.rationale }
  }
  return undefined
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

/** Messages about undefined names by Python, flake8, pylint, mypy, TypeScript and ESLint. */
const undefinedName = /(?:^|[Nn]ame |variable )['"](\w+)['"](?: is not defined|\.|$| \(undefined-variable\))/

const suggestedName = /[Dd]id you mean:? (?:to write )?'(\w+)'\?/

const conventionalImports: Readonly<Record<string, string>> = {
  np: 'import numpy as np',
  pd: 'import pandas as pd',
  plt: 'import matplotlib.pyplot as plt',
  Path: 'from pathlib import Path',
  defaultdict: 'from collections import defaultdict',
  dataclass: 'from dataclasses import dataclass',
}

const standardModules =
  /^(csv|datetime|functools|itertools|json|math|os|random|re|sqlite3|statistics|sys|time)$/

/**
 * Repairs an undefined name in a Python file by an import: a conventional alias, a standard module, or the only other
 * module that defines the name.
 */
function importName(
  { file = '', message }: Problem,
  text: string,
  files: ReadonlyMap<string, string>,
): Repair | undefined {
  const name = undefinedName.exec(message)?.[1]
  if (name === undefined || !/\.pyi?$/.test(file)) return undefined
  const definition = new RegExp(`^(?:(?:\\w+ +)?def|class) +${name}\\b|^${name} *(?::[^=\\n]+)?=(?!=)`, 'm')
  const modules = [...files].filter(
    ([path, source]) => path !== file && /\.py$/.test(path) && definition.test(source),
  )
  const [module] = modules
  const statement = Object.hasOwn(conventionalImports, name)
    ? conventionalImports[name]
    : standardModules.test(name)
      ? `import ${name}`
      : module !== undefined && modules.length === 1
        ? `from ${toModule(module[0])} import ${name}`
        : undefined
  if (statement === undefined) return undefined
  return { edit: createImportEdit(text, statement), rationale: `'${name}' is used without being imported` }
}

const toModule = (path: string): string =>
  path
    .replace(/^src\//, '')
    .replace(/(\/__init__)?\.py$/, '')
    .replaceAll('/', '.')

/** Returns an edit that inserts an import after existing imports, or after the docstring or comments at the top. */
function createImportEdit(text: string, statement: string): Edit {
  let [end, lastType] = [0, '']
  for (let node = parser.parse(text).topNode.firstChild; node; node = node.nextSibling) {
    const isAtTop = lastType === '' || lastType === 'Comment'
    const isDocstring = node.name === 'ExpressionStatement' && node.firstChild?.name === 'String'
    if (node.name !== 'ImportStatement' && !(isAtTop && (isDocstring || node.name === 'Comment'))) continue
    end = node.to
    lastType = node.name
  }
  const line = end === 0 ? 0 : text.slice(0, end).split('\n').length
  const separator = lastType === 'ExpressionStatement' ? '\n' : ''
  return {
    type: 'insertAfter',
    line,
    content: lastType === 'ImportStatement' ? statement : `${separator}${statement}\n\n`,
  }
}

/** Replaces a wrong name with the name that the message suggests or else the most similar name. */
function renameName({ message, line = 0 }: Problem, text: string): Repair | undefined {
  const attribute = /(?:has no attribute|Property) '(\w+)'/.exec(message)?.[1]
  const wrongName = attribute ?? undefinedName.exec(message)?.[1]
  const oldLine = text.split(/\r?\n/)[line - 1]
  if (wrongName === undefined || oldLine === undefined) return undefined
  const names = text.match(attribute === undefined ? /[A-Za-z_]\w*/g : /(?<=def |\.)[A-Za-z_]\w*/g) ?? []
  const replacement = suggestedName.exec(message)?.[1] ?? findSimilarName(wrongName, names)
  const lookbehind = attribute === undefined ? '(?<![\\w.])' : '(?<=\\.)'
  const content = oldLine.replace(new RegExp(`${lookbehind}${wrongName}\\b`, 'g'), replacement ?? wrongName)
  if (content === oldLine) return undefined
  return {
    edit: { type: 'replaceLine', line, content },
    rationale: `'${wrongName}' is not defined, '${replacement}' is`,
  }
}

/** Returns `undefined` if no name is similar enough or two are equally similar. */
function findSimilarName(name: string, names: readonly string[]): string | undefined {
  const similarNames = [...new Set(names)]
    .filter((other) => other !== name && Math.abs(other.length - name.length) <= 2)
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .toSorted((a, b) => a.distance - b.distance)
  const [first, second] = similarNames
  const isSimilar = first !== undefined && first.distance <= Math.min(2, Math.floor(name.length / 3))
  return isSimilar && first.distance !== second?.distance ? first.other : undefined
}
