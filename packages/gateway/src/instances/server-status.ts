import { LoginError } from '@causeway/oauth'
import type { Share } from '../config/index.ts'
import type { Instance, InstanceState } from './instance.ts'
import type { UpstreamServer } from './upstream-server.ts'

export type ServerState = InstanceState | 'disabled' | 'needs_approval'

export interface InstanceStatus {
  readonly state: InstanceState
  readonly pid?: number
  /** Resident memory with children. Absent if not measurable. */
  readonly memory_bytes?: number
  /** Time in this state. */
  readonly for_ms: number
  readonly in_flight: number
  readonly project?: string
}

/** Status for `causeway mcp list`, the console and `/health`. */
export interface HostedServerStatus {
  readonly name: string
  readonly app: string
  readonly state: ServerState
  readonly share: Share
  readonly kind: 'stdio' | 'http' | 'sse'
  readonly pids: readonly number[]
  readonly instances: readonly InstanceStatus[]
  /** Absent after a successful start. */
  readonly last_error?: {
    readonly code: string
    readonly message: string
    readonly stderr?: unknown
    readonly ago_ms: number
  }
  readonly calls: number
  readonly errors: number
  readonly starts: number
  readonly tools: number
  readonly prompts: number
  readonly resources: number
  readonly templates: number
  /** Number of definitions that wait for approval. */
  readonly changed: number
  /** See `findWarnings`. Absent if empty. */
  readonly warnings?: readonly string[]
  readonly protocol_version?: string
}

/** A server's state is the first of these that an instance has. */
const statesByPriority: readonly InstanceState[] = [
  'ready',
  'starting',
  'needs_login',
  'down',
  'backoff',
  'idle',
]

interface DescribeOptions {
  readonly app: string
  readonly changed: number
  readonly warnings: readonly string[]
  /** Monotonic milliseconds. */
  readonly now: number
  /** Bytes by pid. */
  readonly memory: ReadonlyMap<number, number>
}

export function describeServer(
  server: UpstreamServer,
  { app, changed, warnings, now, memory }: DescribeOptions,
): HostedServerStatus {
  const { config, pool, catalogue, calls, errors, starts } = server
  const { name, share, endpoint } = config
  return {
    ...{ name, app, share, kind: endpoint.kind },
    state: findState(server),
    pids: pool.instances.flatMap(({ pid }) => pid ?? []),
    instances: pool.instances.map((instance) => describeInstance(instance, now, memory)),
    ...describeError(server, now),
    ...{ calls, errors, starts },
    tools: catalogue?.tools.length ?? 0,
    prompts: catalogue?.prompts.length ?? 0,
    resources: catalogue?.resources.length ?? 0,
    templates: catalogue?.templates.length ?? 0,
    changed,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(catalogue === undefined ? {} : { protocol_version: catalogue.version }),
  }
}

function describeError({ failure }: UpstreamServer, now: number): Pick<HostedServerStatus, 'last_error'> {
  if (failure === undefined) return {}
  const { code, message, data } = failure.error
  return { last_error: { code, message, stderr: data.stderr, ago_ms: Math.round(now - failure.atMs) } }
}

function findState({ config, pool, failure }: UpstreamServer): ServerState {
  if (config.needsApproval) return 'needs_approval'
  if (!config.enabled) return 'disabled'
  // Checked first, because the instance that failed may have been removed.
  if (LoginError.is(failure?.error, 'NEEDS_LOGIN')) return 'needs_login'
  const states = new Set(pool.instances.map(({ state }) => state))
  return statesByPriority.find((state) => states.has(state)) ?? 'idle'
}

const describeInstance = (
  { state, pid, stateSinceMs, inFlight, project }: Instance,
  now: number,
  memory: ReadonlyMap<number, number>,
): InstanceStatus => ({
  state,
  ...(pid === undefined ? {} : { pid }),
  ...(pid === undefined || !memory.has(pid) ? {} : { memory_bytes: memory.get(pid) ?? 0 }),
  for_ms: Math.round(now - stateSinceMs),
  in_flight: inFlight,
  ...(project === undefined ? {} : { project }),
})
