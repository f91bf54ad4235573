import type { Change, PreparedChange } from '../memory/plot-methods.ts'
import type { PlotStatus } from '../plot/plot-record.ts'
import { type DebriefContext, findPlot } from '../session.ts'

export interface ChangeArgs {
  readonly filename?: string | null | undefined
  readonly if_rev?: number | undefined
}

type ChangeResult = PlotStatus & {
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
  describe: (prepared: PreparedChange) => Members,
): Promise<ChangeResult & Members> {
  const plot = await findPlot(ctx, args.filename)
  return plot.change(ctx, {
    change,
    ifRev: args.if_rev,
    createResult(prepared, status) {
      ctx.note({
        filename: status.filename,
        rev: status.rev,
        kind: change.kind,
        ids: prepared.ids.slice(0, 20),
      })
      const { summary, ...members } = describe(prepared)
      return {
        ...status,
        success: true as const,
        selected_count: prepared.selection.length,
        undo: prepared.stepCounts.undo.features,
        redo: prepared.stepCounts.redo.features,
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
