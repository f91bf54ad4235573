/** The repairs that eslint itself computed, from its JSON output. */
import { isObject } from '@causeway/protocol'
import type { Fix } from './fix.ts'

/** Repairs of a file, in characters of its text. */
interface RangeFix {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** One repair for each file that has any: whole files, as eslint counts in characters and not in lines. */
export function eslintFixes(output: string, files: ReadonlyMap<string, string>): readonly Fix[] {
  return reports(output).flatMap(({ file, ranges, rules }): Fix[] => {
    const text = files.get(file)
    const content = text === undefined ? undefined : repaired(text, ranges)
    if (content === undefined || content === text) return []
    return [
      {
        priority: 'low',
        issue: `${file}: ${rules.join(', ')}`.slice(0, 300),
        candidateToFix: { mode: 'files', files: [{ path: file, content }] },
        rationale: `eslint repairs these ${ranges.length} itself`,
      },
    ]
  })
}

interface Report {
  readonly file: string
  readonly ranges: readonly RangeFix[]
  readonly rules: readonly string[]
}

function reports(output: string): readonly Report[] {
  const begin = output.search(/^\[/m)
  let list: unknown
  try {
    list = begin < 0 ? undefined : JSON.parse(output.slice(begin, output.lastIndexOf(']') + 1))
  } catch {
    return []
  }
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map(({ filePath, messages }): Report => {
    const fixable = (Array.isArray(messages) ? messages : []).filter(isObject).flatMap((one) => {
      const range = rangeOf(one.fix)
      return range === undefined ? [] : [{ range, rule: String(one.ruleId ?? '') }]
    })
    return {
      file: String(filePath ?? '').replace(/^\.\//, ''),
      ranges: fixable.map(({ range }) => range),
      rules: [...new Set(fixable.map(({ rule }) => rule))],
    }
  })
}

function rangeOf(fix: unknown): RangeFix | undefined {
  if (!isObject(fix) || !Array.isArray(fix.range) || typeof fix.text !== 'string') return undefined
  const [start, end] = fix.range
  return typeof start === 'number' && typeof end === 'number' && start <= end
    ? { start, end, text: fix.text }
    : undefined
}

/** Overlapping repairs are left for the next run, as eslint does. */
function repaired(text: string, ranges: readonly RangeFix[]): string | undefined {
  let [result, at] = ['', 0]
  for (const { start, end, text: instead } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end > text.length) continue
    result += text.slice(at, start) + instead
    at = end
  }
  return result + text.slice(at)
}
