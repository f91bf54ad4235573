/** One transaction on the plot of a call, and the answer to it. */

import type { PlotStamp } from '../plot.ts'
import type { Change, Prepared } from '../plot-methods.ts'
import { type DebriefContext, openPlotOf } from '../session.ts'

/** Arguments of every tool that changes a plot. */
export interface ChangeArgs {
  readonly filename?: string | null | undefined
  readonly if_rev?: number | undefined
}

/** Members that answers about changes have in common. */
export type Changed = PlotStamp & {
  readonly success: true
  readonly selected_count: number
  readonly undo: number
  readonly redo: number
  readonly summary: string
}

/** Makes the change; `more` adds what the tool itself has to say. Nothing is changed where it throws. */
export async function changed<More extends object>(
  args: ChangeArgs,
  ctx: DebriefContext,
  change: Change,
  more: (made: Prepared) => More & { readonly said: string },
): Promise<Changed & Omit<More, 'said'>> {
  const plot = await openPlotOf(ctx, args.filename)
  return plot.change(ctx, {
    change,
    ifRev: args.if_rev,
    answer(made, stamp) {
      const { said, ...members } = more(made)
      const answer = {
        ...stamp,
        success: true as const,
        selected_count: made.selection.length,
        undo: made.depths.undo.features,
        redo: made.depths.redo.features,
        ...members,
        summary: `${said} ${made.isNoop ? 'Nothing changed.' : ''}`.trim(),
      }
      ctx.note({ filename: stamp.filename, rev: stamp.rev, kind: change.kind, ids: made.ids.slice(0, 20) })
      return answer
    },
  })
}

/** How many features a change touched. */
export const affected = ({ results }: Prepared): number =>
  results.reduce((sum, { featuresAffected = 0 }) => sum + featuresAffected, 0)

/** `2 features` */
export const count = (number: number, word = 'feature'): string =>
  `${number} ${word}${number === 1 ? '' : 's'}`
