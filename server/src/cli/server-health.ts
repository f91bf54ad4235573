import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseTokens } from '../access/access.ts'

const reportSchema = z.object({
  memory: z.object({ status: z.string(), used_bytes: z.number(), limit_bytes: z.number() }).optional(),
  status: z.enum(['ok', 'degraded', 'stopping']),
  version: z.string(),
  pid: z.number(),
  uptime_s: z.number(),
  data_dir: z.string(),
  apps: z.record(z.string(), z.looseObject({ status: z.string(), message: z.string().optional() })),
})

/** Older servers omit `memory`. */
export type HealthReport = z.infer<typeof reportSchema>

export type HealthResult =
  | { readonly kind: 'report'; readonly report: HealthReport }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'failed'; readonly reason: string }

const timeoutMs = 5000

export async function fetchHealth(url: string, tokenFile: string | undefined): Promise<HealthResult> {
  const token = readFirstToken(tokenFile)
  try {
    const response = await fetch(`${toLocalUrl(url)}/health`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (response.status === 401) return { kind: 'unauthorized' }
    const parsed = reportSchema.safeParse(await response.json().catch(() => undefined))
    if (parsed.success) return { kind: 'report', report: parsed.data }
    return { kind: 'failed', reason: `HTTP ${response.status}` }
  } catch (error) {
    const { cause, message } = error as Error
    return { kind: 'failed', reason: (cause as NodeJS.ErrnoException | undefined)?.code ?? message }
  }
}

/** Replaces the unspecified address, to which some systems cannot connect. */
export const toLocalUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

export function readFirstToken(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return parseTokens(readFileSync(file, 'utf8')).lines[0]?.token
  } catch {
    return undefined
  }
}
