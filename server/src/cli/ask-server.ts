/** Asking a server that runs for its health, as a client of this machine does. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { readTokens } from '../domain/access.ts'

const reportSchema = z.object({
  memory: z.object({ status: z.string(), used_bytes: z.number(), limit_bytes: z.number() }).optional(),
  status: z.enum(['ok', 'degraded', 'stopping']),
  version: z.string(),
  pid: z.number(),
  uptime_s: z.number(),
  data_dir: z.string(),
  apps: z.record(z.string(), z.looseObject({ status: z.string(), message: z.string().optional() })),
})

/** What `/health` of a Causeway server says. */
export type Report = z.infer<typeof reportSchema>

/** How a server answered: with its report, with the wish for another token, or as something else. */
export type Answer =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'other'; readonly what: string }
  | { readonly kind: 'silent'; readonly why: string }

/** A server that is well answers within milliseconds; one that is overloaded may take its time. */
const patienceMs = 5000

/** Asks `url` for its health, with the first token of the file where there is one. Never rejects. */
export async function askHealth(url: string, tokenFile: string | undefined): Promise<Answer> {
  const token = firstToken(tokenFile)
  try {
    const answer = await fetch(`${reachable(url)}/health`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patienceMs),
    })
    if (answer.status === 401) return { kind: 'unauthorized' }
    const read = reportSchema.safeParse(await answer.json().catch(() => undefined))
    if (read.success) return { kind: 'report', report: read.data }
    return { kind: 'other', what: `HTTP ${answer.status}` }
  } catch (error) {
    const { cause, message } = error as Error
    return { kind: 'silent', why: (cause as NodeJS.ErrnoException | undefined)?.code ?? message }
  }
}

/** An address that stands for the whole machine is called by the one that means this machine. */
const reachable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

function firstToken(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readTokens(readFileSync(file, 'utf8')).lines[0]?.token
  } catch {
    // The server says that it wants one, which is what the caller has to hear.
    return undefined
  }
}
