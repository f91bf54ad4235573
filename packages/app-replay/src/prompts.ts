import { z } from 'zod'
import { listRecordingIds, type ReplayContext } from './session/session.ts'
import type { ReplayRegistrar } from './tools/recording-tool.ts'

const conventions =
  'Frame ids count from 1. Contacts and impulses of frame N act in the step from N-1 to N. Ids from 2147483648 on are environment bodies.'

const createUserMessages = (...lines: readonly string[]) => [
  { role: 'user' as const, content: { type: 'text' as const, text: lines.join('\n') } },
]

const listIds = (_typed: string, ctx: ReplayContext) => listRecordingIds(ctx)

export function registerPrompts(app: ReplayRegistrar): void {
  app.prompt('debug_recording', {
    about: 'Find the fault of a recording and the frame in which it begins.',
    input: {
      recording: z.string().describe('Recording id or path'),
      symptom: z.string().optional().describe('What was observed, in a few words'),
    },
    complete: { recording: listIds },
    messages: ({ recording, symptom }) =>
      createUserMessages(
        `Find the fault in the physics recording "${recording}"${symptom === undefined ? '' : `. Observed: ${symptom}`}.`,
        '',
        '1. Call load_recording with this path, then diagnose. Its first finding is the most likely cause; findings with `follows` are consequences.',
        '2. Call explain_frame for the first frame of that finding and for the frame before it. What changed?',
        '3. Make the calls in its evidence_calls. Does the evidence agree, and does it explain the symptom? If not, continue with the next finding, or call timeline around the symptom.',
        '4. Report the first bad frame, the bodies or the pair, the broken law and by how much (with units), the evidence, your confidence, and which part of the engine (collision detection, solver, integrator, recorder) to examine first.',
        '',
        conventions,
      ),
  })

  app.prompt('compare_before_after', {
    about: 'Explain the effect of an engine change on a run, from the recordings before and after it.',
    input: {
      before: z.string().describe('Recording before the change, id or path'),
      after: z.string().describe('Recording after the change, id or path'),
      question: z.string().optional().describe('Purpose of the change'),
    },
    complete: { before: listIds, after: listIds },
    messages: ({ before, after, question }) =>
      createUserMessages(
        `Compare the physics recordings "${before}" (before) and "${after}" (after)${question === undefined ? '' : `. The question: ${question}`}.`,
        '',
        '1. Call compare_recordings with a, b and first_only: true. It returns the first frame that differs, the quantity and body, and both solver states. If nothing differs, call it with exact: true.',
        '2. Call diagnose for each recording. Which findings disappeared, which are new, which remain?',
        '3. Call compare_recordings without first_only. How large do the differences become, and do they grow from frame to frame (a factor above 1) or fade?',
        '4. Call plot with mark_frame on each recording for the most informative quantity, and explain_frame for the first different frame.',
        '5. Report the frame where they diverge and why, what improved, what got worse, figures with units, your confidence, and whether the change achieves its purpose. If it does, offer to save the good run with save_baseline.',
        '',
        `${conventions} Two runs of a chaotic scene always diverge: judge by laws and figures, not by single positions.`,
      ),
  })
}
