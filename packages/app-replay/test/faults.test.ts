import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestClient } from '@causeway/app-kit/testing'
import { verifies } from '../../../test/verifies.ts'
import { ask, fixtures, rowsOf } from './replay-kit.ts'

/** The fault as the generator of the recording put it in. */
interface Fault {
  readonly kind: string
  readonly frame: number
  readonly last: number
  readonly bodies: readonly number[]
}

/** First frame in which a question shows the fault, and the bodies that it names; each through the tools alone. */
type Finder = (client: TestClient, fault: Fault) => Promise<{ frame: unknown; bodies: unknown[] }>

const finders: Readonly<Record<string, Finder>> = {
  async energy_injection(client) {
    const { anomalies } = await client.call('find_energy_anomalies')
    const found = rowsOf(anomalies).find(({ kind }) => kind === 'injection')
    return { frame: found?.frame_id, bodies: rowsOf(found?.per_body).map(({ body_id }) => body_id) }
  },
  async cone_violation(client, { frame }) {
    const before = await client.call('check_friction_cone', { frame_id: frame - 1 })
    const { exceeding } = await client.call('check_friction_cone', { frame_id: frame })
    const [pair] = rowsOf(exceeding)
    return {
      frame: before.strict_violation_count === 0 && pair !== undefined ? frame : undefined,
      bodies: [pair?.body_a_id, pair?.body_b_id],
    }
  },
  async penetration(client, { frame, last }) {
    const shallow = await client.call('check_penetration', { frame_id: frame - 1 })
    const deep = await client.call('check_penetration', { frame_id: last })
    const [pair] = rowsOf(deep.excessive_penetrations)
    const first = await client.call('check_penetration', { frame_id: frame })
    const isFirst =
      rowsOf(shallow.excessive_penetrations).length === 0 && rowsOf(first.excessive_penetrations).length > 0
    return { frame: isFirst ? frame : undefined, bodies: [pair?.body_a_id, pair?.body_b_id] }
  },
  async tunnelling(client, { frame, bodies }) {
    const args = { body_id: bodies[0], frame_a: frame - 1, frame_b: frame }
    const { position_delta_magnitude, contact_delta } = await client.call('compare_body_across_frames', args)
    const isFree = (contact_delta as { contacts_b: number }).contacts_b === 0
    return { frame: isFree && Number(position_delta_magnitude) > 1 ? frame : undefined, bodies: [...bodies] }
  },
  async solver_stall(client, { bodies }) {
    const { not_converged } = await client.call('get_solver_diagnostics')
    return { frame: (not_converged as number[])[0], bodies: [...bodies] }
  },
  async nan(client) {
    const { anomalies } = await client.call('find_energy_anomalies')
    const found = rowsOf(anomalies).find(({ kind }) => kind === 'nonfinite')
    return { frame: found?.frame_id, bodies: [rowsOf(found?.per_body)[0]?.body_id] }
  },
  async frozen_time(client, { frame, bodies }) {
    const elapsed = async (a: number, b: number): Promise<unknown> =>
      (await client.call('compare_body_across_frames', { body_id: bodies[0] ?? 2, frame_a: a, frame_b: b }))
        .elapsed_time
    const moved = Number(await elapsed(frame - 2, frame - 1))
    return {
      frame: (await elapsed(frame - 1, frame)) === 0 && moved > 0 ? frame : undefined,
      bodies: [...bodies],
    }
  },
}

verifies('replay:faults', async (t) => {
  const { files } = JSON.parse(readFileSync(join(fixtures, 'manifest.json'), 'utf8')) as {
    files: { name: string; fault: unknown }[]
  }
  const faulty = files.filter(({ fault }) => fault !== null && fault !== undefined)
  t.ok(faulty.length >= 8)
  for (const file of faulty) {
    const name = file.name.replace('.db', '')
    await t.test(name, async (t) => {
      const { fault } = JSON.parse(readFileSync(join(fixtures, `${name}.expected.json`), 'utf8')) as {
        fault: Fault
      }
      const find = finders[fault.kind]
      t.ok(find, `a question finds ${fault.kind}`)
      if (find === undefined) return
      const found = await find(await ask(t, name), fault)
      t.equal(found.frame, fault.frame)
      t.same(found.bodies, fault.bodies)
    })
  }
})
