import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnalyseCall, Recording } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { diagnose, firstQuestions } from '../src/diagnose.ts'
import { frameRange } from '../src/domain/frame-range.ts'
import type { Replay } from '../src/store.ts'
import { ask, fixtures, openReplay, rowsOf } from './replay-kit.ts'

/** Kinds of the committed set that are older than those of findings. */
const renamed: Readonly<Record<string, string>> = { cone_violation: 'friction_cone' }

const { files } = JSON.parse(readFileSync(join(fixtures, 'manifest.json'), 'utf8')) as {
  files: {
    name: string
    era: string | null
    fault: { kind: string; frame: number; bodies: number[] } | null
  }[]
}
// The long form takes every recording; so does the score over all of them, which calls the laws without the tool.
const few = [
  'cone_violation',
  'energy_injection',
  'nan',
  'tunnelling',
  'penetration',
  'drop',
  'era_unified',
  'stack',
]
const recordings = files.filter(
  ({ name }) =>
    !/^(asset_database|empty|not_a_database)/.test(name) &&
    (process.env.CAUSEWAY_LONG !== undefined || few.includes(name.replace('.db', ''))),
)
t.ok(recordings.length >= few.length)

for (const { name, fault } of recordings.filter((file) => file.fault !== null)) {
  verifies('replay:diagnose', `diagnose: ${name} has its fault first`, async (t) => {
    const answer = await (await ask(t, name.replace('.db', ''))).call('diagnose')
    const [first] = rowsOf(answer.findings)
    t.equal(first?.kind, renamed[fault?.kind ?? ''] ?? fault?.kind)
    const frames = first?.frames as { first: number; last: number }
    const frame = fault?.frame ?? 0
    t.ok(Math.abs(frames.first - frame) <= 1, `frame ${frames.first} is ${frame}`)
    const named = (first?.bodies ?? []) as number[]
    const bodies = fault?.bodies ?? []
    t.ok(bodies.length === 0 || bodies.some((id) => named.includes(id)))
    t.ok(Buffer.byteLength(JSON.stringify(answer)) <= 2000, 'the answer fits in 2 kB')
  })
}

for (const { name } of recordings.filter((file) => file.fault === null))
  verifies('replay:diagnose', `diagnose: ${name} is clean`, async (t) => {
    const { findings } = await (await ask(t, name.replace('.db', ''))).call('diagnose', { max_findings: 200 })
    t.same(
      rowsOf(findings).filter(({ severity }) => severity !== 'info'),
      [],
    )
  })

verifies(
  'replay:diagnose',
  'diagnose: a range that ends before the fault is clean, one that begins in it finds it',
  async (t) => {
    const client = await ask(t, 'cone_violation')
    t.same((await client.call('diagnose', { end_frame: 19 })).findings, [])
    const [found] = rowsOf((await client.call('diagnose', { start_frame: 30 })).findings)
    t.match(found, { kind: 'friction_cone', frames: { first: 30, last: 60 }, pair: [2, 2147483649] })
  },
)

verifies(
  'replay:diagnose',
  'diagnose: a call that was cancelled ends, and the recording goes on answering',
  async (t) => {
    const { client } = await openReplay(t, ['stack'])
    const one = client()
    await one.call('load_recording', { path: 'stack' })
    const controller = new AbortController()
    controller.abort()
    await t.rejects(one.call('diagnose', {}, { signal: controller.signal }))
    t.ok(Number((await one.call('diagnose')).frames_checked) > 50)
  },
)

verifies('replay:diagnose', 'diagnose: what it names as evidence can be called', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const [first] = rowsOf((await client.call('diagnose')).findings)
  for (const call of (first?.evidence_calls ?? []) as string[]) {
    const [tool = '', ...args] = call.split(' ')
    t.type((await client.call(tool, JSON.parse(args.join(' ')))).summary, 'string', tool)
  }
})

verifies(
  'replay:diagnose',
  'diagnose: energies up to 1e160 J are one blow-up, named from its first bad frame',
  async (t) => {
    const client = await ask(t, 'stack', {
      change: (db) => {
        const body = db.prepare(
          'UPDATE EnergyRecord SET linear_ke = ?, total_e = total_e + ? WHERE frame_id = ? AND body_id = 3',
        )
        const system = db.prepare(
          'UPDATE SystemEnergyRecord SET total_linear_ke = ?, total_system_e = total_system_e + ? WHERE frame_id = ?',
        )
        for (let frame = 20; frame <= 60; frame++) {
          const energy = 10 ** (4 * (frame - 20))
          body.run(energy, energy, frame)
          system.run(energy, energy, frame)
        }
      },
    })
    const { findings } = await client.call('diagnose')
    const [first, ...rest] = rowsOf(findings)
    t.match(first, { kind: 'blow_up', bodies: [3], severity: 'error' })
    t.equal((first?.frames as { first: number } | undefined)?.first, 20)
    t.ok(rest.every(({ follows }) => follows === 'f1'))
  },
)

verifies(
  'replay:diagnose',
  'diagnose: its first question is foreseen in the words in which it is asked',
  async (t) => {
    const asked: object[] = []
    const { app } = await openReplay(t, ['drop'])
    const { recording } = await (app.store as Replay).open('drop')
    const watched: Recording = Object.create(recording, {
      analyse: {
        value(name: string, args: unknown, { isKept }: AnalyseCall) {
          asked.push({ name, args, isKept })
          return recording.analyse(name, args)
        },
      },
    })
    await diagnose(watched, frameRange({}, recording.summary.frames))
    const [question] = firstQuestions(recording.summary)
    t.equal(JSON.stringify(asked), JSON.stringify([{ ...question, isKept: false }]))
    await diagnose(watched, { start: 1, end: 501 })
    t.match(asked[1], { isKept: true }, 'the answer over a long range is kept')
  },
)
