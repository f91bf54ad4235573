import type { Change, Prepared } from '../memory/plot-methods.ts'
import type { PlotStamp } from '../plot/plot-record.ts'
import { type DebriefContext, findPlot } from '../session.ts'

export interface ChangeArgs {
  readonly filename?: string | null | undefined
  readonly if_rev?: number | undefined
}

type ChangeResult = PlotStamp & {
  readonly success: true
  readonly selected_count: number
  readonly undo: number
  readonly redo: number
  readonly summary: string
}

/** Changes a plot in one transaction. `describe` returns additional members of the result. */
export async function changePlot<Members extends { readonly summary: string }>(
  args: ChangeArgs,
  ctx: DebriefContext,
  change: Change,
  describe: (prepared: Prepared) => Members,
): Promise<ChangeResult & Members> {
  const plot = await findPlot(ctx, args.filename)
  return plot.change(ctx, {
    change,
    ifRev: args.if_rev,
    createResult(prepared, stamp) {
      ctx.note({
        filename: stamp.filename,
        rev: stamp.rev,
        kind: change.kind,
        ids: prepared.ids.slice(0, 20),
      })
      const { summary, ...members } = describe(prepared)
      return {
        ...stamp,
        success: true as const,
        selected_count: prepared.selection.length,
        undo: prepared.depths.undo.features,
        redo: prepared.depths.redo.features,
        ...members,
        summary: prepared.isNoop ? `${summary} Nothing changed.` : summary,
      } as ChangeResult & Members
    },
  })
}

export const createCommandChange = (command: string, payload: unknown, ignoreMissing = false): Change => ({
  kind: 'commands',
  commands: { command, payload },
  ignoreMissing,
})
