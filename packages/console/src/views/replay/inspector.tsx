import type { Contact, FrameResult, Scene } from '../../data/replay.ts'
import { type SceneBody, toEulerDegrees } from '../../domain/bodies.ts'
import { formatNumber } from '../../domain/text.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Loaded, LoadedView } from '../../ui/state.tsx'

const maxBodies = 100

type Pair = readonly [number, number]

export function Inspector({
  bodies,
  selected,
  setSelected,
  pair,
  setPair,
  frame,
  scene,
}: {
  bodies: readonly SceneBody[]
  selected: number | undefined
  setSelected: (body: number | undefined) => void
  pair: Pair | undefined
  setPair: (pair: Pair | undefined) => void
  frame: Loaded<FrameResult>
  scene: Scene | undefined
}) {
  return (
    <section class="stack" aria-labelledby="frame-title" style={{ gap: '8px' }}>
      <h2 id="frame-title">Frame</h2>
      <LoadedView loaded={frame}>
        {(value) => (
          <>
            <FrameFacts frame={value} contacts={scene?.contacts} />
            <BodyTable {...{ bodies, selected, setSelected }} frame={value} />
            {selected !== undefined && scene !== undefined && (
              <BodyContacts {...{ scene, bodies, pair, setPair }} body={selected} />
            )}
            <BodyMotion state={value.states.find(({ body_id }) => body_id === selected)} />
          </>
        )}
      </LoadedView>
    </section>
  )
}

function FrameFacts({ frame, contacts }: { frame: FrameResult; contacts: readonly Contact[] | undefined }) {
  const { frame_id, solver, system_energy: energy, simulation_time: time } = frame
  const facts: [string, string][] = [
    ['Frame', `${frame_id}${time === null ? '' : ` at ${formatNumber(time)} s`}`],
    ...(energy?.total_system_e == null
      ? []
      : ([['Energy', `${formatNumber(energy.total_system_e)} J${formatChange(energy.delta_e)}`]] as [
          string,
          string,
        ][])),
    ...(solver === null
      ? []
      : ([
          [
            'Solver',
            `${solver.iterations === 1 ? '1 iteration' : `${solver.iterations ?? '?'} iterations`}, ${solver.converged === null ? 'convergence not recorded' : solver.converged ? 'converged' : 'not converged'}`,
          ],
        ] as [string, string][])),
    ...(contacts === undefined
      ? []
      : ([['Pairs in contact', String(contacts.length)]] as [string, string][])),
  ]
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const formatChange = (delta: number | null): string =>
  delta === null ? '' : `, ${delta >= 0 ? '+' : ''}${formatNumber(delta)} J`

const formatSource = {
  recorded: 'recorded shape',
  estimated: 'shape estimated',
  unknown: 'shape unknown',
} as const

function BodyTable({
  bodies,
  selected,
  setSelected,
  frame,
}: {
  bodies: readonly SceneBody[]
  selected: number | undefined
  setSelected: (body: number | undefined) => void
  frame: FrameResult
}) {
  const states = new Map(frame.states.map((state) => [state.body_id, state]))
  return (
    <div class="scroll">
      <table class="bodies">
        <thead>
          <tr>
            <th>Body</th>
            <th class="number">x m</th>
            <th class="number">y m</th>
            <th class="number">z m</th>
            <th class="number">speed m/s</th>
          </tr>
        </thead>
        <tbody>
          {bodies.slice(0, maxBodies).map(({ id, name, source }) => {
            const state = states.get(id)
            const { x = null, y = null, z = null } = state?.position ?? {}
            const velocity = state === undefined ? [] : [state.velocity.x, state.velocity.y, state.velocity.z]
            const isKnown = velocity.length > 0 && velocity.every((value) => value !== null)
            return (
              <tr key={id} class={id === selected ? 'selected' : ''}>
                <td>
                  <button
                    type="button"
                    class="body-name"
                    aria-pressed={id === selected}
                    title={formatSource[source]}
                    onClick={() => setSelected(id === selected ? undefined : id)}
                  >
                    {name}
                  </button>
                </td>
                {[x, y, z].map((value, axis) => (
                  <td class="number" key={'xyz'[axis]}>
                    {value === null ? '–' : formatNumber(value)}
                  </td>
                ))}
                <td class="number">{isKnown ? formatNumber(Math.hypot(...(velocity as number[]))) : '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {bodies.length > maxBodies && (
        <p class="muted">
          {maxBodies} of {bodies.length} bodies are listed.
        </p>
      )}
    </div>
  )
}

function BodyMotion({ state }: { state: FrameResult['states'][number] | undefined }) {
  if (state === undefined) return null
  const { velocity, angular_velocity, orientation } = state
  const angles = toEulerDegrees(orientation)
  const facts = [
    ['Velocity x, y, z', formatVector(velocity), 'm/s'],
    ['Spin x, y, z', formatVector(angular_velocity), 'rad/s'],
    ['Roll, pitch, yaw', angles === null ? '–' : angles.map(formatNumber).join(', '), '°'],
  ] as const
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value, unit]) => (
          <div key={name}>
            <dt class="muted">{name}</dt>
            <dd>
              {value} <span class="muted">{unit}</span>
            </dd>
          </div>
        ))}
      </dl>
      <div>
        <CopyButton label="Copy all digits" text={() => JSON.stringify(state)} />
      </div>
    </>
  )
}

const formatVector = ({ x, y, z }: FrameResult['states'][number]['velocity']): string =>
  [x, y, z].map((value) => (value === null ? '–' : formatNumber(value))).join(', ')

function BodyContacts({
  scene: { contacts, names },
  body,
  bodies,
  pair,
  setPair,
}: {
  scene: Scene
  body: number
  bodies: readonly SceneBody[]
  pair: Pair | undefined
  setPair: (pair: Pair | undefined) => void
}) {
  const bodyContacts = contacts.filter(({ body_a_id, body_b_id }) => body_a_id === body || body_b_id === body)
  const getName = (id: number): string =>
    bodies.find((body) => body.id === id)?.name ?? names[id] ?? 'environment'
  return (
    <div class="stack" style={{ gap: '4px' }}>
      <h3 class="wrap">
        Contacts of <bdi>{getName(body)}</bdi>
      </h3>
      {bodyContacts.length === 0 && <p class="muted">This body touches nothing in this frame.</p>}
      {bodyContacts.map((contact) => {
        const { body_a_id, body_b_id, points } = contact
        const name = getName(body_a_id === body ? body_b_id : body_a_id)
        const isShown = isPair(pair, body_a_id, body_b_id)
        return (
          <div class={`row spread ${isShown ? 'selected' : ''}`} key={`${body_a_id} ${body_b_id}`}>
            <span>
              <button
                type="button"
                class="body-name"
                aria-label={`Contact with ${name}`}
                aria-pressed={isShown}
                onClick={() => setPair(isShown ? undefined : [body_a_id, body_b_id])}
              >
                <bdi>{name}</bdi>
              </button>{' '}
              <span class="muted">{points.length === 1 ? '1 point' : `${points.length} points`}</span>
            </span>
            <ContactForces contact={contact} />
          </div>
        )
      })}
    </div>
  )
}

function ContactForces({ contact: { normal_n, friction_n, utilization } }: { contact: Contact }) {
  if (normal_n === null) return <span class="contact-force">forces not recorded</span>
  return (
    <span class="number contact-force">
      {formatNumber(Math.hypot(...normal_n))} N normal, {formatNumber(Math.hypot(...(friction_n ?? [0])))} N
      friction
      {utilization !== null && <Utilization utilization={utilization} />}
    </span>
  )
}

/** The used share of the friction limit, at the contact point where it is largest. */
function Utilization({ utilization }: { utilization: number }) {
  const isExceeded = utilization > maxUtilization
  return (
    <span class={`used-share ${isExceeded ? 'exceeded' : ''}`}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="8" />
        <rect class="value" width={100 * Math.min(1, utilization)} height="8" />
      </svg>
      {isExceeded
        ? `◆ ${formatNumber(utilization)} times mu*Fn`
        : `${formatNumber(100 * utilization)} % of mu*Fn`}
    </span>
  )
}

/** The tools use the same tolerance of 1 %. */
const maxUtilization = 1.01

const isPair = (pair: Pair | undefined, a: number, b: number): boolean =>
  pair?.includes(a) === true && pair.includes(b)
