/** Measures what recording a frame costs with each recorder, and as NDJSON. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { McapStreamReader } from '@mcap/core'
import { decodeMessage, frameMessage } from '../../../packages/recording/src/formats/mcap/messages.ts'
import { number, type Section } from '../../report.ts'
import { interleaved, median } from '../../rounds.ts'
import { boxes, contacts, createData, frames } from './frames.ts'

const rounds = 5
const here = import.meta.dirname

interface Way {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Name of the NDJSON that it is compared with. */
  readonly peer: string
}

/** Records the same frames in every way, in alternating rounds. Needs python3 and g++. */
export async function measureRecorders(folder: string, say: (line: string) => void): Promise<Section> {
  const data = join(folder, 'frames.f64')
  writeFileSync(data, createData())
  const ways = findWays(folder, say)
  const measured = await interleaved(
    ways.map(({ name, command: [program, ...args] }, i) => ({
      name,
      run: async () => {
        const path = join(folder, `recorded-${i}`)
        const env = { ...process.env, PYTHONPATH: join(here, '../../../recorders/python') }
        const micros = Number(execFileSync(program, [...args, data, path], { env, encoding: 'utf8' }))
        return { micros: micros / frames, bytes: statSync(path).size / frames }
      },
    })),
    rounds,
  )
  requireEqual(ways.flatMap(({ name, peer }, i) => (name === peer ? [] : [join(folder, `recorded-${i}`)])))
  const get = (name: string, key: 'micros' | 'bytes') =>
    median((measured.get(name) ?? []).map((one) => one[key]))
  return {
    title: `Recording a frame of ${boxes} boxes with ${contacts} contact points`,
    about: `${number(frames)} frames from the start of the program, compilation of JavaScript included; ${rounds} interleaved rounds, medians. All MCAP files contain the same frames, without compression. µs of processor time for the calls of the recorder, until the file is complete; the arguments exist before. NDJSON is written by the JSON library of the language, 256 KiB at a time; C++ has none and is compared with that of JavaScript.`,
    head: ['', 'µs per frame', 'of NDJSON', 'bytes per frame', 'of NDJSON'],
    rows: ways.map(({ name, peer }) => [
      name,
      number(get(name, 'micros')),
      number(get(name, 'micros') / get(peer, 'micros')),
      number(get(name, 'bytes')),
      number(get(name, 'bytes') / get(peer, 'bytes')),
    ]),
  }
}

function findWays(folder: string, say: (line: string) => void): readonly Way[] {
  const has = (program: string): boolean => {
    const isInstalled = spawnSync(program, ['--version']).status === 0
    if (!isInstalled) say(`not measured: ${program} is not installed`)
    return isInstalled
  }
  const js = (mode: string) => [process.execPath, join(here, 'record.ts'), mode] as const
  const python = (mode: string) => ['python3', '-B', join(here, 'record.py'), mode] as const
  const ways: Way[] = [
    { name: 'JavaScript, NDJSON', command: js('ndjson'), peer: 'JavaScript, NDJSON' },
    { name: 'JavaScript, contacts as objects', command: js('contacts'), peer: 'JavaScript, NDJSON' },
    { name: 'JavaScript, columns as typed arrays', command: js('columns'), peer: 'JavaScript, NDJSON' },
  ]
  if (has('python3'))
    ways.push(
      { name: 'Python, NDJSON', command: python('ndjson'), peer: 'Python, NDJSON' },
      { name: 'Python, contacts as dicts', command: python('contacts'), peer: 'Python, NDJSON' },
      { name: 'Python, columns as arrays', command: python('columns'), peer: 'Python, NDJSON' },
    )
  if (has('g++')) {
    const program = join(folder, 'record')
    execFileSync('g++', ['-std=c++17', '-O2', '-o', program, join(here, 'record.cpp')])
    ways.push({ name: 'C++, columns as vectors', command: [program], peer: 'JavaScript, NDJSON' })
  }
  return ways
}

/** Throws if the frames of the files differ. */
function requireEqual(files: readonly string[]): void {
  const [first, ...others] = files.map(digest)
  if (others.some((other) => other !== first)) throw new Error('the recorders did not record the same frames')
}

/** Returns a digest of all frames of a file, whatever the order of their fields. */
function digest(file: string): string {
  const reader = new McapStreamReader()
  reader.append(readFileSync(file))
  const hash = createHash('sha256')
  let count = 0
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
    if (record.type !== 'Message' || record.channelId !== 2) continue
    count += 1
    const fields = Object.entries(decodeMessage(record.data, frameMessage)).filter(
      ([, value]) => value !== undefined,
    )
    const sorted = fields.sort(([one], [other]) => (one < other ? -1 : 1))
    hash.update(JSON.stringify(sorted, (_, value) => (value instanceof Float64Array ? [...value] : value)))
  }
  if (count !== frames) throw new Error(`${file} has ${count} of ${frames} frames`)
  return hash.digest('hex')
}
