/** Conversations that a person starts with a recording. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { ReplayContext, ReplaySession } from './session.ts'
import type { Replay } from './store.ts'

/** Declares debug_recording and compare_before_after. */
export function replayPrompts(app: Registrar<Replay, ReplaySession>): void {
  app.prompt('debug_recording', {
    about: 'Find what is wrong with a recording, and where it began.',
    input: {
      recording: z.string().describe('recording id or path'),
      symptom: z.string().optional().describe('what was seen, in a few words'),
    },
    complete: { recording: recordingIds },
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

  app.prompt('compare_before_after', {
    about: 'Tell what a change of the engine did to a run: the recordings before and after it.',
    input: {
      before: z.string().describe('recording before the change, id or path'),
      after: z.string().describe('recording after it'),
      question: z.string().optional().describe('what the change was meant to do'),
    },
    complete: { before: recordingIds, after: recordingIds },
    messages: ({ before, after, question }) => [
      {
        role: 'user',
        content: {
          type: 'text',
          text: [
            `Compare the physics recordings "${before}" (before) and "${after}" (after)${question === undefined ? '' : `. The question: ${question}`}.`,
            '',
            '1. Call find_first_divergence with a and b: the first frame that differs, which quantity and body, and both solvers there. Where it finds none, call it with exact: true.',
            '2. Call diagnose for each recording. Which findings are gone, which are new, which stayed?',
            '3. Call compare_recordings: how large do the differences become, and do they grow from frame to frame (a factor above 1) or fade?',
            '4. Call plot with mark_frame on each recording for the quantity that tells most, and explain_frame for the first different frame.',
            '5. Answer with: the frame where they part and why, what became better, what became worse, figures with units, how sure you are, and whether the change does what it was meant to do. If it does, offer to keep the good run with save_baseline.',
            '',
            'Frame ids count from 1. Contacts and impulses of frame N act in the step from N-1 to N. Two runs of a chaotic scene part in any case: judge by laws and figures, not by single positions.',
          ].join('\n'),
        },
      },
    ],
  })
}

async function recordingIds(_typed: string, { store }: ReplayContext): Promise<readonly string[]> {
  const { listings } = await store.list()
  return listings.filter(({ is_recording }) => is_recording).map(({ id }) => id)
}
