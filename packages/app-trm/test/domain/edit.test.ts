import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isCausewayError } from '@causeway/protocol'
import t from 'tap'
import { type Random, randomFrom } from '../../../../test/random.ts'
import { isComplete } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { applyCandidate } from '../../src/domain/candidate/apply.ts'
import type { Edit } from '../../src/domain/candidate/types.ts'
import { edited } from './candidate/apply-kit.ts'
import {
  damages,
  furtherPerturbations,
  type Perturbed,
  perturbations,
  realEdit,
  sourcesBelow,
} from './candidate/perturbation.ts'

const five = '1\n2\n3\n4\n5\n'

verifies('trm:candidate:edits', 'positions of edits refer to the text before the first edit', async (t) => {
  t.equal(
    edited(
      five,
      { type: 'deleteLine', line: 1 },
      { type: 'replace', oldText: '3', newText: 'three' },
      { type: 'replaceRange', startLine: 4, endLine: 5, content: 'four\nfive\nsix' },
    ),
    '2\nthree\nfour\nfive\nsix\n',
  )
  t.equal(
    edited(
      five,
      { type: 'insertAfter', line: 2, content: 'x' },
      { type: 'deleteRange', startLine: 3, endLine: 4 },
    ),
    '1\n2\nx\n5\n',
  )
})

t.test('insertions at the same position retain the order of the edits', async (t) => {
  t.equal(
    edited(
      five,
      { type: 'insertAfter', line: 1, content: 'a' },
      { type: 'insertAfter', line: 1, content: 'b' },
      { type: 'insertBefore', line: 2, content: 'c' },
    ),
    '1\na\nb\nc\n2\n3\n4\n5\n',
  )
})

t.test('a text of n lines accepts insertions before line n + 1, after line n and after line 0', async (t) => {
  t.equal(edited('a\nb\n', { type: 'insertBefore', line: 3, content: 'c' }), 'a\nb\nc\n')
  t.equal(edited('a\nb\n', { type: 'insertAfter', line: 2, content: 'c\n' }), 'a\nb\nc\n')
  t.equal(edited('a\nb\n', { type: 'insertAfter', line: 0, content: 'c' }), 'c\na\nb\n')
  t.equal(edited('', { type: 'insertBefore', line: 1, content: 'c' }), 'c\n')
})

verifies(
  'trm:candidate:format',
  'edits preserve line endings, a missing final newline and the byte order mark',
  async (t) => {
    t.equal(edited('a\r\nb\r\n', { type: 'replaceLine', line: 2, content: 'x\ny' }), 'a\r\nx\r\ny\r\n')
    t.equal(edited('a\r\nb\nc\r\n', { type: 'replace', oldText: 'b\nc', newText: 'b\nd' }), 'a\r\nb\nd\r\n')
    t.equal(edited('a\nb', { type: 'insertAfter', line: 2, content: 'c' }), 'a\nb\nc')
    t.equal(edited('a\nb', { type: 'deleteLine', line: 2 }), 'a')
    t.equal(edited('a\nb', { type: 'replace', oldText: 'b\n', newText: 'c\n' }), 'a\nc')
    t.equal(edited('\ufeffa\nb\n', { type: 'insertBefore', line: 1, content: 'x' }), '\ufeffx\na\nb\n')
    t.equal(
      edited('a\nb\n', { type: 'replace', oldText: 'b\n', newText: 'b' }),
      'a\nb',
      'unless the edit requests it',
    )
    t.equal(edited('a\n', { type: 'deleteLine', line: 1 }), '')
  },
)

t.test('edits find non-ASCII text', async (t) => {
  t.equal(edited('é𝒳\n日本語\n', { type: 'replace', oldText: '本', newText: '𝒴' }), 'é𝒳\n日𝒴語\n')
  t.throws(() => edited('e\u0301\n', { type: 'replace', oldText: '\u00e9', newText: 'x' }), {
    code: 'REPLACE_NOT_FOUND',
  })
})

verifies(
  'trm:candidate:edits',
  'a text to replace must occur once, unless `all` or `occurrence` is set',
  async (t) => {
    const twice = 'x = 1\ny = 2\nx = 1\n'
    t.throws(() => edited(twice, { type: 'replace', oldText: 'x = 1', newText: 'x = 3' }), {
      code: 'REPLACE_AMBIGUOUS',
      data: { lines: [1, 3], count: 2, edit: 1 },
    })
    t.equal(
      edited(twice, { type: 'replace', oldText: 'x = 1', newText: 'x = 3', all: true }),
      'x = 3\ny = 2\nx = 3\n',
    )
    t.equal(
      edited(twice, { type: 'replace', oldText: 'x = 1', newText: 'x = 3', occurrence: 2 }),
      'x = 1\ny = 2\nx = 3\n',
    )
    t.throws(() => edited(twice, { type: 'replace', oldText: 'x = 1', newText: 'z', occurrence: 3 }), {
      code: 'REPLACE_NOT_FOUND',
      data: { count: 2 },
    })
    t.throws(() => edited(twice, { type: 'replace', oldText: 'absent()', newText: 'z', all: true }), {
      code: 'REPLACE_NOT_FOUND',
    })
  },
)

t.test('REPLACE_NOT_FOUND contains the most similar region', async (t) => {
  const text =
    'def total(rows):\n    result = 0\n    for row in rows:\n        result += row\n    return result\n'
  const oldText = 'for row in rows:\n  result += row'
  t.throws(() => edited(text, { type: 'replace', oldText, newText: 'x' }), {
    code: 'REPLACE_NOT_FOUND',
    message: /only in white space/,
    data: { closest: { start_line: 3, end_line: 4, text: '    for row in rows:\n        result += row' } },
  })
  t.throws(() => edited(text, { type: 'replace', oldText: '    return total_result', newText: 'x' }), {
    code: 'REPLACE_NOT_FOUND',
  })
  t.throws(() => edited(text, { type: 'replace', oldText: 'nowhere to be seen', newText: 'x' }), {
    code: 'REPLACE_NOT_FOUND',
    remedy: /no line resembles it/,
    data: { closest: undefined },
  })
  t.throws(
    () =>
      edited('mean = total(values) / (len(values) + 1)\n', {
        type: 'replace',
        oldText: 'len(value) + 1',
        newText: 'len(values)',
      }),
    {
      code: 'REPLACE_NOT_FOUND',
      data: { closest: { start_line: 1 } },
    },
  )
  t.throws(() => edited(text, { type: 'replace', oldText: 'for each row in rows:', newText: 'x' }), {
    code: 'REPLACE_NOT_FOUND',
    data: { closest: { start_line: 3 } },
  })
})

verifies('trm:candidate:edits', 'the error about overlapping edits contains their numbers', async (t) => {
  const pairs: [Edit, Edit][] = [
    [
      { type: 'replaceRange', startLine: 1, endLine: 4, content: 'x' },
      { type: 'deleteLine', line: 3 },
    ],
    [
      { type: 'replace', oldText: '2\n3', newText: 'x' },
      { type: 'replaceLine', line: 3, content: 'y' },
    ],
    [
      { type: 'deleteRange', startLine: 2, endLine: 4 },
      { type: 'insertBefore', line: 3, content: 'y' },
    ],
    [
      { type: 'replaceLine', line: 3, content: 'y' },
      { type: 'replaceLine', line: 3, content: 'z' },
    ],
  ]
  for (const pair of pairs) {
    t.throws(() => edited(five, ...pair), { code: 'EDIT_OVERLAP', data: { edits: [1, 2] } })
    t.throws(() => edited(five, ...pair.toReversed()), { code: 'EDIT_OVERLAP', data: { edits: [1, 2] } })
  }
})

t.test('edits without an effect or at lines that do not exist are rejected', async (t) => {
  const invalid: [Edit, string][] = [
    [{ type: 'replace', oldText: '', newText: 'x' }, 'INVALID_EDIT'],
    [{ type: 'replace', oldText: '1', newText: '1' }, 'INVALID_EDIT'],
    [{ type: 'insertBefore', line: 0, content: 'x' }, 'INVALID_LINE'],
    [{ type: 'insertBefore', line: 7, content: 'x' }, 'INVALID_LINE'],
    [{ type: 'insertAfter', line: 6, content: 'x' }, 'INVALID_LINE'],
    [{ type: 'deleteLine', line: 6 }, 'INVALID_LINE'],
    [{ type: 'replaceLine', line: 0, content: 'x' }, 'INVALID_LINE'],
    [{ type: 'deleteRange', startLine: 4, endLine: 3 }, 'INVALID_LINE'],
    [{ type: 'replaceRange', startLine: 4, endLine: 6, content: 'x' }, 'INVALID_LINE'],
    [{ type: 'deleteCell', cell: 0 }, 'INVALID_EDIT'],
    [{ type: 'deleteLine', line: 1, cell: 0 }, 'INVALID_EDIT'],
  ]
  for (const [edit, code] of invalid) t.throws(() => edited(five, edit), { code }, JSON.stringify(edit))
})

const repository = new URL('../../../../', import.meta.url).pathname
const isLong = process.env.CAUSEWAY_LONG !== undefined

/** Returns sources in three languages: of this project, of installed packages, and of Python if it is installed. */
function sources(): readonly string[] {
  const folders: [string, RegExp][] = [
    [`${repository}packages`, /\.ts$/],
    [`${repository}node_modules/acorn/dist`, /\.m?js$/],
    [`${repository}node_modules/fastify/lib`, /\.js$/],
    [pythonFolder(), /^[a-z]+\.py$/],
  ]
  return folders
    .filter(([folder]) => existsSync(folder))
    .flatMap(([folder, kind]) => sourcesBelow(folder, kind))
}

const files = sources()

function pythonFolder(): string {
  try {
    const script = 'import json, os; print(os.path.dirname(json.__file__))'
    return execFileSync('python3', ['-I', '-c', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return '/nonexistent'
  }
}

type Outcome = 'right' | 'wrong' | 'refused'

/** Applies a patch. `wrong` means that the patch was applied with a text that the edit did not intend. */
function outcome({ before, after, patch }: Perturbed): Outcome {
  try {
    const { changes } = applyCandidate(new Map([['file', before]]), {
      mode: 'diff',
      changes: [{ path: 'file', diff: patch }],
    })
    return changes.get('file') === after ? 'right' : 'wrong'
  } catch (error) {
    if (isCausewayError(error)) return 'refused'
    throw error
  }
}

/** Counts the outcomes of one kind of perturbation over `count` edits. */
function tally(kind: (typeof perturbations)[string], count: number, seed: number) {
  const counts = { right: 0, wrong: 0, refused: 0 }
  const wrong: string[] = []
  for (let index = 0; index < count; index++) {
    const chance = randomFrom(seed * 1000 + index)
    const edit = realEdit(files[chance.below(files.length)] ?? '', chance)
    const result = outcome(kind(edit, chance))
    counts[result]++
    if (result === 'wrong') wrong.push(`${edit.path}, seed ${seed * 1000 + index}\n${edit.patch}`)
  }
  return { ...counts, cases: wrong }
}

const edits = isLong ? 400 : isComplete ? 60 : 20

verifies(
  'trm:candidate:perturbed',
  'no perturbed patch is applied wrongly, and at least 90 of 100 are applied',
  async (t) => {
    let [right, all] = [0, 0]
    for (const [name, kind] of Object.entries(perturbations)) {
      const found = tally(kind, edits, 1)
      right += found.right
      all += edits
      t.same(found.cases, [], `${name}: wrong`)
      t.comment(`${name}: ${found.right} right, ${found.wrong} wrong, ${found.refused} refused`)
    }
    t.ok(all >= 10 * edits)
    t.ok(right / all >= 0.9, `${right} of ${all} are right`)
  },
)

verifies(
  'trm:candidate:perturbed',
  'patches with mixed perturbations are applied correctly or rejected',
  async (t) => {
    for (const [name, kind] of Object.entries(furtherPerturbations)) {
      const found = tally(kind, edits, 2)
      t.same(found.cases, [], `${name}: wrong`)
      t.ok(found.right >= 0.89 * edits, `${name}: ${found.right} of ${edits} are right`)
    }
  },
)

verifies('trm:candidate:perturbed', 'a damaged patch is rejected or applied correctly', async (t) => {
  for (const [name, kind] of Object.entries(damages)) {
    const found = tally(kind, edits, 3)
    t.comment(`${name}: ${found.right} right, ${found.wrong} wrong, ${found.refused} refused`)
    t.same(found.cases, [], `${name}: wrong`)
  }
})

t.test('a hunk that lost a + and a - is rejected although it ends with blank context lines', async (t) => {
  const before = 'call(\n    a,\n    b,\n    first,\n    second,\n)\n\n\nend\n'
  const lines = [
    '     a,',
    '     b,',
    '     first,',
    '-    second,',
    '+    one,',
    '+    two,',
    '     three,',
    ' )',
    ' ',
    ' ',
  ]
  const hunk = `@@ -2,7 +2,8 @@\n${lines.join('\n')}\n`
  const header = '--- a/a.py\n+++ b/a.py\n'
  const apply = (diff: string) =>
    applyCandidate(new Map([['a.py', before]]), { mode: 'diff', changes: [{ path: 'a.py', diff }] })
  t.throws(() => apply(header + hunk), { code: 'HUNK_MISMATCH' })
})

t.test('a patch whose indentation differs from the file is rejected', async (t) => {
  const before = 'class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n'
  const diff = '@@\n   def g(self):\n-      return 2\n+      return 3\n'
  t.throws(
    () => applyCandidate(new Map([['a.py', before]]), { mode: 'diff', changes: [{ path: 'a.py', diff }] }),
    { code: 'HUNK_MISMATCH', data: { closest: { start_line: 5, end_line: 6 } } },
  )
})

t.test('a space before every line of a patch is removed, but a space before one line is not', async (t) => {
  const before = 'class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n'
  const apply = (diff: string) =>
    applyCandidate(new Map([['a.py', before]]), { mode: 'diff', changes: [{ path: 'a.py', diff }] })
  const { changes } = apply('@@\n      def g(self):\n-         return 2\n+         return 3\n')
  t.equal(changes.get('a.py'), before.replace('return 2', 'return 3'))
  t.throws(() => apply('@@\n      def g(self):\n-         return 2\n+return 3\n'), { code: 'HUNK_MISMATCH' })
})

t.test('a patch that is cut off is rejected', async (t) => {
  const before = 'a\nb\nc\nd\ne\n'
  const diff = '@@ -1,5 +1,6 @@\n a\n b\n-c\n+1\n+2\n d\n e\n'
  const apply = (text: string) =>
    applyCandidate(new Map([['a', before]]), { mode: 'diff', changes: [{ path: 'a', diff: text }] })
  t.equal(apply(diff).changes.get('a'), 'a\nb\n1\n2\nd\ne\n')
  for (const end of [' e', ' d', '+2', '+1'])
    t.throws(() => apply(diff.slice(0, diff.lastIndexOf(`${end}\n`))), { code: 'INVALID_DIFF' }, end)
})

verifies('trm:candidate:perturbed', 'a damaged patch never loses lines silently', async (t) => {
  let applied = 0
  for (let index = 0; index < edits * 5; index++) {
    const chance = randomFrom(3_000_000 + index)
    const edit = realEdit(files[chance.below(files.length)] ?? '', chance)
    const patch = damaged(edit.patch, chance)
    const after = textAfter(edit.before, patch)
    if (after === undefined) continue
    applied++
    const body = patch.split('\n').filter((line) => !/^(---|\+\+\+) /.test(line))
    const change =
      body.filter((line) => line.startsWith('+')).length - body.filter((line) => line.startsWith('-')).length
    const lines = (text: string) => text.replace(/\n$/, '').split('\n').length
    t.equal(lines(after) - lines(edit.before), change, `${edit.path}, seed ${3_000_000 + index}\n${patch}`)
  }
  t.ok(applied > edits / 2, `${applied} were applied all the same`)
})

/** Omits, repeats or truncates a line of a patch, or ends the patch early. */
function damaged(patch: string, chance: Random): string {
  const lines = patch.replace(/\n$/, '').split('\n')
  const at = 2 + chance.below(lines.length - 2)
  const line = lines[at] ?? ''
  const damages = [
    [],
    [line, line],
    [line.slice(0, chance.below(line.length + 1))],
    [line, 'and so on'],
    ['diff --git a/x b/x', line],
    ['', line],
  ]
  lines.splice(at, 1, ...(damages[chance.below(damages.length)] ?? []))
  return `${(chance.below(6) === 0 ? lines.slice(0, at + 1) : lines).join('\n')}\n`
}

/** Returns the text after a patch, or `undefined` if it is rejected. */
function textAfter(before: string, diff: string): string | undefined {
  try {
    const candidate = { mode: 'diff', changes: [{ path: 'file', diff }] } as const
    const after = applyCandidate(new Map([['file', before]]), candidate).changes.get('file') ?? before
    return typeof after === 'string' ? after : undefined
  } catch (error) {
    if (isCausewayError(error)) return undefined
    throw error
  }
}
