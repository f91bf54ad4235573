import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isCausewayError } from '@causeway/protocol'
import t from 'tap'
import { type Random, randomFrom } from '../../../../../test/random.ts'
import { verifies } from '../../../../../test/verifies.ts'
import { applyCandidate } from '../../../src/domain/candidate/apply.ts'
import {
  furtherPerturbations,
  type Perturbed,
  perturbations,
  realEdit,
  sourcesBelow,
} from './perturbation.ts'

const repository = new URL('../../../../../', import.meta.url).pathname
const isLong = process.env.CAUSEWAY_LONG !== undefined

/** Sources of three languages: ours, those of packages that are installed, and Python's where there is a Python. */
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

/** `wrong` is a success with another text than the edit meant. */
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

/** Outcomes of one kind of perturbation over `count` edits. */
function tally(kind: (typeof perturbations)[string], count: number, seed: number) {
  const files = sources()
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

const edits = isLong ? 400 : 60

verifies(
  'trm:candidate:perturbed',
  'a patch: of perturbed ones none is applied wrongly, and at least 89 of 100 are applied',
  async (t) => {
    let [right, all] = [0, 0]
    for (const [name, kind] of Object.entries(perturbations)) {
      const found = tally(kind, edits, 1)
      right += found.right
      all += edits
      t.same(found.cases, [], `${name}: wrong`)
      t.comment(`${name}: ${found.right} right, ${found.wrong} wrong, ${found.refused} refused`)
    }
    t.ok(all >= 600)
    t.ok(right / all >= 0.89, `${right} of ${all} are right`)
  },
)

verifies(
  'trm:candidate:perturbed',
  'a patch: mixed and further perturbations are applied rightly or refused',
  async (t) => {
    for (const [name, kind] of Object.entries(furtherPerturbations)) {
      const found = tally(kind, edits, 2)
      t.same(found.cases, [], `${name}: wrong`)
      t.ok(found.right >= 0.89 * edits, `${name}: ${found.right} of ${edits} are right`)
    }
  },
)

t.test(
  'a patch: one that is indented otherwise than the file is refused with the text that would fit',
  async (t) => {
    const before = 'class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n'
    const diff = '@@\n   def g(self):\n-      return 2\n+      return 3\n'
    t.throws(
      () => applyCandidate(new Map([['a.py', before]]), { mode: 'diff', changes: [{ path: 'a.py', diff }] }),
      {
        code: 'HUNK_MISMATCH',
        data: { shifted: '     def g(self):\n-        return 2\n+        return 3' },
      },
    )
  },
)

verifies('trm:candidate:perturbed', 'a patch: of a damaged one nothing is lost in silence', async (t) => {
  const files = sources()
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
  t.ok(applied > edits, `${applied} were applied all the same`)
})

/** Leaves a line out, repeats one, cuts one short, or ends the patch early. */
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

/** The text after a patch; undefined where it is refused. */
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
