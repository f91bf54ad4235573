/** What to do next: suggestions by the signals, and repairs that are sure. */

import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { type Advice, adviceOn } from '../advice.ts'
import type { Critic } from '../critic.ts'
import { counted } from '../domain/counted.ts'
import { linesIn } from '../domain/file-part.ts'
import { tried } from '../trial.ts'
import {
  anyList,
  named,
  reading,
  sessionFor,
  sidArgument,
  started,
  submitted,
  type TrmSession,
} from './shape.ts'

const output = { suggestions: anyList(), message: z.string(), summary: z.string() }

/** Declares trm.suggest and trm.fix. */
export function adviceTools(app: Registrar<Critic, TrmSession>): void {
  app.tool('suggest', {
    about:
      'What to do next, the most urgent first, by the last evaluation and the code it speaks of. At most five.',
    hints: reading,
    aliases: named('suggest'),
    input: sidArgument,
    output,
    example: { before: [started, submitted], args: {} },
    async run({ sid }, ctx) {
      const advice = await adviceOn(ctx.store, await sessionFor(ctx, sid))
      if (advice === undefined) return nothing('No evaluations yet')
      const fixable = new Set(advice.fixes.flatMap(({ candidateToFix }) => pathsOf(candidateToFix)))
      const { result, problems, files } = advice
      const found = await ctx.store.engine.call(
        'suggest',
        { result, problems, files, fixable },
        { client: ctx.clientKey, signal: ctx.signal },
      )
      return {
        suggestions: found,
        message: found.length === 0 ? 'Nothing to suggest' : counted(found.length, 'suggestion'),
        summary:
          found.length === 0
            ? result.signals.length === 0
              ? 'The session has no commands: start one with those that detected offers.'
              : 'Every signal is good and the code shows nothing.'
            : `First: ${found[0]?.issue}.`,
      }
    },
  })

  app.tool('fix', {
    about:
      'Repairs that follow from the last errors without guessing, as candidates to submit as they are; otherwise where to look.',
    hints: reading,
    aliases: named('fix'),
    input: {
      ...sidArgument,
      verify: z
        .boolean()
        .default(true)
        .describe('try each repair out in a copy of the project, and offer those that help'),
      wait: z
        .number()
        .min(0)
        .max(600)
        .default(45)
        .describe('s for trying out; what is left is marked verified: false'),
    },
    output: { ...output, focus: anyList() },
    task: 'optional',
    example: { before: [started, submitted], args: {} },
    async run({ sid, verify, wait }, ctx) {
      const session = await sessionFor(ctx, sid)
      const advice = await adviceOn(ctx.store, session)
      if (advice === undefined)
        return { ...nothing('No evaluations yet; submit a candidate first'), focus: [] }
      const { problems, result } = advice
      const fixes = verify
        ? await tried(ctx.store, session, {
            ...advice,
            signal: ctx.signal,
            limitMs: wait * 1000,
            onTrial: (done, total) => ctx.progress(done, total, `repair ${done + 1} of ${total}`),
          })
        : advice.fixes
      if (fixes.length > 0)
        return {
          suggestions: fixes,
          focus: [],
          message: counted(fixes.length, 'repair'),
          summary: `Submit a candidateToFix as it is. First: ${fixes[0]?.issue}.`,
        }
      const isGreen =
        problems.length === 0 && result.failures.length === 0 && result.signals.every(({ ok }) => ok)
      if (isGreen) return { ...nothing('No errors detected'), focus: [] }
      const focus = focusOf(advice)
      return {
        ...nothing('No repair is sure'),
        focus,
        summary: `No repair is sure. Look at ${placeText(focus)}.`,
      }
    },
  })
}

const nothing = (message: string) => ({ suggestions: [], message, summary: `${message}.` })

/** Files of a repair. */
function pathsOf(candidate: Advice['fixes'][number]['candidateToFix']): readonly string[] {
  if ('changes' in candidate) return candidate.changes.map(({ path }) => path)
  return 'files' in candidate ? candidate.files.map(({ path }) => path) : []
}

/** Where it fails, with five lines around, and the step that changed the file last. */
function focusOf({ problems, result, files, touched }: Advice) {
  const places = [...problems, ...result.failures].flatMap(({ file, line }) =>
    file === undefined || line === undefined ? [] : [{ file, line }],
  )
  const distinct = [...new Map(places.map((place) => [`${place.file}:${place.line}`, place])).values()]
  return distinct.slice(0, 3).map(({ file, line }) => {
    const text = files.get(file)
    const lines = text === undefined ? [] : linesIn(text)
    const first = Math.max(1, line - 5)
    return {
      file,
      line,
      lines: lines.slice(first - 1, line + 5).map((one, index) => `${first + index}: ${one}`),
      lastChangedInStep: touched.get(file) ?? null,
    }
  })
}

const placeText = (focus: readonly { readonly file: string; readonly line: number }[]): string =>
  focus.length === 0 ? 'feedback in state' : focus.map(({ file, line }) => `${file}:${line}`).join(', ')
