import { codeOnly } from '../architecture/source.ts'
import { names, phrases, standardNames } from './vocabulary.ts'

/** White space within a line, or a line break with the markers that continue a comment. */
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|\/\/|#|>)?[ \t]*)`
const phrase = new RegExp(
  `\\b(?:${phrases.map(({ source }) => source.replaceAll(' ', gap)).join('|')})\\b`,
  'gi',
)
const importClause = /\b(?:import|export)\s+(?:type\s+)?(?:[\w$]+,\s*)?\{([^}]*)\}\s*from\b/g
/** An identifier that is not a member of another object. */
const identifier = /(?<![.\w$])(?<!\?\.)[A-Za-z_$][\w$]*/g

/** Returns the retired phrases of a text and the retired names that a source declares, each as `path:line: problem`. */
export function findRetired(path: string, text: string): string[] {
  // `is None` is an operator and a value of Python.
  const prose = path.endsWith('.py') ? text.replaceAll('is None', 'is ____') : text
  const found = [...prose.matchAll(phrase)].map(({ 0: words, index }) => ({
    line: lineAt(text, index),
    problem: `retired phrase "${words.replace(new RegExp(gap, 'g'), ' ')}"`,
  }))
  if (/\.[cm]?[jt]sx?$/.test(path)) found.push(...findNames(codeOnly(text)))
  return found.sort((a, b) => a.line - b.line).map(({ line, problem }) => `${path}:${line}: ${problem}`)
}

/** Reports each name once; names that the file imports are reported where they are declared. */
function findNames(code: string) {
  const imported = new Set(
    [...code.matchAll(importClause)].flatMap(([, list = '']) => list.match(/[\w$]+/g) ?? []),
  )
  const seen = new Set<string>()
  return [...code.matchAll(identifier)].flatMap(({ 0: name, index }) => {
    if (seen.has(name) || imported.has(name) || standardNames.has(name)) return []
    seen.add(name)
    if (!names.some((pattern) => pattern.test(name))) return []
    return [{ line: lineAt(code, index), problem: `retired name "${name}"` }]
  })
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
