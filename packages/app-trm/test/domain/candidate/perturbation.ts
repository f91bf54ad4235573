/** Edits of real sources, and patches for them with the mistakes that models make. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { Random } from '../../../../../test/random.ts'

/** A reproducible source of random numbers. */
type Chance = Pick<Random, 'below'>

/** An edit of a file: the text before and after, and the patch that a program creates for it. */
export interface RealEdit {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly patch: string
}

/** A patch, possibly for another form of the file, and the expected text. */
export interface Perturbed {
  readonly before: string
  readonly after: string
  readonly patch: string
}

/** Returns the source files of medium length below a folder, in order. */
export function sourcesBelow(folder: string, extension: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && extension.test(entry.name) && !/node_modules|\bdist\b/.test(entry.parentPath),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .filter((path) => {
      const lines = readFileSync(path, 'utf8').split('\n').length
      return lines > 40 && lines < 1500
    })
}

/** Rewrites, adds and removes lines at one to three positions in a file, as real changes do. */
export function realEdit(path: string, chance: Chance): RealEdit {
  const before = readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const lines = before.split('\n')
  const places = 1 + chance.below(3)
  for (let place = 0; place < places || lines.join('\n') === before; place++) changePlace(lines, chance)
  const after = lines.join('\n')
  const patch = createTwoFilesPatch('a/file', 'b/file', before, after, undefined, undefined, { context: 3 })
  return { path, before, after, patch: patch.slice(patch.indexOf('--- ')) }
}

function changePlace(lines: string[], chance: Chance): void {
  const at = 1 + chance.below(lines.length - 2)
  const line = lines[at] ?? ''
  const indent = /^\s*/.exec(line)?.[0] ?? ''
  const name = `value${chance.below(1000)}`
  switch (chance.below(4)) {
    case 0:
      lines.splice(at, 1, line.replace(/\w+/, name) || `${indent}${name}`)
      break
    case 1:
      lines.splice(at, 0, `${indent}${name} = check(${name})`, `${indent}keep(${name})`)
      break
    case 2:
      lines.splice(at, 1 + chance.below(3))
      break
    default:
      lines.splice(
        at,
        2,
        `${indent}${name} = first()`,
        `${indent}${name}.second()`,
        `${indent}third(${name})`,
      )
  }
}

type Perturbation = (edit: RealEdit, chance: Chance) => Perturbed

const withPatch =
  (change: (patch: string, chance: Chance) => string): Perturbation =>
  ({ before, after, patch }, chance) => ({ before, after, patch: change(patch, chance) })

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*$/gm

const shifted = (by: number) =>
  withPatch((patch) =>
    patch.replace(header, (_all, old: string, olds = '1', now: string, news = '1') => {
      return `@@ -${Number(old) + by},${olds} +${Number(now) + by},${news} @@`
    }),
  )

const wrongCounts = withPatch((patch) =>
  patch.replace(header, (_all, old: string, _olds, now: string) => `@@ -${old},42 +${now},7 @@`),
)

const bare = withPatch((patch) => patch.replace(header, '@@'))

const trimmed = withPatch((patch) => patch.replace(/^ $/gm, ''))

/** Changes the text of one context line of each hunk. */
const wrongContext = withPatch((patch, chance) =>
  patch
    .split(/^(?=@@)/m)
    .map((part) => {
      const lines = part.split('\n')
      const context = [...lines.keys()].filter((index) => /^ ./.test(lines[index] ?? ''))
      const chosen = context[chance.below(Math.max(1, context.length))]
      if (chosen !== undefined && part.startsWith('@@')) lines[chosen] = `${lines[chosen]} (changed)`
      return lines.join('\n')
    })
    .join(''),
)

/** Omits the first context line of each hunk, like models that start too late. */
const firstContextDropped = withPatch((patch) => patch.replace(/^(@@.*)\n .*\n/gm, '$1\n'))

const indented = withPatch((patch) => patch.replace(/^([ +-])(?!\+\+|--)(?=.)/gm, '$1 '))

const windows: Perturbation = ({ before, after, patch }) => ({
  before: before.replaceAll('\n', '\r\n'),
  after: after.replaceAll('\n', '\r\n'),
  patch,
})

const fenced = withPatch(
  (patch) => `Here is the change:\n\n\`\`\`diff\n${patch}\`\`\`\n\nIt renames what was unclear.\n`,
)

/** The ten perturbations of the reference measurement, in its order. */
export const perturbations: Readonly<Record<string, Perturbation>> = {
  clean: withPatch((patch) => patch),
  'line numbers +17': shifted(17),
  'wrong counts': wrongCounts,
  'bare @@': bare,
  'blanks trimmed': trimmed,
  'one context line wrong': wrongContext,
  'first context line dropped': firstContextDropped,
  'indented by one': indented,
  'file with CRLF': windows,
  'in a Markdown fence': fenced,
}

const chained =
  (...steps: readonly Perturbation[]): Perturbation =>
  (edit, chance) => {
    let done = edit
    for (const step of steps) done = { ...done, ...step(done, chance) }
    return done
  }

/** Further perturbations, and combinations. */
export const furtherPerturbations: Readonly<Record<string, Perturbation>> = {
  'patch with CRLF': withPatch((patch) => patch.replaceAll('\n', '\r\n')),
  'no last line end': ({ before, after, patch }) => ({
    before: before.replace(/\n$/, ''),
    after: after.replace(/\n$/, ''),
    patch,
  }),
  'byte order mark': ({ before, after, patch }) => ({
    before: `\ufeff${before}`,
    after: `\ufeff${after}`,
    patch,
  }),
  'no file header': withPatch((patch) => patch.replace(/^---.*\n\+\+\+.*\n/, '')),
  'wrong counts, +17, fenced, CRLF': chained(shifted(17), wrongCounts, windows, fenced),
  'lines added above the file': ({ before, after, patch }) => {
    const above = Array.from({ length: 30 }, (_, index) => `added ${index}\n`).join('')
    return { before: above + before, after: above + after, patch }
  },
}

/** Changes one random line of the hunks that begins with `mark`. */
const withLine =
  (mark: string, change: (line: string) => readonly string[]): Perturbation =>
  (edit, chance) => {
    const lines = edit.patch.split('\n')
    const marked = [...lines.keys()].filter(
      (index) => index > 1 && (lines[index] ?? '').startsWith(mark) && (lines[index] ?? '').trim().length > 1,
    )
    const at = marked[chance.below(Math.max(1, marked.length))]
    if (at !== undefined) lines.splice(at, 1, ...change(lines[at] ?? ''))
    return { ...edit, patch: lines.join('\n') }
  }

const reversed = withPatch((patch) => {
  const [head = '', ...hunks] = patch.split(/^(?=@@)/m)
  return [head, ...hunks.toReversed()].join('')
})

/** Damage that no program can repair with certainty. The patch must be rejected or applied as intended. */
export const damages: Readonly<Record<string, Perturbation>> = {
  'a + is missing': withLine('+', (line) => [` ${line.slice(1)}`]),
  'a + is cut off': withLine('+', (line) => [line.slice(1)]),
  'a - is missing': withLine('-', (line) => [` ${line.slice(1)}`]),
  'a - is cut off': withLine('-', (line) => [line.slice(1)]),
  'an added line is missing': withLine('+', () => []),
  'a removed line is missing': withLine('-', () => []),
  'a + and a - are missing': chained(
    withLine('+', (line) => [` ${line.slice(1)}`]),
    withLine('-', (line) => [` ${line.slice(1)}`]),
  ),
  'every + and - is missing': withPatch((patch) => patch.replace(/^[+-](?!\+\+ |-- )/gm, ' ')),
  'hunks in reverse order': reversed,
  'hunks in reverse order, +17': chained(reversed, shifted(17)),
  'a + is missing, wrong counts': chained(
    withLine('+', (line) => [` ${line.slice(1)}`]),
    wrongCounts,
  ),
  'one context line wrong, wrong counts': chained(wrongContext, wrongCounts),
  'one context line wrong, bare @@': chained(wrongContext, bare),
}
