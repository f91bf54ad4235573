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
    for (const testCase of run?.cases ?? []) {
      const key = getLastWord(removeParameters(testCase.id))
      const cases = this.#cases.get(key)
      if (cases === undefined) this.#cases.set(key, [testCase])
      else cases.push(testCase)
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
  let alteredText = ''
  let copiedEnd = 0
  for (const { name, start, end } of removeRepeated(
    isPython ? listPythonTests(text) : listScriptTests(text),
  )) {
    if (names.length === maxTests) break
    if (!isSinglePassedTest(index.find(name))) continue
    const block = text.slice(start, end)
    const alteredBlock = isPython ? alterPythonTest(block) : alterScriptTest(block)
    if (alteredBlock === undefined) continue
    names.push(name)
    alteredText += text.slice(copiedEnd, start) + alteredBlock
    copiedEnd = end
  }
  return { text: alteredText + text.slice(copiedEnd), names }
}

export function hasPassed(run: TestRun | undefined, names: readonly string[]): boolean {
  const index = new CaseIndex(run)
  return names.some((name) => index.find(name).some(({ status }) => status === 'pass'))
}

/** Whether the cases belong to a single passed test. A number after an id means that several tests share it. */
function isSinglePassedTest(cases: readonly TestCase[]): boolean {
  const tests = new Set(cases.map(({ id }) => removeParameters(id)))
  return tests.size === 1 && cases.every(({ id, status }) => status === 'pass' && !/ #\d+$/.test(id))
}

function removeRepeated(blocks: readonly TestBlock[]): readonly TestBlock[] {
  const counts = new Map<string, number>()
  for (const { name } of blocks) counts.set(name, (counts.get(name) ?? 0) + 1)
  return blocks.filter(({ name }) => counts.get(name) === 1)
}

function listPythonTests(text: string): readonly TestBlock[] {
  return [...text.matchAll(/^([ \t]*)def (test\w*)\([^()\n]*\)[^:\n]*:[ \t]*\n/gm)].map((match) => {
    const [head, indent = '', name = ''] = match
    const start = match.index + head.length
    const next = new RegExp(`^(?!${indent}[ \\t]+\\S)[ \\t]*\\S`, 'm').exec(text.slice(start))
    return { name, start, end: next === null ? text.length : start + next.index }
  })
}

/** Lists the calls of `test` and `it`. Each block extends to the next call. */
function listScriptTests(text: string): readonly TestBlock[] {
  const matches = [...text.matchAll(/\b(?:test|it)\(\s*(['"`])((?:(?!\1)[^\\\n])+)\1/g)]
  return matches.map(({ index, 2: name = '' }, position) => ({
    name,
    start: index,
    end: matches[position + 1]?.index ?? text.length,
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
    if (alwaysRunBlock.test(line)) {
      const inner = /^[ \t]*(?=\S)/.exec(lines[index + 1] ?? '')?.[0] ?? ''
      if (inner.length > indent.length) indents.push(inner)
    }
    const alteredBlock = alterPythonAssertion(line)
    if (alteredBlock !== undefined) return lines.with(index, alteredBlock).join('\n')
  }
  return undefined
}

/** Matches the first line of a subtest or of a loop over a constant table. */
const alwaysRunBlock =
  /^\s*(?:with self\.subTest\(.*\):|for [\w, ()]+ in [A-Z][A-Z\d_]*(?:\.items\(\))?:)\s*$/

function alterPythonAssertion(line: string): string | undefined {
  const [, assertion, expected = ''] = /^(\s*assert [^#]*[^=!<>#]==\s*)([^=]*?)\s*$/.exec(line) ?? []
  if (assertion !== undefined) {
    const value = /\b(?:and|or|not|if|in|is)\b/.test(assertion) ? undefined : alterValue(expected)
    return value && assertion + value
  }
  const [, head, args = ''] = /^(\s*self\.assertEquals?\()(.*)\)\s*$/.exec(line) ?? []
  return head && alterArguments(head, args, ')')
}

const scriptAssertion =
  /(?<=(?:[;{}\n]|=>)\s{0,80})(?:(?:assert\w*|t)(?:\.strict)?\.(?:equals?|is|same|strictEqual|deepEqual|deepStrictEqual)\(|expect\()(?=[^\n]*\))/

/** Returns `undefined` if a condition or function could prevent the assertion from running. */
function alterScriptTest(block: string): string | undefined {
  const match = scriptAssertion.exec(block)
  if (match === null) return undefined
  const before = block.slice(0, match.index)
  const functions = before.match(/=>|\bfunction\b/g) ?? []
  if (functions.length !== 1 || /\b(?:if|for|while|return|try|switch|catch|skip|todo)\b|\?/.test(before))
    return undefined
  const start = match.index + match[0].length
  const end = findEnd(block, start)
  if (end === undefined) return undefined
  const head = block.slice(0, start)
  if (!match[0].startsWith('expect')) {
    const alteredBlock = alterArguments('', block.slice(start, end), '')
    return alteredBlock === undefined ? undefined : head + alteredBlock + block.slice(end)
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

/** Alters a literal or a variable. Adding 1 to a string or a list also makes the test fail. */
const alterValue = (text: string): string | undefined =>
  alterLiteral(text) ??
  (/^[a-z_][\w.]*(?:\[[^\]]*\])*$/.test(text) && !/inf|nan/i.test(text) ? `(${text}) + 1` : undefined)

/** Adds 1 to a number, which a tolerance could hide, or alters a string without escapes. */
function alterLiteral(text: string): string | undefined {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return `${text} + 1`
  const [, quote, inner] = /^(['"])([^'"\\\n]*)\1$/.exec(text) ?? []
  return quote && `${quote}${inner} (altered)${quote}`
}

const findComma = (text: string): number | undefined => findOutsideBrackets(text, 0, ',')
const findEnd = (text: string, start: number): number | undefined => findOutsideBrackets(text, start, ')')

function findOutsideBrackets(text: string, start: number, character: string): number | undefined {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    const current = text[index] ?? ''
    if (depth === 0 && current === character) return index
    if (/['"`]/.test(current)) {
      const end = text.indexOf(current, index + 1)
      if (end < 0 || text.slice(index, end).includes('\\')) return undefined
      index = end
    } else if (/[([{]/.test(current)) depth++
    else if (/[)\]}]/.test(current)) depth--
    if (depth < 0) return undefined
  }
  return undefined
}
