import { parser as python } from '@lezer/python'
import { parse } from 'acorn'
import { parse as parseToml } from 'smol-toml'
import { readNotebook, removeMagics } from './notebook.ts'

interface SyntaxProblem {
  readonly line: number
  readonly reason: string
  /** Python source that the grammar rejects. The interpreter must confirm the error. */
  readonly source?: string
}

/** In UTF-16 units. */
const maxLength = 300_000

type Check = (text: string) => SyntaxProblem | undefined

function checkPython(text: string): SyntaxProblem | undefined {
  // The grammar accepts neither a byte order mark nor CRLF line endings.
  const code = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  let offset: number | undefined
  python.parse(code).iterate({
    enter: (node) => {
      if (node.type.isError) offset ??= node.from
      return offset === undefined
    },
  })
  if (offset === undefined) return undefined
  return { line: code.slice(0, offset).split('\n').length, reason: 'invalid Python', source: code }
}

function checkScript(text: string): SyntaxProblem | undefined {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const
  const problem = findSyntaxProblem(() => parse(text, { ...options, sourceType: 'module' }))
  const isScript = () =>
    findSyntaxProblem(() => parse(text, { ...options, sourceType: 'script' })) === undefined
  return problem === undefined || isScript() ? undefined : problem
}

const checkJson: Check = (text) => findSyntaxProblem(() => JSON.parse(text.replace(/^\ufeff/, '')))

/** Line numbers of problems refer to the cell. */
function checkNotebook(text: string): SyntaxProblem | undefined {
  const problem = checkJson(text)
  if (problem) return problem
  const { cells, isPython } = readNotebook('', text)
  for (const { kind, index, source } of isPython ? cells : []) {
    const cellProblem = kind === 'code' ? checkPython(removeMagics(source)) : undefined
    if (cellProblem) return { ...cellProblem, reason: `${cellProblem.reason}, in cell ${index}` }
  }
  return undefined
}

/** Checks by extension. The project's own tools check TypeScript and JSX. */
const checks: Readonly<Record<string, Check>> = {
  py: checkPython,
  js: checkScript,
  mjs: checkScript,
  cjs: checkScript,
  json: checkJson,
  ipynb: checkNotebook,
  toml: (text) => findSyntaxProblem(() => parseToml(text)),
}

export function findSyntaxError(path: string, text: string): SyntaxProblem | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  const check = Object.hasOwn(checks, extension) ? checks[extension] : undefined
  return text.length > maxLength ? undefined : check?.(text)
}

function findSyntaxProblem(parseText: () => unknown): SyntaxProblem | undefined {
  try {
    parseText()
    return undefined
  } catch (error) {
    const { message, loc, line } = error as Error & { loc?: { line: number }; line?: number }
    return { line: loc?.line ?? line ?? 1, reason: (message.split('\n')[0] ?? '').slice(0, 200) }
  }
}
