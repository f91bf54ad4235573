import type { Step } from '../mind/selector.ts'
import type { LlmCallRow } from '../store/types.ts'

/** Unknown figures are omitted, not zero. */
export type Telemetry = {
  /** `metered`: the provider reported tokens; `unreported`: it did not; `none`: no model was called. */
  readonly provenance: 'metered' | 'unreported' | 'none'
  readonly model: string
  readonly model_calls: number
  readonly unreported_calls?: number
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly cached_prompt_tokens?: number
  readonly cache_reporting?: boolean
  readonly cost?: number
  readonly server_ms: number
  readonly queue_ms: number
  readonly per_step?: Readonly<
    Record<string, { readonly prompt_tokens: number; readonly completion_tokens: number }>
  >
  readonly per_step_ms: Readonly<Record<string, number>>
}

export function summarizeCalls(
  calls: readonly LlmCallRow[],
  model: string,
  {
    perStep,
    serverMs,
    queueMs,
  }: { readonly perStep: ReadonlyMap<Step, number>; readonly serverMs: number; readonly queueMs: number },
): Telemetry {
  const timing = {
    server_ms: Math.round(serverMs),
    queue_ms: Math.round(queueMs),
    per_step_ms: Object.fromEntries([...perStep].map(([step, ms]) => [step, Math.round(ms)])),
  }
  if (calls.length === 0) return { provenance: 'none', model, model_calls: 0, ...timing }
  const reported = calls.filter(({ prompt_tokens }) => prompt_tokens !== null)
  const unreported = calls.length - reported.length
  const counts = {
    model,
    model_calls: calls.length,
    ...(unreported === 0 ? {} : { unreported_calls: unreported }),
  }
  if (reported.length === 0) return { provenance: 'unreported', ...counts, ...timing }
  const total = (
    rows: readonly LlmCallRow[],
    name: 'prompt_tokens' | 'completion_tokens' | 'cached_tokens',
  ): number => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)
  const prompt = total(reported, 'prompt_tokens')
  const completion = total(reported, 'completion_tokens')
  const hasCacheFigures = reported.some(({ cached_tokens }) => cached_tokens !== null)
  const stepNames = [...new Set(reported.map(({ step }) => step))]
  const isPriced = calls.every(({ cost }) => cost !== null)
  return {
    provenance: 'metered',
    ...counts,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(hasCacheFigures ? { cached_prompt_tokens: total(reported, 'cached_tokens') } : {}),
    cache_reporting: hasCacheFigures,
    ...(isPriced ? { cost: calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0) } : {}),
    ...timing,
    per_step: Object.fromEntries(
      stepNames.map((step) => {
        const rows = reported.filter((row) => row.step === step)
        return [
          step,
          {
            prompt_tokens: total(rows, 'prompt_tokens'),
            completion_tokens: total(rows, 'completion_tokens'),
          },
        ]
      }),
    ),
  }
}
