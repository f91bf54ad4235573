import type { Step } from '../mind/selector.ts'
import type { LlmCallRow } from '../store/types.ts'

/** `provenance` is `metered` if the provider reported tokens, `unreported` if it did not, and `none` without calls. */
export function summarizeCalls(
  calls: readonly LlmCallRow[],
  model: string,
  {
    perStep,
    serverMs,
    queueMs,
  }: { readonly perStep: ReadonlyMap<Step, number>; readonly serverMs: number; readonly queueMs: number },
) {
  const timing = {
    server_ms: Math.round(serverMs),
    queue_ms: Math.round(queueMs),
    per_step_ms: Object.fromEntries([...perStep].map(([step, ms]) => [step, Math.round(ms)])),
  }
  if (calls.length === 0) return { provenance: 'none' as const, model, model_calls: 0, ...timing }
  const reported = calls.filter(({ prompt_tokens }) => prompt_tokens !== null)
  const unreported = calls.length - reported.length
  const counts = {
    model,
    model_calls: calls.length,
    ...(unreported === 0 ? {} : { unreported_calls: unreported }),
  }
  if (reported.length === 0) return { provenance: 'unreported' as const, ...counts, ...timing }
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
    provenance: 'metered' as const,
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
