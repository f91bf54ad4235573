import type { Step } from '../mind/selector.ts'
import type { LlmCallRow } from '../store/types.ts'

/** `provenance` is `metered` if the provider reported tokens of a call, `unreported` if not, `none` without calls. */
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
  const reportedCalls = calls.filter(({ prompt_tokens }) => prompt_tokens !== null)
  const unreportedCount = calls.length - reportedCalls.length
  const counts = {
    model,
    model_calls: calls.length,
    ...(unreportedCount === 0 ? {} : { unreported_calls: unreportedCount }),
  }
  if (reportedCalls.length === 0) return { provenance: 'unreported' as const, ...counts, ...timing }
  const sumTokens = (
    rows: readonly LlmCallRow[],
    name: 'prompt_tokens' | 'completion_tokens' | 'cached_tokens',
  ): number => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)
  const promptTokens = sumTokens(reportedCalls, 'prompt_tokens')
  const completionTokens = sumTokens(reportedCalls, 'completion_tokens')
  const hasCacheFigures = reportedCalls.some(({ cached_tokens }) => cached_tokens !== null)
  const stepNames = [...new Set(reportedCalls.map(({ step }) => step))]
  const hasAllCosts = calls.every(({ cost }) => cost !== null)
  return {
    provenance: 'metered' as const,
    ...counts,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(hasCacheFigures ? { cached_prompt_tokens: sumTokens(reportedCalls, 'cached_tokens') } : {}),
    cache_reporting: hasCacheFigures,
    ...(hasAllCosts ? { cost: calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0) } : {}),
    ...timing,
    per_step: Object.fromEntries(
      stepNames.map((step) => {
        const rows = reportedCalls.filter((row) => row.step === step)
        return [
          step,
          {
            prompt_tokens: sumTokens(rows, 'prompt_tokens'),
            completion_tokens: sumTokens(rows, 'completion_tokens'),
          },
        ]
      }),
    ),
  }
}
