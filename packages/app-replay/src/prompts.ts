/** Conversations that a person starts with a recording. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { ReplaySession } from './session.ts'
import type { Replay } from './store.ts'

/** Declares debug_recording. */
export function replayPrompts(app: Registrar<Replay, ReplaySession>): void {
  app.prompt('debug_recording', {
    about: 'Find what is wrong with a recording, and where it began.',
    input: {
      recording: z.string().describe('recording id or path'),
      symptom: z.string().optional().describe('what was seen, in a few words'),
    },
    complete: {
      recording: async (_typed, { store }) =>
        (await store.list()).listings.filter(({ is_recording }) => is_recording).map(({ id }) => id),
    },
    messages: ({ recording, symptom }) => [
      {
        role: 'user',
        content: {
          type: 'text',
          text: [
            `Find the fault in the physics recording "${recording}"${symptom === undefined ? '' : `. What was seen: ${symptom}`}.`,
            '',
            '1. Call load_recording with this path, then diagnose. Its first finding is the cause as far as the laws of physics tell; findings with `follows` are consequences.',
            '2. Call explain_frame for the first frame of that finding and for the frame before it: what changed?',
            '3. Make the calls in its evidence_calls. Does the evidence agree, and does it explain the symptom? If not, go on with the next finding, or look at timeline around the symptom.',
            '4. Answer with: the first bad frame, the bodies or the pair, the law that broke and by how much (with units), the evidence, how sure you are, and which part of the engine (collision detection, solver, integrator, recorder) to look at first.',
            '',
            'Frame ids count from 1. Contacts and impulses of frame N act in the step from N-1 to N. Ids of 2147483648 and more are bodies of the environment.',
          ].join('\n'),
        },
      },
    ],
  })
}
