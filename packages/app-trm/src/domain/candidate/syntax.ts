/** Whether a text can be parsed as what its name says it is. */
import { parser as python } from '@lezer/python'
import { parse } from 'acorn'
import { parse as parseToml } from 'smol-toml'
import { plainCode, readNotebook } from '../notebook/notebook.ts'

/** The first place at which a text is not valid; lines from 1. */
export interface SyntaxProblem {
  readonly line: number
  readonly reason: string
}

/** Longest text that is parsed, in UTF-16 units. */
const longest = 300_000

type Check = (text: string) => SyntaxProblem | undefined

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

function pythonError(text: string): SyntaxProblem | undefined {
  // The grammar knows no byte order mark and ends lines with LF.
  const plain = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  let found: number | undefined
  python.parse(plain).iterate({
    enter: (node) => {
      if (node.type.isError) found ??= node.from
      return found === undefined
    },
  })
  return found === undefined
    ? undefined
    : { line: lineOf(plain, found), reason: 'Python cannot be parsed there' }
}

function scriptError(text: string): SyntaxProblem | undefined {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const
  const asModule = attempt(() => parse(text, { ...options, sourceType: 'module' }))
  if (asModule === undefined) return undefined
  const asScript = attempt(() => parse(text, { ...options, sourceType: 'script' }))
  return asScript === undefined ? undefined : asModule
}

const jsonError: Check = (text) => attempt(() => JSON.parse(text.replace(/^\ufeff/, '')))

/** The first code cell that Python cannot read; lines count within the cell. */
function notebookError(text: string): SyntaxProblem | undefined {
  const invalid = jsonError(text)
  if (invalid) return invalid
  const { cells, language } = readNotebook('', text)
  for (const { kind, index, source } of language === 'python' ? cells : []) {
    const found = kind === 'code' ? pythonError(plainCode(source)) : undefined
    if (found) return { line: found.line, reason: `${found.reason}, in cell ${index}` }
  }
  return undefined
}

const tomlError: Check = (text) => attempt(() => parseToml(text))

/** By extension; TypeScript and JSX have checks of their own in the project's tools. */
const checks: Readonly<Record<string, Check>> = {
  py: pythonError,
  js: scriptError,
  mjs: scriptError,
  cjs: scriptError,
  json: jsonError,
  ipynb: notebookError,
  toml: tomlError,
}

/** The first syntax error of a file, by the extension of its path; undefined where there is none or nobody knows. */
export function syntaxError(path: string, text: string): SyntaxProblem | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  const check = Object.hasOwn(checks, extension) ? checks[extension] : undefined
  return text.length > longest ? undefined : check?.(text)
}

function attempt(read: () => unknown): SyntaxProblem | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    const { message, loc, line } = error as Error & { loc?: { line: number }; line?: number }
    return { line: loc?.line ?? line ?? 1, reason: (message.split('\n')[0] ?? '').slice(0, 200) }
  }
}
