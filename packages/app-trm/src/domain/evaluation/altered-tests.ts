/** Tests with altered expected values, which must fail (README, Protection of tests). */
import type { TestCase, TestRun } from '../report/test-run.ts'

export interface AlteredTests {
  readonly text: string
  /** Names of the altered tests. Each matches exactly one test of the run. */
  readonly names: readonly string[]
}

interface TestBlock {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** Cases of a run by the last word of their names. */
class CaseIndex {
  readonly #cases = new Map<string, TestCase[]>()

  constructor(run: TestRun | undefined) {
    for (const one of run?.cases ?? []) {
      const key = getLastWord(removeParameters(one.id))
      const known = this.#cases.get(key)
      if (known === undefined) this.#cases.set(key, [one])
      else known.push(one)
    }
  }

  find(name: string): readonly TestCase[] {
    return (this.#cases.get(getLastWord(name)) ?? []).filter(({ id }) => isNamed(id, name))
  }
}

const getLastWord = (text: string): string => text.split(/\W+/).findLast((word) => word !== '') ?? ''

const removeParameters = (id: string): string => id.replace(/\[.*$| #\d+$/s, '')

function isNamed(id: string, name: string): boolean {
  const test = removeParameters(id)
  return test === name || (test.endsWith(name) && !/\w/.test(test[test.length - name.length - 1] ?? ''))
}

const maxTests = 200

export function alterTests(path: string, text: string, run: TestRun): AlteredTests {
  const isPython = path.endsWith('.py')
  const index = new CaseIndex(run)
  const names: string[] = []
  let altered = ''
  let last = 0
  for (const { name, start, end } of removeRepeated(
    isPython ? listPythonTests(text) : listScriptTests(text),
  )) {
    if (names.length === maxTests) break
    if (!isOnePassedTest(index.find(name))) continue
    const block = text.slice(start, end)
    const changed = isPython ? alterPythonTest(block) : alterScriptTest(block)
    if (changed === undefined) continue
    names.push(name)
    altered += text.slice(last, start) + changed
    last = end
  }
  return { text: altered + text.slice(last), names }
}

export function passesAny(run: TestRun | undefined, names: readonly string[]): boolean {
  const index = new CaseIndex(run)
  return names.some((name) => index.find(name).some(({ status }) => status === 'pass'))
}

/** Whether the cases belong to a single passed test. A number after an id means that several tests share it. */
function isOnePassedTest(cases: readonly TestCase[]): boolean {
  const tests = new Set(cases.map(({ id }) => removeParameters(id)))
  return tests.size === 1 && cases.every(({ id, status }) => status === 'pass' && !/ #\d+$/.test(id))
}

function removeRepeated(blocks: readonly TestBlock[]): readonly TestBlock[] {
  const counts = new Map<string, number>()
  for (const { name } of blocks) counts.set(name, (counts.get(name) ?? 0) + 1)
  return blocks.filter(({ name }) => counts.get(name) === 1)
}

function listPythonTests(text: string): readonly TestBlock[] {
  return [...text.matchAll(/^([ \t]*)def (test\w*)\([^()\n]*\)[^:\n]*:[ \t]*\n/gm)].map((found) => {
    const [head, indent = '', name = ''] = found
    const start = found.index + head.length
    const next = new RegExp(`^(?!${indent}[ \\t]+\\S)[ \\t]*\\S`, 'm').exec(text.slice(start))
    return { name, start, end: next === null ? text.length : start + next.index }
  })
}

/** Lists the calls of `test` and `it`. Each block extends to the next call. */
function listScriptTests(text: string): readonly TestBlock[] {
  const found = [...text.matchAll(/\b(?:test|it)\(\s*(['"`])((?:(?!\1)[^\\\n])+)\1/g)]
  return found.map(({ index, 2: name = '' }, at) => ({
    name,
    start: index,
    end: found[at + 1]?.index ?? text.length,
  }))
}

/** Alters only a statement that certainly runs, before any statement that could leave the function. */
function alterPythonTest(block: string): string | undefined {
  const lines = block.split('\n')
  if (lines.some((line) => (line.split(/"""|'''/).length - 1) % 2 === 1)) return undefined
  const indents = [/^[ \t]*(?=\S)/m.exec(block)?.[0] ?? '']
  for (const [index, line] of lines.entries()) {
    if (/\b(?:return|yield|raise|skip\w*|exit|fail|break|continue)\b/i.test(line)) return undefined
    const indent = /^[ \t]*(?=\S)/.exec(line)?.[0]
    if (indent === undefined) continue
    while (indents.length > 1 && !indent.startsWith(indents.at(-1) ?? '')) indents.pop()
    if (indent !== indents.at(-1)) continue
    if (certainBlock.test(line)) {
      const inner = /^[ \t]*(?=\S)/.exec(lines[index + 1] ?? '')?.[0] ?? ''
      if (inner.length > indent.length) indents.push(inner)
    }
    const changed = alterPythonAssertion(line)
    if (changed !== undefined) return lines.with(index, changed).join('\n')
  }
  return undefined
}

/** Matches the first line of a subtest or of a loop over a constant table. */
const certainBlock = /^\s*(?:with self\.subTest\(.*\):|for [\w, ()]+ in [A-Z][A-Z\d_]*(?:\.items\(\))?:)\s*$/

function alterPythonAssertion(line: string): string | undefined {
  const [, plain, expected = ''] = /^(\s*assert [^#]*[^=!<>#]==\s*)([^=]*?)\s*$/.exec(line) ?? []
  if (plain !== undefined) {
    const value = /\b(?:and|or|not|if|in|is)\b/.test(plain) ? undefined : alterValue(expected)
    return value && plain + value
  }
  const [, head, args = ''] = /^(\s*self\.assertEquals?\()(.*)\)\s*$/.exec(line) ?? []
  return head && alterArguments(head, args, ')')
}

const scriptAssertion =
  /(?<=(?:[;{}\n]|=>)\s{0,80})(?:(?:assert\w*|t)(?:\.strict)?\.(?:equals?|is|same|strictEqual|deepEqual|deepStrictEqual)\(|expect\()(?=[^\n]*\))/

/** Rejects conditions and functions before the assertion, which could prevent it from running. */
function alterScriptTest(block: string): string | undefined {
  const found = scriptAssertion.exec(block)
  if (found === null) return undefined
  const before = block.slice(0, found.index)
  const functions = before.match(/=>|\bfunction\b/g) ?? []
  if (functions.length !== 1 || /\b(?:if|for|while|return|try|switch|catch|skip|todo)\b|\?/.test(before))
    return undefined
  const start = found.index + found[0].length
  const end = findEnd(block, start)
  if (end === undefined) return undefined
  const head = block.slice(0, start)
  if (!found[0].startsWith('expect')) {
    const changed = alterArguments('', block.slice(start, end), '')
    return changed === undefined ? undefined : head + changed + block.slice(end)
  }
  const matcher = /^\)\.(?:toBe|toEqual|toStrictEqual)\(/.exec(block.slice(end))
  if (matcher === null) return undefined
  const valueStart = end + matcher[0].length
  const valueEnd = findEnd(block, valueStart)
  const value = valueEnd === undefined ? undefined : alterLiteral(block.slice(valueStart, valueEnd))
  return value && block.slice(0, valueStart) + value + block.slice(valueEnd)
}

function alterArguments(head: string, text: string, tail: string): string | undefined {
  const comma = findComma(text)
  if (comma === undefined || findComma(text.slice(comma + 1)) !== undefined) return undefined
  const [first, second] = [text.slice(0, comma), text.slice(comma + 1)]
  const changedSecond = alterLiteral(second.trim())
  if (changedSecond !== undefined) return `${head}${first}, ${changedSecond}${tail}`
  const changedFirst = alterLiteral(first.trim())
  if (changedFirst !== undefined) return `${head}${changedFirst},${second}${tail}`
  const changedVariable = alterValue(second.trim())
  return changedVariable && `${head}${first}, ${changedVariable}${tail}`
}

/** Alters a literal or a variable. Adding 1 to a text or a list also makes the test fail. */
const alterValue = (text: string): string | undefined =>
  alterLiteral(text) ??
  (/^[a-z_][\w.]*(?:\[[^\]]*\])*$/.test(text) && !/inf|nan/i.test(text) ? `(${text}) + 1` : undefined)

/** Adds 1 to a number, although a tolerance could hide it, or alters a string without escapes. */
function alterLiteral(text: string): string | undefined {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return `${text} + 1`
  const [, quote, inner] = /^(['"])([^'"\\\n]*)\1$/.exec(text) ?? []
  return quote && `${quote}${inner} (altered)${quote}`
}

const findComma = (text: string): number | undefined => scan(text, 0, ',')
const findEnd = (text: string, start: number): number | undefined => scan(text, start, ')')

/** Returns the index of a character outside strings and brackets. */
function scan(text: string, start: number, wanted: string): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const one = text[at] ?? ''
    if (depth === 0 && one === wanted) return at
    if (/['"`]/.test(one)) {
      const end = text.indexOf(one, at + 1)
      if (end < 0 || text.slice(at, end).includes('\\')) return undefined
      at = end
    } else if (/[([{]/.test(one)) depth++
    else if (/[)\]}]/.test(one)) depth--
    if (depth < 0) return undefined
  }
  return undefined
}
