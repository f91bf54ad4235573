/** What pytest prints: only its last summary line counts, whatever else the tests wrote. */
import { placed } from './location.ts'
import { cutMessage, type TestCase, type TestRun } from './test-run.ts'

/** `=== 3 failed, 3 passed, 1 error in 0.03s ===`, and without the rules under -q. */
const summary =
  /^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$/gm

/** The run that the output of pytest tells of; undefined for other output. */
export function readPytest(output: string): TestRun | undefined {
  const last = [...output.matchAll(summary)].at(-1)?.[1]
  if (last === undefined) return undefined
  const count = (name: string): number => Number(new RegExp(`(\\d+) ${name}`).exec(last)?.[1] ?? 0)
  return {
    source: 'text:pytest',
    cases: failures(output),
    isComplete: false,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    skipped: count('skipped') + count('xfailed') + count('xpassed'),
  }
}

/** Lines of the short summary, each with its block from above. */
function failures(output: string): TestCase[] {
  const begin = output.lastIndexOf('short test summary info')
  if (begin < 0) return []
  const blocks = sections(output.slice(0, begin))
  return [...output.slice(begin).matchAll(/^(FAILED|ERROR) (\S+?)(?: - (.*))?$/gm)].map(
    ([, kind, id = '', told = '']): TestCase => ({
      id,
      status: kind === 'FAILED' ? 'fail' : 'error',
      ...placed(cutMessage(blocks.get(blockName(id)) ?? told)),
    }),
  )
}

/** `____ TestMean.test_wrong ____` and what follows, by that name. */
function sections(output: string): Map<string, string> {
  const parts = output.split(/^_{3,} (.+?) _{3,}$/m)
  const found = new Map<string, string>()
  for (let i = 1; i + 1 < parts.length; i += 2) {
    const name = (parts[i] ?? '').replace(/^ERROR (?:at \w+ of|collecting) /, '')
    found.set(name, (parts[i + 1] ?? '').split(/^={3,}/m)[0]?.trim() ?? '')
  }
  return found
}

/** `tests/test_sums.py::TestMean::test_wrong` -> `TestMean.test_wrong`; a file that was not collected is its own name. */
const blockName = (id: string): string => {
  const parts = id.split('::')
  return parts.length === 1 ? id : parts.slice(1).join('.')
}
