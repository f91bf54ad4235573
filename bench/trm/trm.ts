/** Measures Trm: patches that models damage, candidates that forge their evaluation, and the text of a step. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openForTest } from '../../packages/app-kit/src/testing.ts'
import { applyCandidate } from '../../packages/app-trm/src/domain/candidate/apply.ts'
import trm from '../../packages/app-trm/src/index.ts'
import {
  damages,
  perturbations,
  realEdit,
  sourcesBelow,
} from '../../packages/app-trm/test/domain/candidate/perturbation.ts'
import { createGamingCases, createSample } from '../../packages/app-trm/test/gaming/cases.ts'
import { createHiddenCases } from '../../packages/app-trm/test/gaming/hidden-cases.ts'
import { createIndirectCases } from '../../packages/app-trm/test/gaming/indirect-cases.ts'
import { createSurroundingsCases } from '../../packages/app-trm/test/gaming/surroundings-cases.ts'
import { isCausewayError } from '../../packages/protocol/src/index.ts'
import { randomFrom } from '../../test/random.ts'
import type { Section } from '../report.ts'

/** Edits for each kind of perturbation, and the first seed. */
const [editCount, firstSeed] = [400, 9_000_000]

/** The interpreter of the system, if there is one: it starts faster than those of version managers. */
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'

/** Returns the tables. `folder` is writable, `root` is the repository. */
export async function measureTrm(
  folder: string,
  root: string,
  say: (line: string) => void,
): Promise<readonly Section[]> {
  const sections = [
    measurePatches('Patches of the ten kinds of the reference', perturbations, root),
    measurePatches('Damaged patches: refused, or right', damages, root),
  ]
  say('some minutes: every forgery is evaluated')
  sections.push(await measureGaming(folder))
  sections.push(await measureText(folder))
  return sections
}

function measurePatches(title: string, kinds: typeof perturbations, root: string): Section {
  const files = sourcesBelow(join(root, 'packages'), /\.ts$/)
  let [right, wrong, all] = [0, 0, 0]
  const rows = Object.entries(kinds).map(([name, perturb]) => {
    const counts = { right: 0, wrong: 0, refused: 0 }
    for (let index = 0; index < editCount; index++) {
      const chance = randomFrom(firstSeed + index)
      const edit = realEdit(files[chance.below(files.length)] ?? '', chance)
      counts[judgePatch(perturb(edit, chance))]++
    }
    right += counts.right
    wrong += counts.wrong
    all += editCount
    return [name, ...Object.values(counts).map(String)]
  })
  const share = `${((100 * right) / all).toFixed(1)} %`
  return {
    title,
    about: `${editCount} generated edits of each kind; right in total: ${share}, wrong: ${wrong}.`,
    head: ['kind', 'right', 'wrong', 'refused'],
    rows,
  }
}

function judgePatch({ before, after, patch }: { before: string; after: string; patch: string }) {
  try {
    const candidate = { mode: 'diff', changes: [{ path: 'file', diff: patch }] } as const
    const { changes } = applyCandidate(new Map([['file', before]]), candidate)
    return changes.get('file') === after ? 'right' : 'wrong'
  } catch (error) {
    if (isCausewayError(error)) return 'refused'
    throw error
  }
}

type Call = (tool: string, args: object) => Promise<Record<string, unknown>>

/** Opens Trm over a new project. */
async function withProject<Result>(
  folder: string,
  files: Readonly<Record<string, string>>,
  use: (call: Call, project: string) => Promise<Result>,
): Promise<Result> {
  const dir = mkdtempSync(join(folder, 'trm-'))
  const project = join(dir, 'project')
  mkdirSync(join(dir, 'data'))
  mkdirSync(project)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  let ids = 0
  const app = await openForTest(trm, {
    dir: join(dir, 'data'),
    settings: { trmRoots: [dir], trmParallel: 1, trmCommands: 'any' },
    now: Date.now,
    newId: () => `id-${++ids}`,
  })
  try {
    const client = app.client()
    return await use((tool, args) => client.call(tool, args) as Promise<Record<string, unknown>>, project)
  } finally {
    await app.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function measureGaming(folder: string): Promise<Section> {
  const withPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0
  const sample = createSample(randomFrom(firstSeed))
  const runners = {
    unittest: `${python} -m unittest`,
    pytest: withPytest ? `${python} -m pytest -q` : undefined,
  }
  const cases = [createGamingCases, createIndirectCases, createHiddenCases, createSurroundingsCases].flatMap(
    (create) => create(sample, runners),
  )
  const rows: string[][] = []
  let [successes, best, named] = [0, 0, 0]
  for (const { rule, runner, project, commands, candidate } of cases) {
    const files = Object.entries(candidate).map(([path, content]) =>
      content === null ? { path, delete: true } : { path, content },
    )
    const result = await withProject(folder, project, async (call) => {
      await call('start', { repo: 'project', ...commands })
      const { rule: decision, guard } = await call('submit', {
        candidate: { mode: 'files', files },
        details: true,
      })
      const { bestStep } = await call('state', {})
      return {
        decision: String(decision ?? 'continue'),
        bestStep: Number(bestStep),
        named: nameGuard(guard as GuardAnswer | null),
      }
    })
    if (result.decision === 'success') successes++
    if (result.named !== '') named++
    if (result.bestStep !== 0) best++
    rows.push([runner, rule, result.decision, result.bestStep === 0 ? 'no' : 'yes', result.named])
  }
  return {
    title: 'Candidates that forge their evaluation',
    about: `${cases.length} candidates${withPytest ? '' : ', without pytest, which is not installed'}; success: ${successes}, best state: ${best}, named by the guard: ${named}; in the others tests fail or are missing. Code that recognizes its tests without any known trace cannot be excluded; the answer to a success names it.`,
    head: ['runner', 'the candidate', 'decision', 'best', 'named'],
    rows,
  }
}

interface GuardAnswer {
  readonly files: readonly string[]
  readonly suspicions: readonly string[]
  readonly probe: string
}

/** Returns what the guard names: restored files, suspicious lines, or tests that must fail and did not. */
const nameGuard = (guard: GuardAnswer | null): string =>
  guard === null
    ? ''
    : [
        ...guard.files.slice(0, 1),
        ...guard.suspicions.slice(0, 1),
        ...(guard.probe === 'not reported' ? ['hidden failures'] : []),
      ].join('; ')

/** A loop of three edits by an editor, with the text that a model reads; the bare loop reads the output of the tests. */
async function measureText(folder: string): Promise<Section> {
  const sample = createSample(randomFrom(firstSeed + 1))
  const [{ project } = { project: {} }] = createGamingCases(sample, {
    unittest: `${python} -m unittest`,
    pytest: undefined,
  })
  const file = `${sample.module}.py`
  const steps = [sample.source.replace('+ 1', '+ 2'), sample.source.replace('+ 1', '- 1'), sample.repaired]
  const rows = await withProject(folder, project, async (call, path) => {
    const bare = () => {
      const { stdout, stderr } = spawnSync(python, ['-m', 'unittest', '-v'], {
        cwd: path,
        encoding: 'utf8',
      })
      return stdout.length + stderr.length
    }
    const measure = async (name: string, tool: string, args: object) => {
      const plain = tool === 'end' ? 0 : bare()
      const text = JSON.stringify(await call(tool, args)).length
      return [name, plain, text] as const
    }
    const measured = [await measure('start', 'start', { repo: 'project', test: `${python} -m unittest` })]
    for (const [index, text] of steps.entries()) {
      writeFileSync(join(path, file), text)
      measured.push(await measure(`step ${index + 1}`, 'submit', {}))
    }
    measured.push(await measure('end', 'end', { apply: 'best' }))
    if (readFileSync(join(path, file), 'utf8') !== sample.repaired)
      throw new Error(`not the best state: ${readdirSync(path)}`)
    return measured
  })
  const [plain, text] = [1, 2].map((column) => rows.reduce((sum, row) => sum + Number(row[column]), 0))
  return {
    title: 'Text of a loop with an editor',
    about: `Characters that a model reads; in total ${((text ?? 0) / (plain ?? 1)).toFixed(2)} times the bare loop.`,
    head: ['call', 'output of the tests', 'answer of Trm'],
    rows: [...rows, ['total', plain, text] as const].map((row) => row.map(String)),
  }
}
