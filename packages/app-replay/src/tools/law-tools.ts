/** One law each over a range of frames. */
import type { Registrar } from '@causeway/app-kit'
import type { Capability } from '@causeway/recording'
import { requireAny } from '../domain/capability.ts'
import { frameRange } from '../domain/frame-range.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { checkRange, type RangeCheck } from './range-check.ts'
import { hints, recordingArgument, runArguments, runsShown, stamp } from './shape.ts'

interface LawTool extends RangeCheck {
  readonly name: string
  /** of the tool; `about` of the check is the subject of its summary */
  readonly tool: string
  readonly needs: readonly Capability[]
  readonly example: string
}

const tools: readonly LawTool[] = [
  {
    name: 'check_momentum',
    tool: 'Runs in which a body changes momentum or energy that no gravity, contact or external force explains.',
    about: 'the balance of momentum and energy',
    laws: ['balance', 'budget'],
    kinds: ['momentum', 'energy_injection', 'energy_drift', 'dissipation_without_contact', 'blow_up'],
    needs: ['collisions'],
    example: 'energy_injection',
  },
  {
    name: 'check_tunnelling',
    tool: 'Bodies that passed through another body or a floor without contact, or may have (warning).',
    about: 'that nothing passes through anything',
    laws: ['tunnelling'],
    kinds: ['tunnelling'],
    needs: ['states'],
    example: 'tunnelling',
  },
  {
    name: 'check_jitter',
    tool: 'Runs of jitter, creep, contact chatter and jumping normals.',
    about: 'that what rests stays in place',
    laws: ['rest', 'chatter', 'normal'],
    kinds: ['jitter', 'creep', 'contact_chatter', 'normal_flip'],
    needs: ['collisions', 'friction'],
    example: 'stack',
  },
  {
    name: 'check_restitution',
    tool: 'Impacts whose measured -v+/v- differs from the recorded restitution.',
    about: "Newton's law of impact",
    laws: ['restitution'],
    kinds: ['restitution'],
    needs: ['contact_constraints'],
    example: 'drop',
  },
  {
    name: 'check_numerics',
    tool: 'NaN or NULL, quaternion norm, jumps of position, frozen or uneven clock, missing frames.',
    about: 'that numbers, clock and frame ids are sound',
    laws: ['record', 'teleport'],
    kinds: ['nan', 'quaternion_norm', 'teleport', 'frozen_time', 'nonuniform_dt', 'missing_frames'],
    needs: ['states'],
    example: 'nan',
  },
]

/** Declares check_momentum, check_tunnelling, check_jitter, check_restitution and check_numerics. */
export function lawTools(app: Registrar<Replay, ReplaySession>): void {
  for (const { name, tool, example, needs, ...check } of tools)
    app.tool(name, {
      about: tool,
      hints,
      input: { ...runArguments, ...recordingArgument },
      output: stamp,
      example: { args: { recording: example } },
      async run({ cursor, recording: asked, ...bounds }, ctx) {
        const { recording, stamp } = await opened(ctx, asked)
        requireAny(recording.summary, needs)
        const range = frameRange(bounds, recording.summary.frames)
        const part = { cursor, limit: runsShown }
        return { ...stamp, ...(await checkRange(recording, range, { ...check, part }, ctx)) }
      },
    })
}
