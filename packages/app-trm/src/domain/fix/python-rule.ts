import type { Problem } from '../feedback/problem.ts'
import { nearName } from './near-name.ts'
import { addImport, moduleOutline, removeImport } from './python-import.ts'
import type { FixContext, Repair, Rule } from './rule.ts'

/** Names that everybody imports in the same way. */
const usual: Readonly<Record<string, string>> = {
  np: 'import numpy as np',
  pd: 'import pandas as pd',
  plt: 'import matplotlib.pyplot as plt',
  sns: 'import seaborn as sns',
  sp: 'import scipy as sp',
  sm: 'import statsmodels.api as sm',
  tf: 'import tensorflow as tf',
  nx: 'import networkx as nx',
  px: 'import plotly.express as px',
  pytest: 'import pytest',
  Path: 'from pathlib import Path',
  defaultdict: 'from collections import defaultdict',
  Counter: 'from collections import Counter',
  dataclass: 'from dataclasses import dataclass',
  Decimal: 'from decimal import Decimal',
  partial: 'from functools import partial',
  Any: 'from typing import Any',
  Optional: 'from typing import Optional',
}

/** Modules of the standard library that are imported as they are called. */
const standard = new Set(
  'abc argparse ast asyncio base64 bisect collections contextlib copy csv dataclasses decimal enum functools glob gzip hashlib heapq inspect io itertools json logging math operator os pathlib pickle random re shutil sqlite3 statistics string subprocess sys tempfile textwrap threading time traceback typing unittest uuid warnings zipfile'.split(
    ' ',
  ),
)

/** The misspelt or missing name of a NameError and of what linters say of one. */
function undefinedName({ kind, message }: Problem): string | undefined {
  if (kind === 'NameError') return /name '(\w+)' is not defined/.exec(message)?.[1]
  if (kind === 'F821') return /undefined name '(\w+)'/.exec(message)?.[1]
  if (kind === 'E0602') return /Undefined variable '(\w+)'/.exec(message)?.[1]
  return kind === 'name-defined' ? /Name "(\w+)" is not defined/.exec(message)?.[1] : undefined
}

const missingImport: Rule = (problem, text, context) => {
  const name = undefinedName(problem)
  if (name === undefined) return undefined
  const statement = importOf(name, problem.file ?? '', context)
  if (statement === undefined) return undefined
  return { edits: [addImport(text, statement)], rationale: `'${name}' is used without being imported` }
}

function importOf(name: string, file: string, { definitions }: FixContext): string | undefined {
  if (Object.hasOwn(usual, name)) return usual[name]
  if (standard.has(name)) return `import ${name}`
  const own = file.replace(/(\/__init__)?\.py$/, '').replaceAll('/', '.')
  const modules = (definitions.get(name) ?? []).filter((module) => module !== own)
  return modules.length === 1 ? `from ${modules[0]} import ${name}` : undefined
}

const misspelt: Rule = (problem, text) => {
  const line = lineText(text, problem.line)
  const [wrong, scope] = misspeltName(problem) ?? []
  if (line === undefined || wrong === undefined) return undefined
  const meant =
    /Did you mean: '(\w+)'\?/.exec(problem.message)?.[1] ?? nearName(wrong, namesIn(text, scope, wrong))
  if (meant === undefined) return undefined
  return renamed(problem, line, { wrong, meant, isAttribute: scope === 'attribute' })
}

function misspeltName(problem: Problem): readonly [string, 'name' | 'attribute'] | undefined {
  const name = undefinedName(problem)
  if (name !== undefined) return [name, 'name']
  const attribute = /has no attribute '(\w+)'/.exec(problem.message)?.[1]
  // Only Python itself, or the file, can tell what an object has.
  return problem.kind === 'AttributeError' && attribute !== undefined ? [attribute, 'attribute'] : undefined
}

/** Names, or attributes, that the file uses elsewhere. */
function namesIn(text: string, scope: 'name' | 'attribute' | undefined, wrong: string): readonly string[] {
  const plain = text.replace(/("""|''')[\s\S]*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#.*/g, ' ')
  if (scope === 'attribute') return plain.match(/(?<=def |\.)[A-Za-z_]\w*/g) ?? []
  const assigned = plain.match(
    /[A-Za-z_]\w*(?=\s*(?:[-+*/|&]?=(?!=)|,|\)|\s+in\b))|(?<=(?:def|class|import|as|for)\s+)[A-Za-z_]\w*/g,
  )
  return [...moduleOutline(text).definitions, ...(assigned ?? [])].filter(
    (name) => name !== wrong && !keywords.has(name),
  )
}

const keywords = new Set(
  'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield self cls'.split(
    ' ',
  ),
)

function renamed(
  { line }: Problem,
  text: string,
  { wrong, meant, isAttribute }: { wrong: string; meant: string; isAttribute: boolean },
): Repair | undefined {
  const pattern = new RegExp(`${isAttribute ? '(?<=\\.)' : '(?<![\\w.])'}${wrong}(?!\\w)`, 'g')
  const content = text.replace(pattern, meant)
  if (content === text || line === undefined) return undefined
  return {
    edits: [{ type: 'replaceLine', line, content }],
    rationale: `'${wrong}' is not known, '${meant}' is`,
  }
}

const unusedImport: Rule = ({ kind, message, line }, text) => {
  const name =
    kind === 'F401'
      ? /^'(.+)' imported but unused/.exec(message)?.[1]
      : /^W0611$/.test(kind)
        ? unusedByPylint(message)
        : undefined
  const edit = name === undefined || line === undefined ? undefined : removeImport(text, line, name)
  return edit && { edits: [edit], rationale: `'${name}' is imported and never used` }
}

/** `Unused import os`, `Unused Path imported from pathlib`, `Unused numpy imported as np`. */
function unusedByPylint(message: string): string | undefined {
  const [, plain, name, as] =
    /^Unused (?:import (\S+)|(\S+) imported from \S+?(?: as (\S+))?)(?: \(|$)/.exec(message) ?? []
  return plain ?? as ?? name ?? /^Unused \S+ imported as (\S+)/.exec(message)?.[1]
}

/** Where tabs and blanks are mixed, tabs become the blanks that make the file readable. */
const mixedTabs: Rule = ({ kind }, text) => {
  if (!/^(TabError|IndentationError|E101|W191|E999)$/.test(kind)) return undefined
  const lines = text.split(/\r?\n/)
  const edits = lines.flatMap((line, index) => {
    const indent = /^[ \t]*/.exec(line)?.[0] ?? ''
    if (!indent.includes('\t')) return []
    const content = indent.replaceAll('\t', '    ') + line.slice(indent.length)
    return [{ type: 'replaceLine', line: index + 1, content } as const]
  })
  const isMixed = edits.length > 0 && lines.some((line) => /^ +\S/.test(line))
  return isMixed ? { edits, rationale: 'tabs and blanks are mixed in the indentation' } : undefined
}

/** A key that is written a little differently elsewhere in the file. */
const misspeltKey: Rule = ({ kind, message, line }, text) => {
  if (kind !== 'KeyError') return undefined
  const key = /^'([^'\\]+)'$/.exec(message.split('\n')[0] ?? '')?.[1]
  const at = lineText(text, line)
  if (key === undefined || at === undefined || line === undefined) return undefined
  const keys = [...text.matchAll(/(["'])([^"'\\\n]+)\1\s*(?=[:\]])/g)].flatMap(([, , name]) => name ?? [])
  const meant = nearName(key, keys)
  const quoted = [`'${key}'`, `"${key}"`].find((one) => at.includes(one))
  if (meant === undefined || quoted === undefined) return undefined
  const content = at.replace(
    quoted,
    quoted.replace(key, () => meant),
  )
  return {
    edits: [{ type: 'replaceLine', line, content }],
    rationale: `the key '${key}' is '${meant}' elsewhere in the file`,
  }
}

function lineText(text: string, line: number | undefined): string | undefined {
  return line === undefined ? undefined : text.split(/\r?\n/)[line - 1]
}

/** In the order in which they are tried. */
export const pythonRules: readonly Rule[] = [missingImport, misspelt, unusedImport, misspeltKey, mixedTabs]
