import { editDistance } from '@causeway/app-kit'
import { isCausewayError } from '@causeway/protocol'
import { applyCandidate } from '../candidate/apply.ts'
import { findSyntaxError } from '../candidate/syntax.ts'
import type { Candidate, Edit } from '../candidate/types.ts'
import type { Problem } from '../feedback/problem.ts'
import { createImportEdit, outlineModule } from './python-module.ts'

/** A repair that can be submitted unchanged. */
export interface Fix {
  readonly priority: 'critical' | 'high' | 'medium' | 'low'
  /** The problem, with file and line. */
  readonly issue: string
  readonly candidateToFix: Candidate
  readonly rationale: string
}

export interface FixContext {
  /** Text of every file that a problem names, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Dotted modules that define a top-level name, by name. */
  readonly definitions: ReadonlyMap<string, readonly string[]>
}

interface Repair {
  readonly edit: Edit
  readonly rationale: string
}

/** Returns a repair, or `undefined` if it would be a guess. */
type Rule = (problem: Problem, text: string, context: FixContext) => Repair | undefined

const maxFixes = 3

/** Returns at most one repair for each problem, in the order of the problems. Each was applied and parsed. */
export function findFixes(problems: readonly Problem[], context: FixContext): readonly Fix[] {
  const found = new Map<string, Fix>()
  for (const problem of problems) {
    if (found.size >= maxFixes) break
    const fix = findFix(problem, context)
    if (fix) found.set(JSON.stringify(fix.candidateToFix), fix)
  }
  return [...found.values()]
}

function findFix(problem: Problem, context: FixContext): Fix | undefined {
  const { file, line, kind, message } = problem
  const text = file === undefined ? undefined : context.files.get(file)
  if (file === undefined || text === undefined) return undefined
  const rules = /\.pyi?$/.test(file) ? [importName, renamePythonName] : [renameScriptName]
  for (const rule of rules) {
    const repair = rule(problem, text, context)
    if (repair === undefined) continue
    const candidateToFix: Candidate = { mode: 'modify', changes: [{ path: file, edits: [repair.edit] }] }
    if (!isApplicable(file, text, candidateToFix)) continue
    const place = line === undefined ? file : `${file}:${line}`
    const issue = `${place} ${kind}: ${message.split('\n')[0] ?? ''}`.slice(0, 300)
    const priority = problem.source === 'python' ? 'high' : problem.isError ? 'medium' : 'low'
    return { priority, issue, candidateToFix, rationale: repair.rationale }
  }
  return undefined
}

/** Whether the candidate applies and leaves a file that can be parsed. */
function isApplicable(file: string, text: string, candidate: Candidate): boolean {
  try {
    const after = applyCandidate(new Map([[file, text]]), candidate).changes.get(file)
    return typeof after === 'string' && findSyntaxError(file, after) === undefined
  } catch (error) {
    if (isCausewayError(error)) return false
    throw error
  }
}

/** Conventional imports, by name. */
const conventionalImports: Readonly<Record<string, string>> = {
  np: 'import numpy as np',
  pd: 'import pandas as pd',
  plt: 'import matplotlib.pyplot as plt',
  sns: 'import seaborn as sns',
  pytest: 'import pytest',
  Path: 'from pathlib import Path',
  defaultdict: 'from collections import defaultdict',
  Counter: 'from collections import Counter',
  dataclass: 'from dataclasses import dataclass',
  Decimal: 'from decimal import Decimal',
  Any: 'from typing import Any',
  Optional: 'from typing import Optional',
}

const standardModules = new Set(
  'abc argparse ast asyncio base64 bisect collections contextlib copy csv dataclasses decimal enum functools glob gzip hashlib heapq inspect io itertools json logging math operator os pathlib pickle random re shutil sqlite3 statistics string subprocess sys tempfile textwrap threading time traceback typing unittest uuid warnings zipfile'.split(
    ' ',
  ),
)

const undefinedNamePatterns: Readonly<Record<string, RegExp>> = {
  NameError: /name '(\w+)' is not defined/,
  F821: /undefined name '(\w+)'/,
  E0602: /Undefined variable '(\w+)'/,
  'name-defined': /Name "(\w+)" is not defined/,
}

const findUndefinedName = ({ kind, message }: Problem): string | undefined =>
  Object.hasOwn(undefinedNamePatterns, kind) ? undefinedNamePatterns[kind]?.exec(message)?.[1] : undefined

const importName: Rule = (problem, text, context) => {
  const name = findUndefinedName(problem)
  const statement = name === undefined ? undefined : findImport(name, problem.file ?? '', context)
  if (statement === undefined) return undefined
  return { edit: createImportEdit(text, statement), rationale: `'${name}' is used without being imported` }
}

function findImport(name: string, file: string, { definitions }: FixContext): string | undefined {
  if (Object.hasOwn(conventionalImports, name)) return conventionalImports[name]
  if (standardModules.has(name)) return `import ${name}`
  const own = file.replace(/(\/__init__)?\.py$/, '').replaceAll('/', '.')
  const modules = (definitions.get(name) ?? []).filter((module) => module !== own)
  return modules.length === 1 ? `from ${modules[0]} import ${name}` : undefined
}

const suggestedName = /[Dd]id you mean:? (?:to write )?'(\w+)'\?/

const renamePythonName: Rule = (problem, text) => {
  const name = findUndefinedName(problem)
  const isAttribute = name === undefined && problem.kind === 'AttributeError'
  const wrong = isAttribute ? /has no attribute '(\w+)'/.exec(problem.message)?.[1] : name
  if (wrong === undefined) return undefined
  const names = isAttribute ? findAttributes(text) : findNames(text)
  const right = suggestedName.exec(problem.message)?.[1] ?? findNearName(wrong, names)
  const boundary = isAttribute ? '(?<=\\.)' : '(?<![\\w.])'
  return renameOnLine(text, problem.line, right, { wrong, pattern: `${boundary}${wrong}(?!\\w)` })
}

/** TypeScript codes whose message contains the right name. */
const renameCodes = new Set(['TS2551', 'TS2552', 'TS2724', 'TS2561'])

const renameScriptName: Rule = ({ kind, message, line }, text) => {
  const isUndefined = kind === 'TS2304' || kind === 'no-undef'
  if (!isUndefined && !renameCodes.has(kind)) return undefined
  const wrong = isUndefined
    ? /(?:Cannot find name |^)'(\w+)'/.exec(message)?.[1]
    : /(?:Property|name|member named|but) '(\w+)'/.exec(message)?.[1]
  if (wrong === undefined) return undefined
  const right = isUndefined ? findNearName(wrong, findScriptNames(text)) : suggestedName.exec(message)?.[1]
  return renameOnLine(text, line, right, { wrong, pattern: `(?<![\\w$])${wrong}(?![\\w$])` })
}

function renameOnLine(
  text: string,
  line: number | undefined,
  right: string | undefined,
  { wrong, pattern }: { readonly wrong: string; readonly pattern: string },
): Repair | undefined {
  const before = line === undefined ? undefined : text.split(/\r?\n/)[line - 1]
  if (before === undefined || line === undefined || right === undefined) return undefined
  const content = before.replace(new RegExp(pattern, 'g'), right)
  if (content === before) return undefined
  return {
    edit: { type: 'replaceLine', line, content },
    rationale: `'${wrong}' is not defined, '${right}' is`,
  }
}

const stripPythonText = (text: string): string =>
  text.replace(/("""|''')[\s\S]*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#.*/g, ' ')

const findAttributes = (text: string): readonly string[] =>
  stripPythonText(text).match(/(?<=def |\.)[A-Za-z_]\w*/g) ?? []

const keywords = new Set(
  'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield self cls'.split(
    ' ',
  ),
)

function findNames(text: string): readonly string[] {
  const assigned = stripPythonText(text).match(
    /[A-Za-z_]\w*(?=\s*(?:[-+*/|&]?=(?!=)|,|\)|\s+in\b))|(?<=(?:def|class|import|as|for)\s+)[A-Za-z_]\w*/g,
  )
  return [...outlineModule(text).definitions, ...(assigned ?? [])].filter((name) => !keywords.has(name))
}

function findScriptNames(text: string): readonly string[] {
  const declared =
    text.match(/(?<=\b(?:const|let|var|function|class|interface|type|enum|import)\s+)[A-Za-z_$][\w$]*/g) ?? []
  const imported = [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(
    ([, list = '']) => list.match(/\w+(?=\s*(?:,|$))/g) ?? [],
  )
  return [...declared, ...imported]
}

/**
 * Returns the name that is nearest to a misspelled one. Returns `undefined` if none is within two letters, if two are
 * equally near, or if the name is too short.
 */
export function findNearName(name: string, names: Iterable<string>): string | undefined {
  const maxDistance = Math.min(2, Math.floor(name.length / 3))
  let [best, isTied, nearest] = [undefined as string | undefined, false, maxDistance + 1]
  for (const other of new Set(names)) {
    if (other === name || Math.abs(other.length - name.length) > maxDistance) continue
    const distance = editDistance(name, other)
    if (distance < nearest) [best, isTied, nearest] = [other, false, distance]
    else if (distance === nearest) isTied = true
  }
  return isTied ? undefined : best
}
